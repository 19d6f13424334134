"""The page of a report on failures: its tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.urls import reverse
from django.utils.translation import get_language, ngettext, pgettext
from django.utils.translation import gettext as _

from agreement.failures.inputs import FINAL
from agreement.failures.tables import ANY
from agreement.kinds.kind import Context, Figure
from agreement.kinds.page_table import PageTable, first_rows
from agreement.models import Report
from agreement.reports.numbers import number
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from consilium.figures.charts import Point, points_and_whiskers
from consilium.figures.heat_map import Cell, heat_map
from consilium.figures.style import Palette
from rubrics.slice_words import slice_words

AGREEMENT = (("raw", "Raw"), ("kappa", "κ"), ("ac1", "AC1"), ("f1_present", "F1"))


def rater_words(label: str) -> str:
    """A rater of codes in words."""
    if label == FINAL:
        return _("Final codes")
    kind, _colon, name = label.partition(":")
    return _("Judge %(name)s") % {"name": name} if kind == "judge" else name


def titles(report: Report) -> dict[str, str]:
    """Key → title of each code in the reader's language."""
    is_chinese = (get_language() or "").startswith("zh")
    own = {code["key"]: (code["zh"] if is_chinese else "") or code["en"] for code in report.result["facts"]["codes"]}
    return own | {ANY: _("Any failure")}


def marked_codes(report: Report) -> set[str]:
    """The codes that were marked: the page shows only these, and the files have all."""
    return {row["code"] for row in table_of(report, "failures").dicts() if row["n_marked"]} | {ANY}


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    return {
        "facts": facts,
        "rater_a": rater_words(facts["rater_a"]),
        "rater_b": rater_words(facts["rater_b"]),
        "counted": rater_words(facts["counted"]),
        "rates": _rates(report, "failures", _("How often each failure is marked"), "rater", rater_words),
        "agreement": _agreement(report),
        "candidates": _rates(report, "failures_candidates", _("By candidate"), "candidate", str),
        "slices": _rates(report, "failures_slices", _("By theme and difficulty"), "slice", slice_words),
        "together": _together(report),
        "coverage": _coverage(report),
        "judges": _judges(report) if facts.get("judges") else None,
        "effective": facts.get("effective"),
    }


def _judges(report: Report) -> PageTable:
    languages = {"en": _("English"), "zh": _("Chinese")}
    return PageTable(
        "failures_judges",
        _("Judges that code"),
        [
            (_("Judge"), False),
            (_("Model"), False),
            (_("Codes in"), False),
            (pgettext("SHA-256 of a prompt", "Prompt"), False),
            (_("Responses"), True),
            (_("Invalid answers"), True),
            (_("Failed"), True),
        ],
        {
            "": [
                [
                    row["rater"].partition(":")[2],
                    _("rules, no language model") if row["endpoint_kind"] == "rules" else row["model"],
                    languages[row["language"]],
                    row["prompt_hash"][:12],
                    f"{row['n_responses']:,}",
                    f"{row['n_invalid']:,}",
                    f"{row['n_failed']:,}",
                ]
                for row in table_of(report, "failures_judges").dicts()
            ]
        },
        remark=_("Of each judge the newest run with every answer counts. Invalid and failed answers are not included."),
        addresses={
            row["rater"].partition(":")[2]: reverse("scoring:coding-run", args=[report.benchmark.slug, row["run"]])
            for row in table_of(report, "failures_judges").dicts()
        },
    )


def _rates(report: Report, name: str, title: str, by: str, words: Any) -> PageTable:
    own = titles(report)

    def cells(row: Row) -> list[str]:
        return [own[row["code"]], f"{row['n_marked']:,}", f"{row['n_responses']:,}", _percent(row, "rate")]

    marked = marked_codes(report)
    rows = [row for row in table_of(report, name).dicts() if row["code"] in marked]
    groups, remark = first_rows(rows, cells, lambda row: str(words(row[by])))
    return PageTable(
        name,
        title,
        [
            (pgettext("of a code book", "Code"), False),
            (_("Marked"), True),
            (_("Responses"), True),
            (_("Share"), True),
        ],
        groups,
        remark=" ".join(filter(None, (_unmarked(report), remark))),
        empty=_("There is nothing to count."),
        addresses=_addresses(report),
    )


def _addresses(report: Report) -> dict[str, str]:
    """Title of a code → the page of the responses in which it was marked."""
    names = titles(report)
    slug, version = report.benchmark.slug, report.result["facts"]["code_book"]
    times = Counter(names.values())  # two codes may have one title
    return {
        names[code]: reverse("agreement:failure-responses", args=[slug, version, code])
        for code in marked_codes(report) - {ANY}
        if times[names[code]] == 1
    }


def _unmarked(report: Report) -> str:
    """How many codes were never marked, in words."""
    n = len(report.result["facts"]["codes"]) + 1 - len(marked_codes(report))
    text = ngettext(
        "%(n)s code that was never marked is in the file.", "%(n)s codes that were never marked are in the file.", n
    )
    return text % {"n": n} if n else ""


