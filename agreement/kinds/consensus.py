"""Error rates by consensus criterion, and the score over these criteria, as in HealthBench Consensus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from agreement.forms import ReportForm, choose, grouped
from agreement.judged.coverage import coverage_remarks
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters
from agreement.kinds.page_table import PageTable
from agreement.kinds.scores import pairs
from agreement.kinds.scores_figures import evidence_url
from agreement.kinds.scores_page import counting
from agreement.kinds.shared import headline, raters_table, with_n
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.interval_facts import interval_facts
from agreement.reports.links import pairs_url
from agreement.reports.numbers import number
from agreement.reports.parameters import WrongParameters, named_raters
from agreement.reports.sentences import counted, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row, Table
from agreement.scoreboard import consensus
from agreement.scoreboard.consensus import consensus_tables, has_consensus_criteria, read_consensus
from agreement.selectors.rater_choices import display_name, rater_choices, shown_name
from consilium.core.jobs import Progress, no_progress
from consilium.figures import charts
from consilium.figures.style import Palette
from consilium.statistics.bootstrap import RESAMPLES
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.bank.themes import CLUSTER
from rubrics.models import Benchmark, Candidate
from rubrics.slice_words import value_words
from scoring.scores.points import DEFAULT_RULES
from scoring.selectors.raters import require_verdicts, resolve_rater

MAX_SHOWN = 6  # candidates of the figure: as many as it has shapes for
USUAL_SHOWN = 3


class ConsensusForm(ReportForm):
    """A rater, and the candidates of the figure."""

    rater = forms.ChoiceField(label=gettext_lazy("Decisions by"))
    candidates = forms.MultipleChoiceField(
        label=gettext_lazy("Candidates in the figure"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("At most six; if none is chosen, the three with the highest score. Tables have all."),
    )
    field_order = ["rater", "candidates", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        rater_offers = rater_choices(benchmark)
        self.ready = bool(rater_offers) and has_consensus_criteria(benchmark)
        choose(self, "rater", grouped(rater_offers))
        names = _candidates(benchmark)
        choose(self, "candidates", [(name, name) for name in names])


def _candidates(benchmark: Benchmark) -> list[str]:
    return list(Candidate.objects.filter(benchmark=benchmark).order_by("name").values_list("name", flat=True))


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    own = named_raters(benchmark, parameters, "rater")
    given = parameters.get("candidates") or []
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise WrongParameters(_("“candidates” must be a list of candidate names."), field="parameters.candidates")
    names = list(dict.fromkeys(given))
    unknown = sorted(set(names) - set(_candidates(benchmark)))
    if unknown:
        raise WrongParameters(
            _("There is no candidate named %(names)s.") % {"names": ", ".join(unknown)}, field="parameters.candidates"
        )
    if len(names) > MAX_SHOWN:
        raise WrongParameters(
            _("Choose at most %(n)s candidates for the figure.") % {"n": MAX_SHOWN}, field="parameters.candidates"
        )
    if not has_consensus_criteria(benchmark):
        raise WrongParameters(
            _("No published rubric of this benchmark has a consensus criterion."), field="parameters.rater"
        )
    return {**own, "candidates": names}


def compute(
    benchmark: Benchmark,
    *,
    rater: str,
    candidates: list[str],
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Every table; ``candidates`` are only those of the figure. ``seed`` is that of `rubric_score_se`."""
    resolved = resolve_rater(benchmark, rater)
    require_verdicts(resolved)
    inputs = read_consensus(benchmark, resolved)
    progress(0.5)
    tables = consensus_tables(inputs, rule=rule, seed=seed)
    behind = raters_table(resolved)
    scored = [row for row in tables.candidates if row["rubric_score"] is not None]
    best = max(scored, key=lambda row: row["rubric_score"], default=None)
    return Result(
        tables={
            "consensus": Table.of(consensus.CANDIDATES_COLUMNS, tables.candidates, consensus.TEXT_COLUMNS),
            "consensus_criteria": Table.of(consensus.CRITERIA_COLUMNS, tables.criteria, consensus.TEXT_COLUMNS),
            "consensus_errors": Table.of(consensus.ERRORS_COLUMNS, tables.errors, consensus.TEXT_COLUMNS),
            "raters": behind,
        },
        facts={
            "rater": resolved.label,
            "raters": behind.dicts(),
            "runs": [run.public_id for run in resolved.runs],
            "rules": str(DEFAULT_RULES),
            "tagged": inputs.tagged,
            "n_cases": max((row["n_cases"] for row in tables.candidates), default=0),
            **interval_facts(rule, None if best is None else best["rubric_score_effective"]),
            **({} if best is None else {"headline": headline(best, "rubric_score")}),
        },
        notes=coverage_remarks(resolved),
        digest=inputs.digest,
    )


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Consensus criteria by %(rater)s") % {"rater": display_name(given["rater"], runs)}


