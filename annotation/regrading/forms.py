"""The form of a regrading batch."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import ExpertGroup
from annotation.services.batch_terms import BatchTerms, new_seed
from consilium.core.commands import command_of, form_field
from rubrics.models import Benchmark


class RegradingForm(forms.Form):
    """Group, title, secondary check, order and due date; the seed is a field of the form."""

    group = forms.ModelChoiceField(ExpertGroup.objects.none(), label=gettext_lazy("Group"), to_field_name="public_id")
    title = form_field(BatchTerms, "title")
    check_policy = form_field(BatchTerms, "check_policy")
    check_percent = forms.FloatField(
        label=gettext_lazy("Share to check, %"), min_value=0, max_value=100, initial=20, required=False
    )
    due_date = form_field(BatchTerms, "due_date")
    seed = form_field(BatchTerms, "seed", label=None, help_text="", widget=forms.HiddenInput, max_value=2**53)
    digest = forms.CharField(widget=forms.HiddenInput, required=False, max_length=16)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        groups = self.fields["group"]
        assert isinstance(groups, forms.ModelChoiceField)
        groups.queryset = ExpertGroup.objects.filter(benchmark=benchmark).order_by("name")
        self.fields["seed"].initial = new_seed()
        self.fields["title"].initial = _("Graded again after a new version")

    def terms(self) -> BatchTerms:
        """The terms for `plan_regrading`; the form must be valid."""
        data = self.cleaned_data
        percent = data.get("check_percent")
        return command_of(BatchTerms, data, check_fraction=(20 if percent is None else percent) / 100)