def _percent(row: Row, name: str) -> str:
    return number(row, name, scale=100.0, digits=1, unit="%").cell


def _agreement(report: Report) -> PageTable:
    own = titles(report)
    marked = marked_codes(report)
    rows = [row for row in table_of(report, "failures_agreement").dicts() if row["code"] in marked]
    return PageTable(
        "failures_agreement",
        _("Agreement on each failure"),
        [
            (pgettext("of a code book", "Code"), False),
            (_("Responses"), True),
            *((heading, True) for _name, heading in AGREEMENT),
            (_("α of all physicians"), True),
        ],
        {
            "": [
                [
                    own[row["code"]],
                    f"{row['n_pairs']:,}",
                    *(number(row, name).cell for name, _heading in AGREEMENT),
                    number(row, "alpha_all").cell,
                ]
                for row in rows
            ]
        },
        remark=_("F1 is that of the code being present."),
        addresses=_addresses(report),
    )


def _together(report: Report) -> PageTable:
    own = titles(report)
    rows = [row for row in table_of(report, "failures_together").dicts() if row["n_both"]]
    rows.sort(key=lambda row: (-row["n_both"], row["code_a"], row["code_b"]))

    def cells(row: Row) -> list[str]:
        return [
            f"{own[row['code_a']]} + {own[row['code_b']]}",
            *(f"{row[name]:,}" for name in ("n_both", "n_a", "n_b")),
            number(row, "jaccard").cell,
            number(row, "phi").cell if row["phi"] is None else f"{row['phi']:.3f}",
        ]

    groups, remark = first_rows(rows, cells)
    return PageTable(
        "failures_together",
        _("Failures that go together"),
        [
            (_("Two codes"), False),
            (_("Both"), True),
            (_("First"), True),
            (_("Second"), True),
            ("Jaccard", True),
            ("φ", True),
        ],
        groups,
        remark=remark,
        empty=_("No two failures are marked in the same response."),
    )


def _coverage(report: Report) -> PageTable:
    own = titles(report)
    below = report.result["facts"]["below"]
    marked = marked_codes(report)
    rows = [row for row in table_of(report, "failures_coverage").dicts() if row["code"] in marked]

    def share(row: Row, side: str) -> str:
        rate = row[f"rate_{side}"]
        return "–" if rate is None else f"{100 * rate:.1f}% ({row[f'marked_{side}']:,} / {row[f'n_{side}']:,})"

    return PageTable(
        "failures_coverage",
        _("Failures and low coverage"),
        [
            (pgettext("of a code book", "Code"), False),
            (_("Below %(below)s%%") % {"below": below}, True),
            (_("Other responses"), True),
            (_("Risk ratio"), True),
            (_("Odds ratio"), True),
        ],
        {
            "": [
                [
                    own[row["code"]],
                    share(row, "covered_little"),
                    share(row, "others"),
                    number(row, "risk_ratio", digits=2).cell,
                    number(row, "odds_ratio", digits=2).cell,
                ]
                for row in rows
            ]
        },
        remark=" ".join(
            (
                _("Graded by %(rater)s.") % {"rater": report.result["facts"]["graded_by"]},
                _("Intervals are over cases, on the scale of logarithms."),
            )
        ),
        addresses=_addresses(report),
    )


def figures(report: Report) -> Iterator[Figure]:
    own = titles(report)
    marked = marked_codes(report) - {ANY}
    rows = [row for row in table_of(report, "failures_candidates").dicts() if row["rate"] is not None]
    whole = {
        row["code"]: row["rate"]
        for row in table_of(report, "failures").dicts()
        if row["rater"] == report.result["facts"]["counted"]
    }
    cells = [
        Cell(row["candidate"], own[row["code"]], 100 * (row["rate"] - whole[row["code"]]))
        for row in rows
        if whole.get(row["code"]) is not None and row["code"] in marked
    ]
    if cells:
        yield Figure(
            "candidates",
            _("Failures by candidate"),
            _("Each cell: the share of responses with the failure, in points above or below that of all candidates."),
            "failures_candidates",
            _heat(cells),
        )
    points = [
        Point(own[row["code"]], row["kappa"], row["kappa_low"], row["kappa_high"])
        for row in table_of(report, "failures_agreement").dicts()
        if row["kappa"] is not None
    ]
    if points:
        yield Figure(
            "agreement",
            _("Agreement on each failure"),
            _("Cohen’s κ of the two raters. Lines are 95% intervals over cases."),
            "failures_agreement",
            _whiskers(points),
        )


def _heat(cells: list[Cell]) -> Any:
    def drawing(palette: Palette) -> object:
        description = _("The share of responses of each candidate with each failure, against that of all candidates.")
        return heat_map(cells, palette, description=description, key_title=_("Points above or below all candidates"))

    return drawing


def _whiskers(points: list[Point]) -> Any:
    ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    domain = (min([0.0, *ends]) - 0.05, 1.05)

    def drawing(palette: Palette) -> object:
        description = _("Cohen’s κ on each failure, with 95% intervals.")
        return points_and_whiskers(points, palette, x_title="κ", description=description, domain=domain)

    return drawing
