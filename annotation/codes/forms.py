"""Forms of coding: which responses a group codes, and who rules where codes differ."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.codes.batches import CodingTerms
from annotation.models import Batch, ExpertGroup
from consilium.core.commands import CommandForm, command_of, form_field
from rubrics.models import Benchmark, Candidate


class CodingBatchForm(CommandForm):
    """Which group codes which responses; the preview and the batch are made from the same fields."""

    commands = (CodingTerms,)
    field_order = (
        *("title", "group", "coders", "size", "same_as", "candidates", "difficulties", "tags", "criteria"),
        *("seed", "due_date", "digest"),
    )
    group = forms.ModelChoiceField(label=_("Group"), queryset=ExpertGroup.objects.none(), to_field_name="public_id")
    coders = form_field(CodingTerms, "coders", initial=2)
    size = form_field(CodingTerms, "size", initial=50)
    candidates = forms.MultipleChoiceField(label=_("Candidates"), required=False, widget=forms.CheckboxSelectMultiple)
    same_as = forms.ChoiceField(
        label=_("Same responses as"),
        required=False,
        help_text=_("A batch with codes of another group, so that the two groups can be compared."),
    )
    tags = forms.CharField(
        label=_("Tags"),
        required=False,
        max_length=2_000,
        help_text=_("Cases with any of these, separated by commas: theme:hedging, …"),
    )
    digest = forms.CharField(required=False, widget=forms.HiddenInput, max_length=64)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        group, candidates, same_as = (self.fields[name] for name in ("group", "candidates", "same_as"))
        assert isinstance(group, forms.ModelChoiceField)
        assert isinstance(candidates, forms.MultipleChoiceField)
        assert isinstance(same_as, forms.ChoiceField)
        group.queryset = benchmark.groups.order_by("name")
        if group.queryset.count() == 1:
            group.initial = group.queryset.get().public_id
        names = Candidate.objects.filter(benchmark=benchmark, responses__isnull=False).order_by("name")
        candidates.choices = [(name, name) for name in names.values_list("name", flat=True).distinct()]
        batches = Batch.objects.filter(group__benchmark=benchmark, frame__about="codes").select_related("group")
        same_as.choices = [("", _("None"))] + [
            (batch.public_id, f"{batch.title} ({batch.group.name})") for batch in batches.order_by("-created_at")
        ]

    def clean_tags(self) -> list[str]:
        """The tags that were separated by commas."""
        return [tag.strip() for tag in self.cleaned_data["tags"].split(",") if tag.strip()]

    def terms(self) -> CodingTerms:
        """The cleaned terms; the preview may lack a title."""
        return command_of(CodingTerms, self.cleaned_data)


class AskForRulingsForm(forms.Form):
    """Whose adjudicators rule on the responses whose codes differ."""

    group = forms.ModelChoiceField(
        label=_("Adjudicators of"), queryset=ExpertGroup.objects.none(), to_field_name="public_id", empty_label=None
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        group = self.fields["group"]
        assert isinstance(group, forms.ModelChoiceField)
        group.queryset = benchmark.groups.order_by("name")
