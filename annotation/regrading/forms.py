"""The form of a regrading batch."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Batch, ExpertGroup
from annotation.services.planning import BatchTerms, new_seed
from rubrics.models import Benchmark


class RegradingForm(forms.Form):
    """Group, title, secondary check, order and due date; the seed is a field of the form."""

    group = forms.ModelChoiceField(ExpertGroup.objects.none(), label=gettext_lazy("Group"), to_field_name="public_id")
    title = forms.CharField(label=gettext_lazy("Title"), max_length=200)
    check_policy = forms.ChoiceField(
        label=gettext_lazy("Secondary check"), choices=Batch.CheckPolicy.choices, initial=Batch.CheckPolicy.ALL
    )
    check_percent = forms.FloatField(
        label=gettext_lazy("Share to check, %"), min_value=0, max_value=100, initial=20, required=False
    )
    due_date = forms.DateField(
        label=gettext_lazy("Due"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    seed = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=2**53)
    digest = forms.CharField(widget=forms.HiddenInput, required=False, max_length=16)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        groups = self.fields["group"]
        assert isinstance(groups, forms.ModelChoiceField)
        groups.queryset = ExpertGroup.objects.filter(benchmark=benchmark).order_by("name")
        self.fields["seed"].initial = new_seed()
        self.fields["title"].initial = _("Graded again after a new version")

    def terms(self) -> BatchTerms:
        """As the plan takes them; the form is valid."""
        data = self.cleaned_data
        percent = data.get("check_percent")
        return BatchTerms(
            title=data["title"],
            check_policy=data["check_policy"],
            check_fraction=(20 if percent is None else percent) / 100,
            due_date=data.get("due_date"),
            seed=data["seed"],
        )
