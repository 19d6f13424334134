"""The form of a susceptibility measurement; the same fields estimate it and start it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.commands import form_field
from rubrics.models import Benchmark
from scoring.models import Judge
from scoring.runs.services import RunTerms
from scoring.susceptibility.failing_pairs import references
from scoring.susceptibility.services import MAX_PAIRS


class MeasurementForm(forms.Form):
    """Whose failing pairs, how many of them, and what it may cost."""

    reference = forms.ChoiceField(
        label=_("Failures according to"),
        help_text=_("The rater whose decisions determine which responses miss a criterion."),
    )
    pairs = forms.IntegerField(
        label=_("Pairs"),
        min_value=1,
        max_value=MAX_PAIRS,
        initial=10,
        help_text=_("A pair is a response and a criterion. At least five cases are needed for an interval."),
    )
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=0, help_text=_("The same seed draws the same pairs.")
    )

    def __init__(self, *args: Any, benchmark: Benchmark, judge: Judge, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._references = references(benchmark, judge)
        field = self.fields["reference"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(reference.rater, reference.label) for reference in self._references]
        if has_prices(judge):
            self.fields["budget"] = form_field(
                RunTerms,
                "budget",
                label=_("Maximum cost"),
                help_text=_(
                    "In the currency of the judge’s prices. The run stops at this amount. Leave empty for no limit."
                ),
            )

    @property
    def ready(self) -> bool:
        """Whether anybody has decided which responses fail."""
        return bool(self._references)

    def terms(self) -> dict[str, Any]:
        """The service's arguments, once the form is valid."""
        return dict(self.cleaned_data)


def has_prices(judge: Judge) -> bool:
    """Whether the cost of a run is known; it does not check whether the judge's settings can still be used."""
    return any(judge.config.get(name) for name in ("price_in", "price_out"))
