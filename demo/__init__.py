"""The demo benchmark: made-up cases, candidates and physicians, so that every page has something to show.

The content uses no Django: `people` below, the texts in ``cases/``, the responses that `responses` composes of them
and the decisions that `simulator` draws. `load` puts it into the database through the apps' own services.
"""

from __future__ import annotations

from dataclasses import dataclass

SLUG = "demo"
PASSWORD = "consilium-demo"  # noqa: S105 - printed on the sign-in page of the demo benchmark
SEED = 20260301
GROUPS = ("Group A", "Group B")

# The candidate that holds the two physicians' unaided responses, sample 0 and 1 of each case.
PHYSICIAN_CANDIDATE = "physician"


@dataclass(frozen=True)
class DemoPerson:
    """A made-up person. ``group`` is empty for those who run the benchmark and for those who wrote responses.

    ``strictness`` shifts a physician's threshold for "met" (above 0: stricter), ``noise`` is how far single readings
    scatter; both are in the units of `demo.simulator`.
    """

    email: str
    name: str
    role: str  # admin, researcher, writer, annotator, checker, adjudicator, author, auditor
    group: str = ""
    strictness: float = 0.0
    noise: float = 0.0
    specialty: str = ""
    years_in_practice: int | None = None


def _group(letter: str, names: list[tuple[str, str, str, float, float, str, int]]) -> list[DemoPerson]:
    return [
        DemoPerson(
            f"{key}@example.org", f"Dr. Demo {name}", role, f"Group {letter}", strictness, noise, specialty, years
        )
        for key, name, role, strictness, noise, specialty, years in names
    ]


PEOPLE: tuple[DemoPerson, ...] = (
    DemoPerson("admin@example.org", "Demo Admin", "admin"),
    DemoPerson("researcher@example.org", "Demo Researcher", "researcher"),
    DemoPerson("writer-1@example.org", "Dr. Demo Quill", "writer", specialty="internal medicine", years_in_practice=14),
    DemoPerson("writer-2@example.org", "Dr. Demo Reed", "writer", specialty="family medicine", years_in_practice=9),
    *_group(
        "A",
        [
            ("annotator-a1", "Aven", "annotator", 0.10, 0.55, "internal medicine", 12),
            ("annotator-a2", "Birch", "annotator", -0.20, 0.65, "pediatrics", 7),
            ("annotator-a3", "Cedar", "annotator", 0.30, 0.60, "neurology", 18),
            ("annotator-a4", "Dogwood", "annotator", 0.00, 0.75, "family medicine", 4),
            ("checker-a1", "Elder", "checker", 0.10, 0.40, "nephrology", 21),
            ("checker-a2", "Fir", "checker", 0.00, 0.40, "geriatrics", 16),
            ("adjudicator-a", "Ginkgo", "adjudicator", 0.00, 0.30, "internal medicine", 27),
        ],
    ),
    *_group(
        "B",
        [
            ("annotator-b1", "Hazel", "annotator", -0.10, 0.60, "emergency medicine", 10),
            ("annotator-b2", "Ilex", "annotator", 0.20, 0.60, "obstetrics", 15),
            ("annotator-b3", "Juniper", "annotator", -0.30, 0.70, "family medicine", 6),
            ("annotator-b4", "Laurel", "annotator", 0.10, 0.60, "endocrinology", 13),
            ("checker-b1", "Maple", "checker", -0.10, 0.40, "rheumatology", 19),
            ("checker-b2", "Oak", "checker", 0.00, 0.40, "respiratory medicine", 22),
            ("adjudicator-b", "Poplar", "adjudicator", 0.00, 0.30, "internal medicine", 30),
        ],
    ),
    DemoPerson("author-1@example.org", "Dr. Demo Rowan", "author", specialty="internal medicine", years_in_practice=11),
    DemoPerson("author-2@example.org", "Dr. Demo Sorrel", "author", specialty="neurology", years_in_practice=17),
    DemoPerson("auditor@example.org", "Dr. Demo Thorn", "auditor", specialty="geriatrics", years_in_practice=29),
)


def _sign_ins() -> list[tuple[str, str, str]]:
    shown = [("Admin", "admin@example.org"), ("Researcher", "researcher@example.org")]
    for letter in "ab":
        for role, key in (
            ("Annotator", "annotator-{}1"),
            ("Checker", "checker-{}1"),
            ("Adjudicator", "adjudicator-{}"),
        ):
            shown.append((f"{role}, Group {letter.upper()}", f"{key.format(letter)}@example.org"))
    shown += [("Author", "author-1@example.org"), ("Author who reviews", "author-2@example.org")]
    shown.append(("Senior auditor", "auditor@example.org"))
    return [(role, email, PASSWORD) for role, email in shown]


# Role, e-mail address and password of one account per role: shown where the demo benchmark is loaded.
SIGN_INS: list[tuple[str, str, str]] = _sign_ins()
