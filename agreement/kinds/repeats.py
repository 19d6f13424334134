"""How scores vary from run to run: over samples of a candidate, replicates of a judge's run, and runs of a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.calibration.thresholds import LARGEST_K, suggested_k
from agreement.forms import ReportForm, choose, grouped
from agreement.judged.coverage import coverage_remarks
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters
from agreement.kinds.page_table import PageTable
from agreement.kinds.scores_page import counting
from agreement.kinds.shared import raters_table
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.numbers import number
from agreement.reports.parameters import checked_k, named_raters
from agreement.reports.sentences import rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row, Table
from agreement.scoreboard import repeats
from agreement.scoreboard.repeats import MAX_RUNS, REPLICATE, RUN, SAMPLE, read_repeats, repeat_tables
from agreement.selectors.rater_choices import display_name, rater_choices, shown_name
from consilium.core.jobs import Progress, no_progress
from consilium.figures.strip import StripRow, strip
from consilium.figures.style import Palette
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark
from scoring.scores.points import DEFAULT_RULES
from scoring.selectors.raters import require_verdicts, resolve_rater

KINDS_OF_REPEAT = {
    SAMPLE: gettext_lazy("Samples of the candidate"),
    REPLICATE: gettext_lazy("Replicates of the judge’s run"),
    RUN: gettext_lazy("Runs of the judge"),
}


class RepeatsForm(ReportForm):
    """A rater and the threshold."""

    rater = forms.ChoiceField(label=gettext_lazy("Decisions by"))
    k = forms.IntegerField(label=gettext_lazy("Threshold k"), min_value=1, max_value=LARGEST_K)
    interval = None  # type: ignore[assignment]  # Django's way to leave a field out: no figure has an interval
    field_order = ["rater", "k", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        rater_offers = rater_choices(benchmark)
        self.ready = bool(rater_offers)
        judges = [offer for offer in rater_offers if offer.is_judge]
        choose(self, "rater", grouped(rater_offers))
        self.fields["rater"].initial = next((offer.rater for offer in judges), None)
        self.fields["k"].initial, self.fields["k"].help_text = suggested_k(benchmark)
        self.fields["seed"].help_text = _("These figures involve no random sampling.")


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    k = checked_k(parameters.get("k"))
    return {**named_raters(benchmark, parameters, "rater"), "k": k}


def compute(
    benchmark: Benchmark,
    *,
    rater: str,
    k: int,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Every candidate by every kind of repeat. ``rule`` and ``seed`` play no part: no figure has an interval."""
    resolved = resolve_rater(benchmark, rater)
    require_verdicts(resolved)
    inputs = read_repeats(benchmark, resolved)
    progress(0.5)
    tables = repeat_tables(inputs, k)
    behind = raters_table(resolved)
    first = _headline(tables.rows)
    return Result(
        tables={
            "repeats": Table.of(repeats.COLUMNS, tables.rows, repeats.TEXT_COLUMNS),
            "repeat_values": Table.of(repeats.VALUE_COLUMNS, tables.values, repeats.TEXT_COLUMNS),
            "raters": behind,
        },
        facts={
            "rater": resolved.label,
            "raters": behind.dicts(),
            "runs": [run.public_id for run in resolved.runs],
            "rules": str(DEFAULT_RULES),
            "k": k,
            "n_runs": len(inputs.scorings[RUN]),
            "n_replicates": len(inputs.scorings[REPLICATE]),
            **({} if first is None else {"headline": first}),
        },
        notes=coverage_remarks(resolved),
        digest=inputs.digest,
    )


def _headline(rows: list[Row]) -> Row | None:
    """The largest standard deviation of the rubric score; the reason why there is none."""
    scores = [row for row in rows if row["measure"] == "rubric_score"]
    if not scores:
        return None
    worst = max(scores, key=lambda row: -1.0 if row["sd"] is None else row["sd"])
    return {
        "of": worst["candidate"],
        "value": worst["sd"],
        "low": None,
        "high": None,
        "reason": worst["note"] if worst["sd"] is None else "",
    }


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Repeated runs by %(rater)s, k = %(k)s") % {"rater": display_name(given["rater"], runs), "k": given["k"]}


def measure_label(measure: str, k: int) -> str:
    """A measure as pages show it."""
    labels = {
        "rubric_score": _("Rubric score"),
        "rubric_accuracy": _("Rubric Accuracy"),
        "cacs_at_k": f"CACS@{k}",
    }
    return labels[measure]


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    rows = table_of(report, "repeats").dicts()
    return {
        "rater": shown_name(report.benchmark, facts["rater"]),
        "counting": counting(facts["rules"]),
        "tables": [
            _table(report, by, [row for row in rows if row["by"] == by])
            for by in KINDS_OF_REPEAT
            if any(row["by"] == by for row in rows)
        ],
        "without": [
            words
            for by, words in ((REPLICATE, _("replicates")), (RUN, _("further runs")))
            if not any(row["by"] == by for row in rows)
        ],
    }