def cluster_label(cluster: str) -> str:
    """A cluster as pages show it."""
    return _("No cluster") if cluster == consensus.NO_CLUSTER else cluster.replace("_", " ")


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    criteria = table_of(report, "consensus_criteria").dicts()
    return {
        "rater": shown_name(report.benchmark, facts["rater"]),
        "counting": counting(facts["rules"]),
        "by_candidate": _by_candidate(report),
        "by_criterion": _by_criterion(report, criteria),
        "errors": _errors(report, criteria),
        "n_clusters": len(criteria),
        "n_criteria": sum(row["n_criteria"] for row in criteria),
    }


def _rate(row: Row) -> str:
    return number(row, "error_rate", scale=100, digits=1, unit="%").cell


def _by_candidate(report: Report) -> PageTable:
    rows = table_of(report, "consensus").dicts()
    rows.sort(key=lambda row: (row["rubric_score"] is None, -(row["rubric_score"] or 0.0), row["candidate"]))
    return PageTable(
        "consensus",
        _("Score over the consensus criteria"),
        [
            (_("Candidate"), False),
            (_("Responses"), True),
            (_("Cases"), True),
            (_("Rubric score"), True),
            (_("Error rate"), True),
            (_("Invalid or missing"), True),
        ],
        {
            "": [
                [
                    row["candidate"],
                    f"{row['n']:,}",
                    f"{row['n_cases']:,}",
                    number(row, "rubric_score").cell,
                    _rate(row),
                    f"{row['n_invalid'] + row['n_missing']:,}",
                ]
                for row in rows
            ]
        },
        addresses={row["candidate"]: evidence_url(report, row["candidate"]) for row in rows},
    )


def _by_criterion(report: Report, rows: list[Row]) -> PageTable:
    tagged = set(report.result["facts"]["tagged"])
    return PageTable(
        "consensus_criteria",
        _("Consensus criteria, the highest error rate first"),
        [
            (_("Cluster"), False),
            (pgettext("of a case", "Theme"), False),
            (_("Criteria"), True),
            (_("Cases"), True),
            (_("Responses"), True),
            (_("Share met"), True),
            (_("Error rate"), True),
        ],
        {
            "": [
                [
                    cluster_label(row["cluster"]),
                    value_words("theme", row["theme"]) if row["theme"] else "–",
                    f"{row['n_criteria']:,}",
                    f"{row['n_cases']:,}",
                    f"{row['n_responses']:,}",
                    number(row, "prevalence", scale=100, digits=1, unit="%").cell,
                    _rate(row),
                ]
                for row in rows
            ]
        },
        addresses={
            cluster_label(row["cluster"]): pairs_url(report, f"{CLUSTER}{row['cluster']}")
            for row in rows
            if row["cluster"] in tagged
        },
        remark=_("Over all candidates together."),
    )


def _errors(report: Report, criteria: list[Row]) -> PageTable:
    """A row for each cluster, a column for each candidate."""
    rows = table_of(report, "consensus_errors").dicts()
    by_place = {(row["cluster"], row["candidate"]): row for row in rows}
    names = list(dict.fromkeys(row["candidate"] for row in table_of(report, "consensus").dicts()))

    def cell(cluster: str, name: str) -> str:
        row = by_place.get((cluster, name))
        return "–" if row is None else _rate(row)

    return PageTable(
        "consensus_errors",
        _("Error rate by criterion and candidate"),
        [(_("Cluster"), False), *((name, True) for name in names)],
        {"": [[cluster_label(row["cluster"]), *(cell(row["cluster"], name) for name in names)] for row in criteria]},
    )


