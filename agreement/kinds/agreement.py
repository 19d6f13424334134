"""Two raters compared on every slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.counting import compare
from agreement.counting.inputs import MoreSlices, join, no_more_slices
from agreement.counting.windows import count
from agreement.forms import FIRST_LABELS, TwoRatersForm
from agreement.judged.coverage import coverage_remarks, remark_on_coverage
from agreement.judged.training_overlap import learned_candidates, learners, remark, remark_on_candidate
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters, Read
from agreement.kinds.shared import candidate_of, headline, judged_by, raters_table, row_label, split_broken, with_n
from agreement.kinds.slice_menu import titles_of_named
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.interval_facts import interval_facts
from agreement.reports.links import pairs_url
from agreement.reports.numbers import Tile, number
from agreement.reports.parameters import chosen_flag, chosen_slices, named_raters
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row, Table
from agreement.scoreboard.case_sets import frame_slices
from agreement.selectors.rater_choices import display_name, shown_name
from consilium.core.i18n import translate
from consilium.core.jobs import Progress, no_progress
from consilium.figures import charts
from consilium.figures.style import Palette
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.macro_f1 import MACRO_F1
from consilium.statistics.two_raters import COEFFICIENTS, WITH_INTERVAL
from rubrics.models import Benchmark
from scoring.selectors.raters import require_verdicts, resolve_rater

LOW_AGREEMENT = 0.6
BINS = 20
EXTENDED = (
    *("slice", "n_pairs", "n_responses", "n_cases"),
    *(f"{name}{end}" for name in WITH_INTERVAL for end in ("", "_low", "_high")),
    *(coefficient.key for coefficient in COEFFICIENTS if not coefficient.has_interval),
    *(
        "n_invalid",
        "n_cannot",
        "n_undecided",
        "n_faulty",
        "n_valid",
        "mf1_valid",
        "note",
        "n_undecided_by_judge",
        "n_missing",
    ),
    *(f"{name}_effective" for name in WITH_INTERVAL),
)
DISTRIBUTION = ("mf1_from", "mf1_to", "n_responses")
# The coefficients that have a column on the page.
_SHOWN = [coefficient for coefficient in COEFFICIENTS if coefficient.symbol]
_NAMED = [coefficient for coefficient in COEFFICIENTS if coefficient.name and coefficient is not MACRO_F1]


class AgreementForm(TwoRatersForm):
    """Two raters, and which further slices there are."""

    slices = forms.BooleanField(
        label=gettext_lazy("Also by groups, languages and named slices"),
        required=False,
        help_text=gettext_lazy("Difficulties, registers and tags are always included."),
    )
    first_labels = forms.BooleanField(label=FIRST_LABELS.label, help_text=FIRST_LABELS.help_text, required=False)
    field_order = ["rater_a", "rater_b", "slices", "first_labels", "interval", "seed"]


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    further = chosen_slices(benchmark, parameters)
    return {
        **named_raters(benchmark, parameters, "rater_a", "rater_b"),
        **(further if further["slices"] else {}),
        **chosen_flag(parameters, "first_labels"),
    }


def _more(benchmark: Benchmark, given: Parameters) -> MoreSlices:
    """The slices of a report besides those that every report has."""
    slices, by_first_label = given.get("slices", False), given.get("first_labels", False)
    if not slices and not by_first_label:
        return no_more_slices
    chosen: dict[str, Any] = {"slices": slices, "by_first_label": by_first_label, "subsets": given.get("subsets", ())}
    return lambda frame: frame_slices(benchmark, frame, **chosen)


def compute(
    benchmark: Benchmark,
    *,
    rater_a: str,
    rater_b: str,
    slices: bool = False,
    subsets: Sequence[str] = (),
    first_labels: bool = False,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Two raters on every slice; ``rater_a`` is the reference.

    ``slices``: by groups, languages and the named slices ``subsets`` too; ``first_labels``: by first labels.
    """
    more = _more(benchmark, {"slices": slices, "subsets": subsets, "first_labels": first_labels})
    raters = resolve_rater(benchmark, rater_a), resolve_rater(benchmark, rater_b)
    require_verdicts(*raters)
    counted = count(benchmark, *raters, progress=lambda share: progress(0.7 * share), more=more)
    by = judged_by(*raters)
    comparison = compare.compare_tallies(
        counted.tallies,
        rule=rule,
        progress=lambda share: progress(0.7 + 0.2 * share),
        judged_by=by,
    )
    runs = [run.public_id for rater in raters for run in rater.runs]
    learned = learned_candidates(benchmark, runs)
    learned_by = learners(benchmark, *raters)
    remark(comparison.head, learned, learned_by)
    remark_on_coverage(comparison.head, *raters)
    comparison.responses.remark(learned, remark_on_candidate(learned_by))
    bins, facts = distribution(comparison.responses.column("mf1"))
    behind = raters_table(*raters)
    facts |= {
        "raters": behind.dicts(),
        "learned": learned,
        "learned_by": learned_by,
        "judged_by": by,
        "rater_a": raters[0].label,
        "rater_b": raters[1].label,
        "runs": runs,
        **interval_facts(rule, comparison.overall["mf1_effective"]),
        "headline": headline(comparison.overall, "mf1"),
    }
    return Result(
        tables={
            "agreement": Table.of(compare.COLUMNS, comparison.rows, compare.TEXT_COLUMNS),
            "candidates": Table.of(EXTENDED, comparison.head, compare.TEXT_COLUMNS),
            "slices": Table.of(EXTENDED, comparison.others, compare.TEXT_COLUMNS),
            "distribution": bins,
            "raters": behind,
        },
        facts=facts,
        notes=coverage_remarks(*raters),
        digest=counted.digest,
    )


