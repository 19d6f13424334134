"""The physicians of a benchmark: how they were admitted, their credentials as counts, and checks of licences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.forms import ReportForm
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters
from agreement.kinds.page_table import PageTable
from agreement.models import Report
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Table
from annotation.cohort.states import REASON_LABELS, STEP_LABELS, Step, flow, licences
from annotation.contributions.counted_work import people_behind
from annotation.contributions.credentials import MIN_CELL, OTHER, TITLES, credential_tables, language_counts
from annotation.contributions.credentials import Table as CredentialTable
from consilium.core.jobs import Progress, no_progress
from consilium.core.languages import language_name
from consilium.figures.flow import FlowBox, flow_chart
from consilium.figures.style import Palette
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark

FLOW_COLUMNS = ("step", "reached", "out", "waiting")
REASON_COLUMNS = ("step", "reason", "n")
CREDENTIAL_COLUMNS = ("credential", "value", "n", "n_physicians", "share")
LANGUAGE_COLUMNS = ("language", "n", "n_physicians", "share")
LICENCE_COLUMNS = ("n_members", "n_with_number", "n_confirmed", "n_refuted")


class CohortForm(ReportForm):
    """Nothing has to be chosen."""

    field_order = ["interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        self.ready = benchmark.applications.exists() or bool(people_behind(benchmark))


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {}


def _tables(benchmark: Benchmark) -> dict[str, Table]:
    steps = flow(benchmark)
    people = people_behind(benchmark)
    n, credentials = credential_tables(benchmark)
    members = licences(benchmark)
    checks = [row.check.confirmed for row in members if row.check is not None]
    return {
        "flow": Table.of(
            FLOW_COLUMNS,
            [
                {"step": str(row.step), "reached": row.reached, "out": row.out, "waiting": row.waiting}
                for row in steps
                if steps[0].reached
            ],
            ("step",),
        ),
        "flow_reasons": Table.of(
            REASON_COLUMNS,
            [
                {"step": str(row.step), "reason": reason, "n": number}
                for row in steps
                for reason, number in row.reasons.items()
            ],
            ("step", "reason"),
        ),
        "credentials": Table.of(
            CREDENTIAL_COLUMNS,
            [
                {"credential": table.name, "value": value, "n": number, "n_physicians": n, "share": number / n}
                for table in credentials
                for value, number in table.cells
            ],
            ("credential", "value"),
        ),
        "languages": Table.of(
            LANGUAGE_COLUMNS,
            [
                {"language": tag, "n": number, "n_physicians": n, "share": number / n}
                for tag, number in language_counts(people)
            ],
            ("language",),
        ),
        "licences": Table.of(
            LICENCE_COLUMNS,
            [
                {
                    "n_members": len(members),
                    "n_with_number": sum(bool(row.number) for row in members),
                    "n_confirmed": sum(checks),
                    "n_refuted": len(checks) - sum(checks),
                }
            ],
        ),
    }


def _digest(tables: Mapping[str, Table]) -> str:
    rows = {name: [list(row) for row in table.rows] for name, table in tables.items()}
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def compute(
    benchmark: Benchmark,
    *,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Counts alone, those of credentials and languages without small cells. There is no interval to estimate."""
    tables = _tables(benchmark)
    n_physicians = len(people_behind(benchmark))
    if not tables["flow"].rows and not n_physicians:
        raise WrongParameters(_("No one has applied or taken part yet."))
    facts = {
        "n_physicians": n_physicians,
        "n_applied": tables["flow"].rows[0][1] if tables["flow"].rows else 0,
        "n_admitted": next((row[1] for row in tables["flow"].rows if row[0] == Step.ADMITTED), 0),
    }
    return Result(tables=tables, facts=facts, digest=_digest(tables))


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    return _("Cohort of physicians")


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    return _digest(_tables(benchmark))


def _reasons(report: Report, step: str) -> list[tuple[str, int]]:
    rows = table_of(report, "flow_reasons").dicts()
    return [(str(REASON_LABELS[row["reason"]]), row["n"]) for row in rows if row["step"] == step]


