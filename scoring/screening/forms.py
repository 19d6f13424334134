"""The form of a screening."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_TITLE_LENGTH
from rubrics.models import Benchmark, Candidate
from scoring.screening.compute import MAX, MEAN
from scoring.screening.selectors import raters_on_offer
from scoring.screening.services import MIN_CANDIDATES, ScreeningTerms


class ScreeningForm(forms.Form):
    """Rater, candidates, threshold. ``ready``: whether there is anything to choose from."""

    title = forms.CharField(label=_("Title"), max_length=MAX_TITLE_LENGTH)
    rater = forms.ChoiceField(label=_("Scored by"), help_text=_("A judge, a jury, or the grades of an expert group."))
    candidates = forms.MultipleChoiceField(
        label=_("Candidates"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Choose several candidates of different strength. Cases that all of them solve no longer "
            "distinguish between them."
        ),
    )
    threshold = forms.FloatField(
        label=_("Threshold"),
        min_value=0,
        max_value=1,
        initial=0.5,
        widget=forms.NumberInput(attrs={"step": "0.01"}),
        help_text=_("Cases with a rubric score at or above this value (0 to 1) are flagged."),
    )
    aggregate = forms.ChoiceField(
        label=_("Score of a case"),
        choices=[(MEAN, _("Mean over all responses")), (MAX, _("Highest score among the candidates"))],
    )
    at_least = forms.IntegerField(
        label=_("Number of candidates required"),
        min_value=1,
        initial=MIN_CANDIDATES,
        help_text=_("A case with fewer scored candidates has no score and is not flagged."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        raters = raters_on_offer(benchmark)
        names = list(
            Candidate.objects.filter(benchmark=benchmark, responses__isnull=False)
            .distinct()
            .order_by("kind", "name")
            .values_list("name", "kind")
        )
        self.ready = bool(raters) and bool(names)
        today = date_format(timezone.localdate(), "DATE_FORMAT")
        self.fields["title"].initial = _now("Screening of %(date)s") % {"date": today}
        rater, candidates = self.fields["rater"], self.fields["candidates"]
        assert isinstance(rater, forms.ChoiceField)
        assert isinstance(candidates, forms.MultipleChoiceField)
        rater.choices = raters
        candidates.choices = [(name, name) for name, _kind in names]
        candidates.initial = [name for name, kind in names if kind == Candidate.Kind.MODEL]

    def terms(self) -> ScreeningTerms:
        """The chosen terms."""
        return ScreeningTerms(**self.cleaned_data)
