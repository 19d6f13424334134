"""The form of a plan: judge, physicians, measure, confidence, and number of cases."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from agreement.calibration.thresholds import LARGEST_K, suggested_k
from agreement.forms import choose, grouped
from agreement.kinds.powered import judges_and_references, settled_first
from agreement.planning.study_plan import Question
from agreement.powered.powered_scores import MEASURES
from consilium.statistics.case_numbers import MINIMUM_EFFECTIVE_CASES
from rubrics.models import Benchmark, Case
from scoring.selectors.raters import UnknownRater, resolve_rater

_HALF_WIDTHS = {"rubric_score": 0.05, "rubric_accuracy": 5.0, "cacs_at_k": 5.0}


class PlanForm(forms.Form):
    """Sent by GET, so that a plan has an address. ``ready``: there is enough to plan from."""

    judge = forms.ChoiceField(label=gettext_lazy("Judge"))
    reference = forms.ChoiceField(label=gettext_lazy("Decisions by"))
    measure = forms.ChoiceField(label=pgettext_lazy("score", "Measure"))
    k = forms.IntegerField(label=gettext_lazy("Threshold k"), min_value=1, max_value=LARGEST_K)
    half_width = forms.FloatField(
        label=gettext_lazy("Desired half-width"),
        min_value=1e-6,
        max_value=100,
        help_text=gettext_lazy("Of the 95% interval: 0.05 for a rubric score, 5 for Rubric Accuracy or CACS."),
    )
    n_planned = forms.IntegerField(
        label=gettext_lazy("Cases planned"),
        min_value=MINIMUM_EFFECTIVE_CASES,
        max_value=1_000_000,
        help_text=gettext_lazy("Used to compute the smallest detectable difference."),
    )
    other = forms.ChoiceField(
        label=gettext_lazy("Another judge"),
        required=False,
        help_text=gettext_lazy("Used to plan a comparison of Macro-F1."),
    )
    ready: bool = True

    def __init__(self, benchmark: Benchmark, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judges, references = judges_and_references(benchmark)
        self.ready = bool(judges and references)
        choose(self, "judge", grouped(judges))
        choose(self, "reference", grouped(references))
        choose(self, "other", [("", "—"), *grouped(judges)])
        k, source = suggested_k(benchmark)
        names = {"rubric_score": _("Rubric score"), "rubric_accuracy": _("Rubric Accuracy"), "cacs_at_k": "CACS@k"}
        choose(self, "measure", [(name, names[name]) for name in MEASURES])
        for name, value in (
            ("reference", settled_first(references)),
            ("k", k),
            ("measure", "rubric_accuracy"),
            ("half_width", _HALF_WIDTHS["rubric_accuracy"]),
            ("n_planned", max(MINIMUM_EFFECTIVE_CASES, Case.objects.included().filter(benchmark=benchmark).count())),
        ):
            self.fields[name].initial = value
        self.fields["k"].help_text = source

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("measure") == "rubric_score" and (cleaned.get("half_width") or 0) > 1:
            self.add_error("half_width", _("A rubric score ranges from 0 to 1, so its half-width can be at most 1."))
        if cleaned.get("other") and cleaned.get("other") == cleaned.get("judge"):
            self.add_error("other", _("Choose a judge other than the first."))
        return cleaned

    @property
    def question(self) -> Question:
        """What to plan, once the form is valid."""
        given = self.cleaned_data
        names = ("judge", "reference", "measure", "k", "half_width", "n_planned", "other")
        return Question(**{name: given[name] for name in names})


def usual(benchmark: Benchmark) -> dict[str, Any]:
    """The default measure, k and number of cases of a request; the half-width has no default."""
    fresh = PlanForm(benchmark)
    names = ("measure", "k", "n_planned")
    return {name: fresh.fields[name].initial for name in names}


def in_full(benchmark: Benchmark, given: dict[str, Any]) -> dict[str, Any]:
    """The values with each rater by its full name, as reports take them: ``group:A`` is ``group:A@checked``."""
    raters = {name: given[name] for name in ("judge", "reference", "other") if given.get(name)}
    for name, text in raters.items():
        with suppress(UnknownRater):  # the form names those that there are
            raters[name] = resolve_rater(benchmark, text).label
    return {**given, **raters}


def filled(benchmark: Benchmark, given: Any) -> dict[str, Any]:
    """The values that a link gives, and the defaults for the rest; empty where it gives none at all."""
    fresh = PlanForm(benchmark)
    if not any(given.get(name) for name in fresh.fields):
        return {}
    first = {
        name: next((value for _heading, group in fresh.fields[name].choices for value, _label in group), "")  # type: ignore[attr-defined]
        for name in ("judge", "reference")
    }
    usual = {name: field.initial for name, field in fresh.fields.items() if field.initial is not None}
    return in_full(benchmark, {**first, **usual, **{name: given[name] for name in fresh.fields if given.get(name)}})
