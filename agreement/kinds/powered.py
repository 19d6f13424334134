"""Prediction-powered scores: a judge's verdicts on all responses, corrected by physicians' decisions on a sample."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.calibration.thresholds import LARGEST_K, suggested_k
from agreement.counting.inputs import join
from agreement.forms import ReportForm, choose, grouped
from agreement.judged.coverage import coverage_remarks
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters, Read
from agreement.kinds.shared import raters_table, row_label
from agreement.models import Report
from agreement.powered import powered_scores
from agreement.reports.interval_facts import interval_facts
from agreement.reports.links import pairs_url
from agreement.reports.numbers import Number, number
from agreement.reports.parameters import WrongParameters, checked_k, named_raters
from agreement.reports.sentences import SCORES, capital, counted, listed, rater_in_words, threshold
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row, Table
from agreement.selectors.rater_choices import RaterChoice, display_name, rater_choices, shown_name
from consilium.core.from_english import from_english
from consilium.core.i18n import translate
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import Labelled, joined, parts_of
from consilium.figures import charts
from consilium.figures.style import Palette
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.prediction_powered import NO_JUDGED, NO_LABEL
from rubrics.models import Benchmark
from scoring.scores.points import DEFAULT_RULES
from scoring.scores.sheet import OVERALL
from scoring.selectors.raters import resolve_rater

# The page shows at most this many rows of slices for each measure; the file has all of them.
SHOWN_SLICES = 200


def judges_and_references(benchmark: Benchmark) -> tuple[list[RaterChoice], list[RaterChoice]]:
    """The raters that may predict (judges, juries, runs), and the references (groups, their consensus, physicians)."""
    rater_offers = rater_choices(benchmark)
    return [offer for offer in rater_offers if offer.is_judge], [offer for offer in rater_offers if not offer.is_judge]


def settled_first(references: list[RaterChoice]) -> str:
    """The default reference: a group after adjudication, since a response with an open decision has no score."""
    final = [offer.rater for offer in references if offer.rater.endswith("@final")]
    return next(iter([*final, *(offer.rater for offer in references)]), "")


class PoweredForm(ReportForm):
    """A judge, physicians, and the threshold."""

    judge = forms.ChoiceField(label=gettext_lazy("Judge"))
    reference = forms.ChoiceField(label=gettext_lazy("Decisions by"))
    k = forms.IntegerField(label=gettext_lazy("Threshold k"), min_value=1, max_value=LARGEST_K)
    interval = None  # type: ignore[assignment]  # Django's way to leave a field out: there is one rule
    field_order = ["judge", "reference", "k", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        judges, references = judges_and_references(benchmark)
        self.ready = bool(judges and references)
        choose(self, "judge", grouped(judges))
        choose(self, "reference", grouped(references))
        self.fields["reference"].initial = settled_first(references)
        self.fields["k"].initial, self.fields["k"].help_text = suggested_k(benchmark)
        self.fields["seed"].help_text = _(
            "These figures involve no random sampling: their intervals are computed by formula."
        )


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    k = checked_k(parameters.get("k"))
    named = named_raters(benchmark, parameters, "judge", "reference")
    if not resolve_rater(benchmark, named["judge"]).is_judge:
        raise WrongParameters(_("Predictions must come from a judge, a jury or a run."), field="parameters.judge")
    if resolve_rater(benchmark, named["reference"]).is_judge:
        raise WrongParameters(
            _("The decisions used must be those of physicians: a group, a consensus or a single physician."),
            field="parameters.reference",
        )
    return {**named, "k": k}


def compute(
    benchmark: Benchmark,
    *,
    judge: str,
    reference: str,
    k: int,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Every candidate three ways: prediction-powered, by the physicians alone, by the judge alone.

    Nothing is drawn, and ``rule`` and ``seed`` play no part: there is one rule for these intervals.
    """
    scores = powered_scores.powered_scores(benchmark, judge=judge, reference=reference, k=k, progress=progress)
    predictor, physicians = scores.inputs.judge, scores.inputs.reference
    raters = raters_table(predictor, physicians)
    overall = [row for row in scores.rows if row["slice"] == OVERALL]
    return Result(
        tables={
            "powered": Table.of(powered_scores.COLUMNS, scores.rows, powered_scores.TEXT_COLUMNS),
            **{
                f"overall_{measure}": Table.of(
                    powered_scores.COLUMNS,
                    [row for row in overall if row["measure"] == measure],
                    powered_scores.TEXT_COLUMNS,
                )
                for measure in powered_scores.MEASURES
            },
            "raters": raters,
        },
        facts={
            "judge": predictor.label,
            "reference": physicians.label,
            "k": k,
            "rules": str(DEFAULT_RULES),
            "raters": raters.dicts(),
            "runs": [run.public_id for run in predictor.runs],
            "learned": scores.inputs.learned,
            "learned_by": scores.inputs.learned_by,
            "sampling": {
                name: scores.inputs.sampling.notes[place]
                for place, name in sorted(enumerate(scores.inputs.candidates), key=lambda pair: pair[1])
                if (scores.inputs.place[scores.inputs.sheet.response_candidate == place] >= 0).any()
            },
            "n_judged": len(scores.inputs.sheet.response_ids),
            "n_cases": len(np.unique(scores.inputs.sheet.response_case)),
            "n_graded": int((scores.inputs.place >= 0).sum()),
            **interval_facts(DEFAULT_RULE, min(_effective(overall), default=None)),
        },
        notes=[*scores.notes, *coverage_remarks(predictor, physicians)],
        digest=scores.digest,
    )


