"""The form that gives responses of a judge's run to physicians to read."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.labels.advice import ReadTerms
from annotation.models import ExpertGroup
from consilium.core.commands import CommandForm, command_of, form_field
from rubrics.models import Benchmark


class ReadBatchForm(CommandForm):
    """Which group reads how many responses; the preview and the batch are made from the same fields."""

    commands = (ReadTerms,)
    field_order = ("title", "group", "readers", "size", "seed", "due_date", "digest")
    group = forms.ModelChoiceField(label=_("Group"), queryset=ExpertGroup.objects.none(), to_field_name="public_id")
    readers = form_field(ReadTerms, "readers", initial=2)
    size = form_field(ReadTerms, "size", initial=30)
    digest = forms.CharField(required=False, widget=forms.HiddenInput, max_length=64)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        group = self.fields["group"]
        assert isinstance(group, forms.ModelChoiceField)
        group.queryset = benchmark.groups.order_by("name")
        if group.queryset.count() == 1:
            group.initial = group.queryset.get().public_id

    def terms(self) -> ReadTerms:
        """The cleaned terms; the preview may lack a title."""
        return command_of(ReadTerms, self.cleaned_data)