def _table(report: Report, by: str, rows: list[Row]) -> PageTable:
    k = report.result["facts"]["k"]
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        digits = 3 if row["measure"] == "rubric_score" else 1
        groups.setdefault(measure_label(row["measure"], k), []).append(
            [
                row["candidate"],
                f"{row['n_repeats']:,}",
                f"{row['n_cases']:,}",
                f"{row['n_responses']:,}",
                number(row, "average", digits=digits).cell,
                number(row, "sd", digits=digits + 1).cell,
                number(row, "minimum", digits=digits).cell,
                number(row, "maximum", digits=digits).cell,
            ]
        )
    return PageTable(
        "repeats",
        str(KINDS_OF_REPEAT[by]),
        [
            (_("Candidate"), False),
            (_("Repeats"), True),
            (_("Cases"), True),
            (_("Responses per repeat"), True),
            (_("Mean"), True),
            (_("Standard deviation"), True),
            (_("Minimum"), True),
            (_("Maximum"), True),
        ],
        groups,
    )


def figures(report: Report) -> Iterator[Figure]:
    values = [row for row in table_of(report, "repeat_values").dicts() if row["rubric_score"] is not None]
    averages = {
        (row["candidate"], row["by"]): row["average"]
        for row in table_of(report, "repeats").dicts()
        if row["measure"] == "rubric_score" and row["sd"] is not None
    }
    for by, words in KINDS_OF_REPEAT.items():
        rows = [
            StripRow(
                candidate,
                [
                    (_("repeat %(n)s") % {"n": n}, row["rubric_score"])
                    for n, row in enumerate(
                        (row for row in values if (row["candidate"], row["by"]) == (candidate, by)), start=1
                    )
                ],
                average,
            )
            for (candidate, kind), average in averages.items()
            if kind == by
        ]
        if rows:
            yield Figure(
                by,
                _("Rubric score of each repeat: %(kind)s") % {"kind": words},
                _("Each dot is the score of one repeat over the same cases."),
                "repeat_values",
                _Dots(rows),
            )


class _Dots:
    """A strip that waits for its colours."""

    def __init__(self, rows: list[StripRow]) -> None:
        self.rows = rows

    def __call__(self, palette: Palette) -> Any:
        values = [value for row in self.rows for _name, value in row.dots]
        room = max(0.01, 0.1 * (max(values) - min(values)))
        return strip(
            self.rows,
            palette,
            x_title=_("Rubric score"),
            description=_("The rubric score of each repeat, for each candidate."),
            dots_name=_("one repeat"),
            mean_name=_("mean of the repeats"),
            domain=(max(0.0, min(values) - room), min(1.0, max(values) + room)),
        )


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of what `compute` would read now."""
    return read_repeats(benchmark, resolve_rater(benchmark, given["rater"])).digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    kinds = {
        SAMPLE: "over several samples of a candidate on the same cases (the candidate’s variance, and the rater’s)",
        REPLICATE: "over the replicates of the judge’s run on the same responses (the judge’s variance)",
        RUN: f"over the finished runs of the same version of the judge on the same responses (the newest {MAX_RUNS})",
    }
    present = {row["by"] for row in table_of(report, "repeats").dicts()}
    return [
        f"Candidates of the benchmark {report.benchmark.title} were scored repeatedly by the decisions of "
        f"{rater_in_words(facts['rater'])}: {'; '.join(words for by, words in kinds.items() if by in present)}.",
        "Each repeat is scored alike. Means and standard deviations (n − 1, as HealthBench gives them over repeated "
        "runs: Arora et al. 2025) are over repeats on the same cases; cases without a score in each are excluded.",
        sentences.SCORES,
        sentences.coverage(facts["k"]),
        sentences.counting(facts["rules"]),
    ]


KIND = Kind(
    value=Report.Kind.REPEATS,
    parameters=frozenset({"rater", "k"}),
    complete=complete,
    compute=compute,
    title=title,
    form=RepeatsForm,
    invitation=Invitation(
        gettext_lazy("Variation from run to run"),
        gettext_lazy(
            "Mean and standard deviation of the scores over repeats: samples of a candidate, replicates and runs of a "
            "judge."
        ),
        gettext_lazy("No rater has made decisions yet."),
    ),
    template="agreement/kinds/repeats.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Largest SD of the rubric score"), 4),
    methods=methods,
    digest=digest,
)