def distribution(mf1: Sequence[float | None]) -> tuple[Table, Row]:
    """The distribution of the MF1 of single responses, in bins of 0.05 closed below (the last one at both ends), and
    how many are below 0.6.
    """
    values = np.array([value for value in mf1 if value is not None], dtype=np.float64)
    # Rounding of a float must not move a value on a border, above all 0.6, into the bin below.
    place = np.minimum(np.floor(np.round(values * BINS, 9)).astype(np.int64), BINS - 1)
    counts = np.bincount(place, minlength=BINS).tolist()
    below = int((np.round(values, 9) < LOW_AGREEMENT).sum())
    facts = {
        "n_responses": len(values),
        "n_below": below,
        "share_below": below / len(values) if len(values) else None,
        "median": float(np.median(values)) if len(values) else None,
        "below": LOW_AGREEMENT,
    }
    return Table(DISTRIBUTION, [[i / BINS, (i + 1) / BINS, n] for i, n in enumerate(counts)]), facts


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("%(b)s against %(a)s") % {
        "a": display_name(given["rater_a"], runs),
        "b": display_name(given["rater_b"], runs),
    }


def body(report: Report, sort: str) -> Context:
    candidates = table_of(report, "candidates").dicts()
    overall = candidates[0]
    facts = report.result["facts"]
    names = {"a": shown_name(report.benchmark, facts["rater_a"]), "b": shown_name(report.benchmark, facts["rater_b"])}
    tiles = [
        Tile(
            translate(MACRO_F1.name),
            number(overall, "mf1"),
            detail=_("met %(met)s, not met %(not_met)s")
            % {
                "met": number(overall, "f1_met").shown or _("undefined"),
                "not_met": number(overall, "f1_not_met").shown or _("undefined"),
            },
        ),
        *(Tile(translate(coefficient.name), number(overall, coefficient.key)) for coefficient in _NAMED),
        Tile(
            _("Pairs"),
            text=f"{overall['n_pairs']:,}",
            detail=_("responses: %(responses)s, cases: %(cases)s")
            % {"responses": f"{overall['n_responses']:,}", "cases": f"{overall['n_cases']:,}"},
        ),
    ]
    return {
        "names": names,
        "overall": split_broken(overall),
        "tiles": tiles,
        "mf1_valid": number(overall, "mf1_valid"),
        "coefficients": _SHOWN,
        "candidates": [_row(report, row) for row in candidates],
        "slices": _slice_rows(report),
    }


def _slice_rows(report: Report) -> list[Context]:
    """The rows of slices; a named slice is called by its title."""
    titles = titles_of_named(report.benchmark) if report.parameters.get("subsets") else {}
    rows = [_row(report, row) for row in table_of(report, "slices").dicts()]
    return [{**row, "label": titles.get(row["slice"], row["label"])} for row in rows]


def _row(report: Report, row: Row) -> Context:
    name = row["slice"]
    return {
        **split_broken(row),
        "label": row_label(name),
        "is_all": name == "all",
        "url": pairs_url(report, name),
        "figures": [number(row, coefficient.key) for coefficient in _SHOWN],
        "met_a": number(row, "prevalence_a", scale=100, digits=1, unit="%"),
        "met_b": number(row, "prevalence_b", scale=100, digits=1, unit="%"),
    }