def _effective(rows: list[Row], name: str = "") -> list[float]:
    """The effective cases behind each prediction-powered figure, or those beside it called ``name``; none of a report
    that is older than them.
    """
    return [row[f"{name}effective"] for row in rows if row.get(f"{name}effective") is not None]


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Scores by %(judge)s, corrected with %(reference)s, k = %(k)s") % {
        "judge": display_name(given["judge"], runs),
        "reference": display_name(given["reference"], runs),
        "k": given["k"],
    }


def measure_name(measure: str, k: int | None) -> str:
    """A measure as pages and figures call it."""
    return {"rubric_score": _("Rubric score"), "rubric_accuracy": _("Rubric Accuracy"), "cacs_at_k": f"CACS@{k}"}[
        measure
    ]


def digits_of(measure: str) -> int:
    """The number of decimals of a measure."""
    return 3 if measure == "rubric_score" else 1


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    rows = table_of(report, "powered").dicts()
    sections = []
    for measure in powered_scores.MEASURES:
        own = [row for row in rows if row["measure"] == measure]
        overall = [row for row in own if row["slice"] == OVERALL]
        parts = [row for row in own if row["slice"] != OVERALL and row["low"] is not None]
        shared = _shared(overall)
        sections.append(
            {
                "measure": measure,
                "label": measure_name(measure, facts["k"]),
                "n_used": sum(row["n_labelled"] for row in overall),
                "rows": [_row(report, row, shared) for row in overall],
                "shared_remarks": capital(translate(joined(*shared))),
                "slices": [_row(report, row) for row in parts[:SHOWN_SLICES]],
                "n_more": max(0, len(parts) - SHOWN_SLICES),
                "figure": f"overall_{measure}",
            }
        )
    overall = [row for row in rows if row["slice"] == OVERALL]
    effective = [cases for name in ("", "physicians_", "judge_") for cases in _effective(overall, name)]
    return {
        "judge": shown_name(report.benchmark, facts["judge"]),
        "reference": shown_name(report.benchmark, facts["reference"]),
        "sections": sections,
        "effective": min(effective, default=None),
        "effective_most": max(effective, default=None),
        "counting": _(
            "invalid and missing verdicts count against the candidate; no score if a criterion could not be assessed"
        ),
    }


