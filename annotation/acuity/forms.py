"""Forms that sign a reference set, open a second round, and ask for rulings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.acuity.panel import MINIMUM_VOTES, AmbiguousBy, AmbiguousRule
from annotation.acuity.references import datasets_on, has_flags
from annotation.acuity.round_plan import RoundTerms
from annotation.acuity.services import MAX_MINIMUM_VOTES
from annotation.models import FIRST_ROUND, LAST_ROUND, ExpertGroup
from consilium.core.commands import CommandForm, command_of
from consilium.core.limits import MAX_REASON_LENGTH
from rubrics.models import AcuityScale, Benchmark

RULE_LABELS = {
    AmbiguousBy.DISPERSION: _("Dispersion above"),
    AmbiguousBy.ENTROPY: _("Uncertainty of at least"),
    AmbiguousBy.MAJORITY: _("No level reaches the share"),
    AmbiguousBy.FLAG: _("A flag imported with the label"),
}

ROUND_LABELS = [(FIRST_ROUND, _("Votes of round 1")), (LAST_ROUND, _("Votes of the last round of each case"))]


class AmbiguousRuleForm(forms.Form):
    """When a case is ambiguous by its votes."""

    rule = forms.ChoiceField(
        label=_("Rule for ambiguous cases"),
        choices=[(own, label) for own, label in RULE_LABELS.items() if own is not AmbiguousBy.FLAG],
    )
    threshold = forms.FloatField(label=_("Threshold"), required=False, min_value=0, max_value=25, initial=0.75)

    def clean(self) -> dict[str, Any]:
        """A share is at most 1, and a flag has no threshold."""
        cleaned = super().clean() or {}
        rule, threshold = cleaned.get("rule"), cleaned.get("threshold")
        if rule == AmbiguousBy.FLAG:
            cleaned["threshold"] = 0.0
        elif rule and threshold is None and "threshold" not in self.errors:
            self.add_error("threshold", _("This rule needs a threshold."))
        elif rule and threshold is not None and threshold > AmbiguousBy(rule).most:
            self.add_error("threshold", _("The threshold of this rule must be a number from 0 to 1."))
        return cleaned

    @property
    def ambiguous(self) -> AmbiguousRule:
        """The rule, once the form is valid."""
        return AmbiguousRule(AmbiguousBy(self.cleaned_data["rule"]), self.cleaned_data["threshold"])


class ReferenceSetForm(AmbiguousRuleForm):
    """Which cases get a reference, and when one of them is ambiguous."""

    scale = forms.ChoiceField(label=_("Scale"))
    datasets = forms.MultipleChoiceField(
        label=_("Labels to include"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("A panel with enough votes takes precedence over the label of its case."),
    )
    minimum_votes = forms.IntegerField(
        label=_("Minimum number of votes per panel"), min_value=1, max_value=MAX_MINIMUM_VOTES, initial=MINIMUM_VOTES
    )
    round = forms.TypedChoiceField(label=_("Panel references from"), coerce=int, choices=ROUND_LABELS, required=False)
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
        if has_flags(benchmark):
            self._offer("rule", list(RULE_LABELS.items()))
            self.fields["threshold"].help_text = str(_("A flag has no threshold."))

    def _offer(self, name: str, choices: list[tuple[str, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

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
            "ambiguous": self.ambiguous,
            "round": self.cleaned_data["round"] or FIRST_ROUND,
        }


class _GroupForm(AmbiguousRuleForm):
    """Which group is asked about which ambiguous cases."""

    group = forms.ModelChoiceField(
        label=_("Expert group"), queryset=ExpertGroup.objects.none(), to_field_name="public_id", empty_label=None
    )
    digest = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        group = self.fields["group"]
        assert isinstance(group, forms.ModelChoiceField)
        group.queryset = benchmark.groups.all()


class RoundForm(CommandForm, _GroupForm):
    """Who votes again on which cases, and until when."""

    commands = (RoundTerms,)

    def terms(self) -> RoundTerms:
        """The cleaned terms; the preview may lack a title."""
        return command_of(RoundTerms, self.cleaned_data)


class RulingsForm(_GroupForm):
    """Whose adjudicators rule on which cases; the seed shuffles them."""

    seed = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
