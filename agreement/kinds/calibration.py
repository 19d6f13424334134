"""The coverage threshold k, and how ranks depend on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement import calibrating
from agreement.compare import Progress, unheard
from agreement.forms import ReportForm, choose
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters
from agreement.kinds.shared import headline
from agreement.models import Report
from agreement.numbers import Tile, number
from agreement.offers import display_name, group_offers, physician_candidates
from agreement.parameters import WrongParameters
from agreement.sentences import counted, rater_in_words
from agreement.stored import table_of
from agreement.tables import Result, Table
from consilium.figures import charts
from consilium.figures.style import Palette
from consilium.statistics.bootstrap import RESAMPLES
from rubrics.models import Benchmark, Candidate
from scoring.raters import resolve_rater


class CalibrationForm(ReportForm):
    """A group, and the physician whose responses it graded."""

    kind = Report.Kind.CALIBRATION
    group = forms.ChoiceField(label=gettext_lazy("Graded by"))
    candidate = forms.ChoiceField(label=gettext_lazy("Responses of"))
    include_aided = forms.BooleanField(
        label=gettext_lazy("With responses that were written beside model references"), required=False
    )
    field_order = ["group", "candidate", "include_aided", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        groups, physicians = group_offers(benchmark), physician_candidates(benchmark)
        self.ready = bool(groups and physicians)
        choose(self, "group", [(offer.rater.removeprefix("group:"), offer.label) for offer in groups])
        choose(self, "candidate", [(name, name) for name in physicians])


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    group = str(parameters.get("group") or "").removeprefix("group:")
    label = resolve_rater(benchmark, f"group:{group}").label
    candidate = Candidate.objects.filter(benchmark=benchmark, name=str(parameters.get("candidate") or "")).first()
    if candidate is None or candidate.kind != Candidate.Kind.PHYSICIAN:
        raise WrongParameters(_("k is calibrated on responses that physicians wrote: choose a candidate of that kind."))
    return {
        "group": label.removeprefix("group:"),
        "candidate": candidate.name,
        "include_aided": bool(parameters.get("include_aided", False)),
    }


def compute(
    benchmark: Benchmark,
    *,
    group: str,
    candidate: str,
    include_aided: bool = False,
    seed: int = 0,
    progress: Progress = unheard,
) -> Result:
    """The coverage threshold k, and how ranks depend on it."""
    made = calibrating.calibrate_group(
        benchmark, group=group, candidate=candidate, include_aided=include_aided, seed=seed
    )
    progress(0.9)
    counts = made.calibration["histogram"]
    single = {name: value for name, value in made.calibration.items() if name != "histogram"}
    return Result(
        tables={
            "calibration": Table.of(tuple(single), [single]),
            "histogram": Table(("hits", "n_responses"), [[hits, n] for hits, n in enumerate(counts)]),
            "sensitivity": Table.of(calibrating.SENSITIVITY_COLUMNS, made.sensitivity, calibrating.SENSITIVITY_TEXT),
            "candidates": Table.of(
                ("setting", "k", "candidate", "value", "note"), made.values, ("setting", "candidate", "note")
            ),
        },
        facts={
            **made.calibration,
            "rater": made.rater,
            "candidate": candidate,
            "resamples": RESAMPLES,
            "headline": headline(made.calibration, "k"),
        },
        notes=made.notes,
        digest=made.digest,
    )


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Threshold k from %(candidate)s, by %(group)s") % {
        "candidate": given["candidate"],
        "group": display_name(f"group:{given['group']}"),
    }


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    names = {"cacs_at_k": "CACS@k", "pass_at_k": "Pass@k", "rubric_accuracy": _("Rubric Accuracy")}
    return {
        "rater": display_name(facts["rater"]),
        "tiles": [
            Tile("k", number(facts, "k", digits=0)),
            Tile(_("Mean hits"), number(facts, "mean", digits=2)),
            Tile(
                _("Median"),
                number(facts, "median", digits=1),
                detail=_("quartiles %(q1)g and %(q3)g") % facts,
            ),
            Tile(_("Hit rate"), text=f"{100 * facts['hit_rate']:.2f}%", detail=_("of all positive criteria")),
            Tile(
                _("Responses"),
                text=f"{facts['n']:,}",
                detail=_("with %(n)s positive criteria each") % {"n": facts["n_criteria"]},
            ),
        ],
        "sensitivity": [
            {
                **row,
                "label": names[row["setting"]],
                "is_main": row["setting"] == "cacs_at_k" and row["k"] == facts["k"],
                "figures": {
                    "spearman": number(row, "spearman"),
                    "top3": number(row, "top3", digits=2),
                    "top5": number(row, "top5", digits=2),
                },
            }
            for row in table_of(report, "sensitivity").dicts()
        ],
    }


def figures(report: Report) -> Iterator[Figure]:
    facts = report.result["facts"]
    counts = facts["histogram"]
    band = None if facts["k_low"] is None else (facts["k_low"] - 0.5, facts["k_high"] + 0.5)

    def hits(palette: Palette) -> object:
        return charts.histogram(
            [(s - 0.5, s + 0.5, n) for s, n in enumerate(counts)],
            palette,
            x_title=_("positive criteria met"),
            y_title=_("responses"),
            description=_("How many positive criteria the responses of physicians meet, with the threshold k."),
            line=charts.Line(float(facts["k"]), f"k = {facts['k']}"),
            band=band,
            whole=True,
        )

    yield Figure(
        "hits",
        _("Criteria met by responses that physicians wrote"),
        _("The dashed line is k, the mean rounded half up; the shaded band its 95% bootstrap interval.")
        if band
        else _("The dashed line is k, the mean rounded half up."),
        "histogram",
        hits,
    )
    rows = [row for row in table_of(report, "sensitivity").dicts() if row["k"] is not None]
    names = {"cacs_at_k": "CACS@k", "pass_at_k": "Pass@k"}
    drawn = [(names[row["setting"]], row["k"], row["spearman"]) for row in rows]
    if any(value is not None for _name, _k, value in drawn):

        def sensitivity(palette: Palette) -> object:
            return charts.lines(
                drawn,
                palette,
                x_title="k",
                y_title=_("Spearman with CACS@%(k)s") % facts,
                description=_("How far the order of the candidates under other thresholds is that under k."),
                line=charts.Line(float(facts["k"]), f"k = {facts['k']}"),
            )

        yield Figure(
            "sensitivity",
            _("Ranks of the candidates under other thresholds"),
            _("Spearman’s rank correlation with CACS@%(k)s, by the decisions of the same group.") % facts,
            "sensitivity",
            sensitivity,
        )


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    aided = report.parameters.get("include_aided")
    return [
        f"The coverage threshold k was calibrated on {counted(facts['n'], 'response')} that physicians wrote "
        f"({facts['candidate']}; {'with' if aided else 'without'} those written beside model references), each with "
        f"{counted(facts['n_criteria'], 'positive criterion', 'positive criteria')}, graded by "
        f"{rater_in_words(facts['rater'])} of the benchmark {report.benchmark.title}; gradings by an author of any of "
        "the responses, and responses with an undecided positive criterion, are left out.",
        f"k is the mean number of positive criteria met, {facts['mean']:.2f}, rounded half up and kept within 1 and "
        f"{facts['n_criteria']}: k = {facts['k']} (Zheng et al. 2026).",
        "Quartiles interpolate linearly (type 7).",
        "How far ranks of the other candidates depend on k is told by Spearman’s ρ and by the overlap of the top 3 and "
        "top 5 with those under the calibrated k.",
    ]


KIND = Kind(
    value=Report.Kind.CALIBRATION,
    parameters=frozenset({"group", "candidate", "include_aided"}),
    complete=complete,
    compute=compute,
    title=title,
    form=CalibrationForm,
    invitation=Invitation(
        gettext_lazy("Calibrate k"),
        gettext_lazy(
            "Responses that a physician of the group wrote, or that are not graded in full, are left out and counted."
        ),
        gettext_lazy("This takes graded responses of a candidate of the kind physician."),
    ),
    template="agreement/body_calibration.html",
    body=body,
    figures=figures,
    headline=("k", 0),
    methods=methods,
)