def _shared(rows: list[Row]) -> list[str]:
    """The remarks that all rows share, so that the page shows them once."""
    if len(rows) < 2:
        return []
    first, *others = [list(_shown_remarks(row)) for row in rows]
    return [remark for remark in first if all(remark in other for other in others)]


def _row(report: Report, row: Row, shared_remarks: Collection[str] = ()) -> Context:
    digits = digits_of(row["measure"])
    overall = row["slice"] == OVERALL
    return {
        **row,
        "label": row_label(row["slice"]),
        "url": pairs_url(report, f"candidate:{row['candidate']}" if overall else row["slice"]),
        "power": Number(row["lambda"], digits=2).shown,
        "ratio": Number(row["width_ratio"], digits=2).shown,
        "own_remarks": translate(joined(*(part for part in _shown_remarks(row) if part not in shared_remarks))),
        "figures": {
            "value": powered_number(row, digits=digits),
            "physicians": number(_noted(row, "physicians", remarks_of_none(row)), "physicians", digits=digits),
            "judge": number(_noted(row, "judge", NO_JUDGED), "judge", digits=digits),
        },
    }


def _shown_remarks(row: Row) -> Iterator[str]:
    """The remarks on the row and on its prediction-powered figure; cells have those on the figures beside it."""
    for part in parts_of(from_english(row["note"])):
        if not isinstance(part, Labelled):
            yield part
        elif "value" in part.names:
            yield part.phrase


def powered_number(row: Row, *, digits: int) -> Number:
    """The prediction-powered figure of a row, with its interval."""
    own = {"value_low": row["low"], "value_high": row["high"], "value_effective": row.get("effective")}
    return number({**row, **own}, "value", digits=digits)


def _noted(row: Row, name: str, why_none: str) -> Row:
    """The row for a figure beside the prediction-powered one, whose reasons are not its own where it is undefined."""
    return row if row[name] is not None else {**row, "note": why_none}


def remarks_of_none(row: Row) -> str:
    """The reasons why there is no figure of the physicians alone, where there is none."""
    return NO_LABEL if not row["n_labelled"] else ""


def figures(report: Report) -> Iterator[Figure]:
    facts = report.result["facts"]
    names = {"value": _("Prediction-powered"), "physicians": _("Physicians alone"), "judge": _("Judge alone")}
    for measure in powered_scores.MEASURES:
        rows = table_of(report, f"overall_{measure}").dicts()
        if not any(row["value"] is not None for row in rows):
            continue
        label = measure_name(measure, facts["k"])
        points = [
            charts.Point(
                row["candidate"],
                row[key],
                row[f"{key if key != 'value' else ''}_low".removeprefix("_")],
                row[f"{key if key != 'value' else ''}_high".removeprefix("_")],
                series=name,
                href=pairs_url(report, f"candidate:{row['candidate']}"),
            )
            for row in rows
            for key, name in names.items()
        ]

        def drawing(palette: Palette, points: list[charts.Point] = points, label: str = label) -> object:
            return charts.points_and_whiskers(
                points,
                palette,
                x_title=label,
                description=_("%(measure)s of each candidate three ways, with 95%% intervals.") % {"measure": label},
                colours=(palette.series[0], palette.series[4], palette.series[1]),
            )

        yield Figure(
            f"overall_{measure}",
            _("%(measure)s three ways") % {"measure": label},
            _("With 95% intervals over cases. If the judge is informative, the first is shorter than the second."),
            f"overall_{measure}",
            drawing,
        )


