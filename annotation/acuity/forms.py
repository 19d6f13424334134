"""The form that signs a reference set."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.acuity.panel import MINIMUM_VOTES, AmbiguousBy, AmbiguousRule
from annotation.acuity.references import datasets_on, has_flags
from annotation.acuity.services import MAX_MINIMUM_VOTES
from consilium.core.limits import MAX_REASON_LENGTH
from rubrics.models import AcuityScale, Benchmark

RULE_LABELS = {
    AmbiguousBy.DISPERSION: _("Dispersion above"),
    AmbiguousBy.ENTROPY: _("Uncertainty of at least"),
    AmbiguousBy.MAJORITY: _("No level has the share"),
    AmbiguousBy.FLAG: _("A flag that came with its label"),
}


class ReferenceSetForm(forms.Form):
    """Which cases get a reference, and when one of them is ambiguous."""

    scale = forms.ChoiceField(label=_("Scale"))
    datasets = forms.MultipleChoiceField(
        label=_("Labels that count"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("A panel with enough votes comes before the label of its case."),
    )
    rule = forms.ChoiceField(label=_("A case is ambiguous by"), choices=list(RULE_LABELS.items()))
    threshold = forms.FloatField(
        label=_("Threshold"),
        required=False,
        min_value=0,
        max_value=25,
        initial=0.75,
        help_text=_("A flag has none."),
    )
    minimum_votes = forms.IntegerField(
        label=_("Fewest votes of a panel"), min_value=1, max_value=MAX_MINIMUM_VOTES, initial=MINIMUM_VOTES
    )
    note = forms.CharField(
        label=_("Note"), required=False, max_length=MAX_REASON_LENGTH, widget=forms.Textarea(attrs={"rows": 2})
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, benchmark: Benchmark, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        newest = AcuityScale.objects.filter(benchmark=benchmark).order_by("-created_at", "-pk")
        self.scales = {str(scale.pk): scale for scale in newest}
        datasets = {name for scale in self.scales.values() for name in datasets_on(benchmark, scale)}
        self._offer("scale", [(key, str(scale)) for key, scale in self.scales.items()])
        self._offer("datasets", [(name, name) for name in sorted(datasets)])
        self.fields["datasets"].initial = sorted(datasets)
        if not has_flags(benchmark):
            self._offer("rule", [(own, label) for own, label in RULE_LABELS.items() if own is not AmbiguousBy.FLAG])
            self.fields["threshold"].help_text = ""

    def _offer(self, name: str, choices: list[tuple[str, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        """A share is at most 1, and labels count only on the scale that they were mapped to."""
        cleaned = super().clean() or {}
        rule, threshold = cleaned.get("rule"), cleaned.get("threshold")
        if rule == AmbiguousBy.FLAG:
            cleaned["threshold"] = 0.0
        elif rule and threshold is None and "threshold" not in self.errors:
            self.add_error("threshold", _("This rule needs a threshold."))
        elif rule and threshold is not None and threshold > AmbiguousBy(rule).most:
            self.add_error("threshold", _("The threshold of this rule is a number from 0 to 1."))
        return cleaned

    @property
    def chosen_scale(self) -> AcuityScale:
        """The scale, once the form is valid."""
        return self.scales[self.cleaned_data["scale"]]

    @property
    def chosen(self) -> dict[str, Any]:
        """What `references_of` takes, once the form is valid; datasets that are not on the scale are left out."""
        scale = self.chosen_scale
        on_scale = set(datasets_on(scale.benchmark, scale))
        return {
            "scale": scale,
            "datasets": [name for name in self.cleaned_data["datasets"] if name in on_scale],
            "ambiguous": AmbiguousRule(AmbiguousBy(self.cleaned_data["rule"]), self.cleaned_data["threshold"]),
        }