def body(report: Report, sort: str) -> Context:
    flow_rows = table_of(report, "flow").dicts()
    (licence,) = table_of(report, "licences").dicts()
    steps = [
        [
            str(STEP_LABELS[Step(row["step"])]),
            f"{row['reached']:,}",
            f"{row['out']:,}",
            f"{row['waiting']:,}",
            "; ".join(f"{label}: {n:,}" for label, n in _reasons(report, row["step"])),
        ]
        for row in flow_rows
    ]
    credentials: dict[str, list[list[str]]] = {}
    for row in table_of(report, "credentials").dicts():
        words = dict(CredentialTable(row["credential"], ((row["value"], row["n"]),)).rows)
        (label,) = words
        heading = str(TITLES[row["credential"]])
        credentials.setdefault(heading, []).append([label, f"{row['n']:,}", f"{row['share']:.1%}"])
    languages = [
        [_("other") if row["language"] == OTHER else language_name(row["language"]), f"{row['n']:,}",
         f"{row['share']:.1%}"]
        for row in table_of(report, "languages").dicts()
    ]  # fmt: skip
    small = _("Counts below %(n)s are part of “other”; a table in which little else is left is withheld.") % {
        "n": MIN_CELL
    }
    counts = [(_("Physicians"), True), (_("Share"), True)]
    return {
        "facts": report.result["facts"],
        "licence": licence,
        "flow": PageTable(
            "flow",
            _("Flow of applications"),
            [(_("Step"), False), (_("Reached"), True), (_("Left here"), True), (_("Waiting here"), True),
             (_("Reasons"), False)],
            {"": steps},
            empty=_("There are no applications on record."),
        ),
        "credentials": PageTable(
            "credentials", _("Credentials"), [(_("Credential"), False), *counts], credentials or {"": []}, small,
            _("Too few physicians have taken part."),
        ),
        "languages": PageTable(
            "languages", _("Languages"), [(_("Language"), False), *counts], {"": languages},
            _("Who reads several languages counts in each."), _("Too few physicians have named their languages."),
        ),
    }  # fmt: skip


def figures(report: Report) -> Iterator[Figure]:
    rows = table_of(report, "flow").dicts()
    if not rows:
        return
    boxes = [
        FlowBox(
            str(STEP_LABELS[Step(row["step"])]),
            row["reached"],
            (
                *([_("Left: %(n)s") % {"n": f"{row['out']:,}"}] if row["out"] else []),
                *(f"· {label}: {n:,}" for label, n in _reasons(report, row["step"])),
                *([_("Waiting: %(n)s") % {"n": f"{row['waiting']:,}"}] if row["waiting"] else []),
            ),
        )
        for row in rows
    ]
    words = "; ".join(f"{box.label}: {box.n:,}" for box in boxes)

    def drawing(palette: Palette) -> Any:
        return flow_chart(boxes, palette, description=words)

    yield Figure(
        "flow",
        _("Flow of applications"),
        _("How many applications reached each step. One of them may have several reasons."),
        "flow",
        drawing,
    )


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    (licence,) = table_of(report, "licences").dicts()
    sentences = []
    if facts["n_applied"]:
        sentences.append(
            f"{counted(facts['n_applied'], 'physician')} applied, of whom {facts['n_admitted']:,} were admitted. "
            "Applications were compared with rules that were set before; a reviewer who overruled them gave a reason."
        )
    if licence["n_confirmed"]:
        sentences.append(
            f"The licences of {licence['n_confirmed']:,} of {licence['n_members']:,} members of the expert groups were "
            "looked up in the register and confirmed."
        )
    sentences.append(
        f"Credentials are those of the {counted(facts['n_physicians'], 'physician')} who took part, as they stated "
        f"them. Counts below {MIN_CELL} are merged."
    )
    return sentences


KIND = Kind(
    value=Report.Kind.COHORT,
    parameters=frozenset(),
    complete=complete,
    compute=compute,
    title=title,
    form=CohortForm,
    invitation=Invitation(
        gettext_lazy("Cohort"),
        gettext_lazy(
            "How physicians were admitted, their specialties, languages, countries and experience, and how many "
            "licences were checked. No count of credentials or languages is below three."
        ),
        gettext_lazy("This report requires applications, or physicians who have taken part."),
    ),
    template="agreement/kinds/cohort.html",
    body=body,
    figures=figures,
    methods=methods,
    digest=digest,
)