def shown_candidates(report: Report) -> list[str]:
    """The candidates of the figure: those that were chosen, else the ones with the highest score."""
    if report.parameters["candidates"]:
        return list(report.parameters["candidates"])
    rows = [row for row in table_of(report, "consensus").dicts() if row["rubric_score"] is not None]
    rows.sort(key=lambda row: (-row["rubric_score"], row["candidate"]))
    return [row["candidate"] for row in rows[:USUAL_SHOWN]]


def figures(report: Report) -> Iterator[Figure]:
    names = shown_candidates(report)
    rows = [row for row in table_of(report, "consensus_errors").dicts() if row["candidate"] in names]
    if not any(row["error_rate"] is not None for row in rows):
        return
    tagged = set(report.result["facts"]["tagged"])
    most = {cluster: max(row["n_pairs"] for row in rows if row["cluster"] == cluster) for cluster in _clusters(rows)}
    by_place = {(row["cluster"], row["candidate"]): row for row in rows}
    points = [
        charts.Point(
            with_n(cluster_label(cluster), most[cluster]),
            row["error_rate"],
            row["error_rate_low"],
            row["error_rate_high"],
            series=name,
            href=evidence_url(report, name, f"{CLUSTER}{cluster}" if cluster in tagged else ""),
        )
        for cluster in most
        for name in names
        if (row := by_place.get((cluster, name))) is not None
    ]
    has_intervals = any(point.low is not None for point in points)

    def drawing(palette: Palette) -> object:
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=_("Error rate"),
            description=_("The error rate of each candidate on each consensus criterion."),
        )

    yield Figure(
        "consensus_errors",
        _("Error rates by consensus criterion"),
        _("With 95% intervals over cases; n is the largest number of pairs of a candidate.")
        if has_intervals
        else _("There are no intervals; the table notes explain why."),
        "consensus_errors",
        drawing,
    )


def _clusters(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row["cluster"] for row in rows))


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of what `compute` would read now."""
    return read_consensus(benchmark, resolve_rater(benchmark, given["rater"])).digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    rows, criteria = (table_of(report, name).dicts() for name in ("consensus", "consensus_criteria"))
    n_negative = sum(row["n_negative"] for row in criteria)
    return [
        f"{counted(len(rows), 'candidate')} of the benchmark {report.benchmark.title} were scored over its consensus "
        f"criteria by the decisions of {rater_in_words(facts['rater'])}, as in HealthBench Consensus (Arora et al. "
        f"2025): {counted(sum(row['n_criteria'] for row in criteria), 'criterion', 'criteria')} in "
        f"{counted(len(criteria), 'cluster')}, of which {n_negative:,} have negative points. Cases without such a "
        "criterion are excluded.",
        sentences.SCORES,
        "The error rate is the share of pairs of a response and a criterion in which a desired criterion is not met, "
        "or an undesired one is met. Invalid and missing verdicts are errors; pairs that could not be assessed, are "
        "undecided or whose criterion is at fault are excluded.",
        sentences.counting(facts["rules"]),
        f"rubric_score_se in the files is the standard deviation of the score over {RESAMPLES:,} resamples of cases "
        f"with seed {report.seed}, as HealthBench’s bootstrap_std, and no part of these intervals.",
    ]


KIND = Kind(
    value=Report.Kind.CONSENSUS,
    parameters=frozenset({"rater", "candidates"}),
    complete=complete,
    compute=compute,
    title=title,
    form=ConsensusForm,
    invitation=Invitation(
        gettext_lazy("Consensus criteria"),
        gettext_lazy(
            "Scores the candidates over the criteria that physicians agreed on, with error rates by criterion."
        ),
        gettext_lazy("This report requires decisions, and published rubrics with consensus criteria."),
    ),
    template="agreement/kinds/consensus.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Rubric score"), 3),
    pairs=pairs,
    methods=methods,
    digest=digest,
)