def pairs(report: Report, side: str) -> Read:
    joined = join(report.benchmark, report.parameters["reference"], report.parameters["judge"])
    return (joined.rater_a.label, joined.rater_b.label), joined.pairs, joined.frame, joined.digest


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of what `compute` would read now."""
    return powered_scores.read_inputs(benchmark, **given).digest


_INTERVAL = (
    "The estimate, its λ with it, was computed without each case, graded or not; the effective number of cases is that "
    "of the cases with a graded response."
)
# Of reports from before intervals were made by leaving out cases.
_INTERVAL_BEFORE = (
    "Its variance is linearised over cases, and its 95% interval that of Student’s t with two degrees of freedom less "
    "than there are cases with a graded response; there is none with fewer than 10 such cases."
)


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    learned = facts["learned"]
    return [
        f"Scores of the benchmark {report.benchmark.title} are prediction-powered, with a power-tuned weight λ from 0 "
        f"to 1 (PPI++, Angelopoulos et al. 2023): {counted(facts['n_judged'], 'response')} with verdicts of "
        f"{rater_in_words(facts['judge'])}, and {facts['n_graded']:,} of them with decisions of "
        f"{rater_in_words(facts['reference'])}. {_used(report)}",
        "The estimate is λ times the mean of the judge’s scores over all responses, plus the mean over the graded "
        "responses of the physicians’ scores less λ times the judge’s; λ is the one that makes the variance smallest "
        "in the same sample.",
        _INTERVAL if facts.get("interval") == Report.Interval.JACKKNIFE else _INTERVAL_BEFORE,
        *_drawn(facts["sampling"]),
        "An invalid or missing verdict counts against the candidate, and as a prediction so does one on which the "
        "judge is divided. A response on which a decision of the physicians is open, or was not assessed, is taken as "
        "not graded.",
        SCORES,
        "Rubric Accuracy is 100 times the share of the criteria with positive points that are met, pooled over "
        f"criteria; CACS@{facts['k']} is 100 times the mean of max(0, s − {facts['k']} + 1) / (N − {facts['k']} + 1), "
        f"with s of N such criteria met, over responses with N of at least {facts['k']} (Zheng et al. 2026).",
        threshold(report, facts["k"]),
        f"No such figure is given of {listed(learned)}, on which the judge was fitted." if learned else "",
    ]


def _used(report: Report) -> str:
    """How many graded responses correct each figure, as a sentence."""
    rows = [row for row in table_of(report, "powered").dicts() if row["slice"] == OVERALL]
    names = {
        "rubric_score": "the rubric score",
        "rubric_accuracy": "Rubric Accuracy",
        "cacs_at_k": f"CACS@{report.result['facts']['k']}",
    }
    used = {measure: sum(row["n_labelled"] for row in rows if row["measure"] == measure) for measure in names}
    return f"Responses with a score by both: {listed(f'{n:,} for {names[key]}' for key, n in used.items())}."


def _drawn(remarks_on_candidates: dict[str, list[str]]) -> Iterator[str]:
    """How the graded responses were drawn, from the remarks on the candidates."""
    by_remark: dict[str, list[str]] = {}
    for candidate, own_remarks in remarks_on_candidates.items():
        for remark in own_remarks:
            by_remark.setdefault(remark, []).append(candidate)
    for remark, candidates in by_remark.items():
        yield f"Of {listed(candidates)}: {remark}."
    if len(remarks_on_candidates) > sum(bool(own_remarks) for own_remarks in remarks_on_candidates.values()):
        yield "Where nothing else is said, the graded responses were drawn at random, with equal probabilities."


KIND = Kind(
    value=Report.Kind.POWERED,
    parameters=frozenset({"judge", "reference", "k"}),
    complete=complete,
    compute=compute,
    title=title,
    form=PoweredForm,
    invitation=Invitation(
        gettext_lazy("Correct a judge’s scores with physicians’ decisions"),
        gettext_lazy(
            "A judge grades every response and physicians grade a sample. The resulting scores are free "
            "of the judge’s bias, with shorter intervals than from the physicians alone."
        ),
        gettext_lazy(
            "This report requires a judge with a finished run, and physicians’ decisions on some of the same responses."
        ),
    ),
    template="agreement/kinds/powered.html",
    body=body,
    figures=figures,
    pairs=pairs,
    methods=methods,
    digest=digest,
    interval_rules=(Report.Interval.JACKKNIFE,),
)
