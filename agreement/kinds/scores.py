"""Every candidate by one rater: the scoreboard, and the tables of the command ``scores``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement import sentences
from agreement.compare import Progress, unheard
from agreement.forms import ReportForm, choose, grouped
from agreement.frame import read_frame
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters, Read
from agreement.kinds.shared import raters_table
from agreement.models import Report
from agreement.numbers import number
from agreement.offers import display_name, offers
from agreement.pairs import Pairs, pair
from agreement.parameters import WrongParameters, named_raters
from agreement.sentences import counted, rater_in_words
from agreement.stored import pairs_url, table_of
from agreement.tables import Result, Row, Table
from agreement.thresholds import suggested_k
from consilium.figures import charts
from consilium.figures.style import Palette
from consilium.statistics.bootstrap import RESAMPLES
from rubrics.models import Benchmark
from scoring import scores
from scoring.points import DEFAULT_RULES
from scoring.raters import require_verdicts, resolve_rater
from scoring.score_sheet import due_pairs
from scoring.scores import MEAN_OF_REPLICATES


class ScoresForm(ReportForm):
    """A rater and the threshold."""

    kind = Report.Kind.SCORES
    rater = forms.ChoiceField(label=gettext_lazy("By the decisions of"))
    k = forms.IntegerField(label=gettext_lazy("Threshold k"), min_value=1, max_value=1000)
    field_order = ["rater", "k", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        found = offers(benchmark)
        self.ready = bool(found)
        choose(self, "rater", grouped(found))
        k, source = suggested_k(benchmark)
        self.fields["k"].initial = k
        self.fields["k"].help_text = source


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    k = parameters.get("k")
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise WrongParameters(_("k is a whole number from 1."))
    return {**named_raters(benchmark, parameters, "rater"), "k": k}


def compute(benchmark: Benchmark, *, rater: str, k: int, seed: int = 0, progress: Progress = unheard) -> Result:
    """Every candidate by one rater: the scoreboard, and the tables of the command ``scores``."""
    resolved = resolve_rater(benchmark, rater)
    require_verdicts(resolved)
    progress(0.1)
    made = scores.compute_scores(benchmark, resolved, k, seed=seed)
    raters = raters_table(resolved)
    progress(0.9)
    return Result(
        tables={
            "scoreboard": Table.of(scores.SCOREBOARD_COLUMNS, made.scoreboard, scores.SCOREBOARD_TEXT),
            "scores": Table.of(scores.SCORES_COLUMNS, made.rows, scores.SCORES_TEXT),
            "responses": Table.of(scores.RESPONSES_COLUMNS, made.responses, scores.RESPONSES_TEXT),
            "worst_at_k": Table.of(scores.WORST_COLUMNS, made.worst_at_k, scores.WORST_TEXT),
            "raters": raters,
        },
        facts={
            "rater": made.rater,
            "undecided_by": resolved.undecided_by,
            "raters": raters.dicts(),
            "runs": [run.public_id for run in resolved.runs],
            "k": made.k,
            "rules": made.rules,
            "resamples": RESAMPLES,
        },
        digest=made.digest,
    )


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Scores by %(rater)s, k = %(k)s") % {"rater": display_name(given["rater"], runs), "k": given["k"]}


def _counting(rules: str) -> str:
    """The rules of a report of scores, in words."""
    default = str(DEFAULT_RULES)
    if not rules.startswith(default):
        return rules
    words = _("invalid and missing verdicts against the candidate; no score where something is not assessed")
    if not rules.endswith(MEAN_OF_REPLICATES):
        return words
    return "; ".join([words, _("the rubric score takes the mean of a criterion’s valid replicates")])


# Columns of the scoreboard that it can be sorted by, the best first; a minus in front turns that round.
SORTABLE = ("cacs_at_k", "rubric_accuracy", "pass_at_k", "rubric_score", "n")


def body(report: Report, sort: str) -> Context:
    rows = table_of(report, "scoreboard").dicts()
    facts = report.result["facts"]
    column, upwards = sort.removeprefix("-"), sort.startswith("-")
    if column == "candidate":
        rows.sort(key=lambda row: row["candidate"], reverse=upwards)
    else:
        column = column if column in SORTABLE else SORTABLE[0]
        defined = sorted(
            (row for row in rows if row[column] is not None), key=lambda row: row[column], reverse=not upwards
        )
        rows = [*defined, *(row for row in rows if row[column] is None)]
    return {
        "rater": display_name(facts["rater"]),
        "counting": _counting(facts["rules"]),
        "undecided": _undecided_pairs(rows, facts.get("undecided_by", "")),
        "scoreboard": [
            {
                **row,
                "url": pairs_url(report, f"candidate:{row['candidate']}"),
                "figures": {
                    "cacs": number(row, "cacs_at_k", digits=1),
                    "accuracy": number(row, "rubric_accuracy", digits=1),
                    "pass": number(row, "pass_at_k", scale=100, digits=1, unit="%"),
                    "score": number(row, "rubric_score"),
                },
            }
            for row in rows
        ],
        "headers": [
            {
                "column": name,
                "label": label,
                "sort": f"-{name}" if name == column and not upwards else name,
                "aria": ("ascending" if upwards != (name == "candidate") else "descending") if name == column else "",
            }
            for name, label in (
                ("candidate", _("Candidate")),
                ("n", _("Responses")),
                ("cacs_at_k", f"CACS@{facts['k']}"),
                ("rubric_accuracy", _("Rubric Accuracy")),
                ("pass_at_k", f"Pass@{facts['k']}"),
                ("rubric_score", _("Rubric score")),
            )
        ],
    }


def _undecided_pairs(rows: list[Row], undecided_by: str) -> Row | None:
    """Of all candidates: pairs undecided, and pairs; None where none is, or the report is older than the count."""
    n = sum(row.get("n_undecided", 0) for row in rows)
    return {"n": n, "all": sum(row["n_criteria"] for row in rows), "by": undecided_by} if n else None


def figures(report: Report) -> Iterator[Figure]:
    rows: list[Row] = [row for row in table_of(report, "scoreboard").dicts() if row["rubric_accuracy"] is not None]
    k = report.result["facts"]["k"]
    if any(row["cacs_at_k"] is not None for row in rows):

        def drawing(palette: Palette) -> object:
            return charts.scatter(
                [(row["candidate"], row["rubric_accuracy"], row["cacs_at_k"], "") for row in rows],
                palette,
                x_title=_("Rubric Accuracy"),
                y_title=f"CACS@{k}",
                description=_("CACS against Rubric Accuracy, a dot for each candidate."),
            )

        yield Figure(
            "coverage",
            _("Coverage against partial credit"),
            _("Of candidates that lie one above another, the threshold tells apart what partial credit does not."),
            "scoreboard",
            drawing,
        )


def pairs(report: Report, side: str) -> Read:
    rater = resolve_rater(report.benchmark, report.parameters["rater"])
    ratings = rater.ratings()
    # A judge's pairs are those that it was to decide.
    pairs = pair(due_pairs(rater) or ratings, ratings, due_of_b=due_pairs(rater))
    pairs = Pairs(pairs.response, pairs.criterion, pairs.b, pairs.b, pairs.standing)
    return (rater.label, ""), pairs, read_frame(report.benchmark), report.input_digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    rows = table_of(report, "scoreboard").dicts()
    counts = {name: sum(row.get(name) or 0 for row in rows) for name in ("n_invalid", "n_missing", "n_cannot")}
    return [
        f"{counted(len(rows), 'candidate')} of the benchmark {report.benchmark.title} were scored by the decisions of "
        f"{rater_in_words(facts['rater'])}, on {counted(sum(row['n'] for row in rows), 'response')} with a score and "
        f"{counted(sum(row['n_criteria'] for row in rows), 'criterion', 'criteria')} of responses in all.",
        sentences.SCORES,
        sentences.coverage(facts["k"]),
        sentences.threshold(report, facts["k"]),
        sentences.counting(facts["rules"]),
        f"There were {counts['n_invalid']:,} invalid and {counts['n_missing']:,} missing verdicts or decisions, and "
        f"{counts['n_cannot']:,} that could not be assessed.",
        "Worst-at-k is the expected minimum score over k of a case’s samples, drawn without replacement, averaged over "
        "cases with at least k samples (Arora et al. 2025).",
    ]


KIND = Kind(
    value=Report.Kind.SCORES,
    parameters=frozenset({"rater", "k"}),
    complete=complete,
    compute=compute,
    title=title,
    form=ScoresForm,
    invitation=Invitation(
        gettext_lazy("Score the candidates"),
        gettext_lazy(
            "Invalid and missing verdicts count against the candidate; their number stands beside each score."
        ),
        gettext_lazy("There is no rater with decisions yet."),
    ),
    template="agreement/body_scores.html",
    body=body,
    figures=figures,
    pairs=pairs,
    methods=methods,
)