def figures(report: Report) -> Iterator[Figure]:
    rows = table_of(report, "candidates").dicts()
    overall, own = rows[0], rows[1:]
    facts = report.result["facts"]
    if any(row["mf1"] is not None for row in own):
        points = [
            charts.Point(
                with_n(candidate_of(row["slice"]), row["n_pairs"]),
                row["mf1"],
                row["mf1_low"],
                row["mf1_high"],
                href=pairs_url(report, row["slice"]),
            )
            for row in own
        ]
        raters = {key: shown_name(report.benchmark, facts[f"rater_{key}"]) for key in "ab"}

        def by_candidate(palette: Palette) -> object:
            return charts.points_and_whiskers(
                points,
                palette,
                x_title=_("Macro-F1"),
                description=_("Macro-F1 of %(a)s and %(b)s for each candidate, with 95%% intervals.") % raters,
                line=charts.Line(overall["mf1"], _("all %(mf1).3f") % overall),
            )

        yield Figure(
            "candidates",
            _("Agreement on each candidate"),
            _("Macro-F1 of n pairs, with 95% intervals over cases; the dashed line is the figure over all candidates.")
            if any(row["mf1_low"] is not None for row in own)
            else _(
                "Macro-F1 of n pairs; the dashed line is the figure over all candidates. There are no "
                "intervals; the table notes explain why."
            ),
            "candidates",
            by_candidate,
        )
    if facts["n_responses"]:
        bins = [tuple(row) for row in table_of(report, "distribution").rows]

        def distribution(palette: Palette) -> object:
            return charts.histogram(
                bins,
                palette,
                x_title=_("Macro-F1 of a response"),
                y_title=_("responses"),
                description=_("Distribution of the Macro-F1 of single responses; values below 0.6 are highlighted."),
                line=charts.Line(facts["below"], "0.6"),
                marked_below=facts["below"],
            )

        yield Figure(
            "distribution",
            _("Agreement on single responses"),
            _("%(below)s of %(n)s responses (%(share).1f%%) have a Macro-F1 below 0.6; the median is %(median).3f.")
            % {
                "below": facts["n_below"],
                "n": facts["n_responses"],
                "share": 100 * facts["share_below"],
                "median": facts["median"],
            },
            "distribution",
            distribution,
        )


def pairs(report: Report, side: str) -> Read:
    joined = join(report.benchmark, report.parameters["rater_a"], report.parameters["rater_b"])
    return (joined.rater_a.label, joined.rater_b.label), joined.pairs, joined.frame, joined.digest


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of what `compute` would read now."""
    raters = (resolve_rater(benchmark, given[name]) for name in ("rater_a", "rater_b"))
    return count(benchmark, *raters, more=_more(benchmark, given)).digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    overall = table_of(report, "candidates").dicts()[0]
    pairs, responses, cases, valid = (
        sentences.counted(overall[f"n_{name}"], noun)
        for name, noun in (("pairs", "pair"), ("responses", "response"), ("cases", "case"), ("valid", "pair"))
    )
    cited = [coefficient.in_methods for coefficient in COEFFICIENTS if coefficient.in_methods]
    constant = [str(coefficient.symbol) for coefficient in COEFFICIENTS if coefficient.needs_variety]
    return [
        f"The decisions of {sentences.rater_in_words(facts['rater_b'])} were compared with those of "
        f"{sentences.rater_in_words(facts['rater_a'])}, the reference, on {pairs} of a response and a criterion, from "
        f"{responses} to {cases} of the benchmark {report.benchmark.title}.",
        sentences.MF1,
        sentences.conservative(overall) if facts["runs"] else "",
        f"{sentences.capital(sentences.listed(cited))} use the {valid} to which both gave a valid answer; "
        f"{sentences.listed(constant)} are undefined where ratings are constant.",
        sentences.left_out(overall, facts.get("judged_by") or "judge"),
        "Figures are pooled over all pairs, and given for each candidate, response, difficulty, register and tag.",
        sentences.learned(facts),
    ]


KIND = Kind(
    value=Report.Kind.AGREEMENT,
    parameters=frozenset({"rater_a", "rater_b", "slices", "subsets", "first_labels"}),
    complete=complete,
    compute=compute,
    title=title,
    form=AgreementForm,
    invitation=Invitation(
        gettext_lazy("Compare two raters"),
        gettext_lazy(
            "Groups, judges, single physicians or the consensus. An invalid verdict counts as "
            "disagreeing with the reference."
        ),
        gettext_lazy("This report requires two raters with decisions."),
    ),
    template="agreement/kinds/agreement.html",
    body=body,
    figures=figures,
    headline=("MF1", 3),
    pairs=pairs,
    methods=methods,
    digest=digest,
)
