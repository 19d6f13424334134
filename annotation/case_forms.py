"""Forms that choose the cases given to a group, for label questions or for writing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.labels.batches import CaseFilter
from annotation.models import ExpertGroup
from consilium.core.commands import CommandForm, form_field
from consilium.core.languages import language_name
from rubrics.models import Benchmark


class CaseBatchForm(CommandForm):
    """Who gets which cases until when; the preview and the batch are made from the same fields."""

    field_order: tuple[str, ...] = ("title", "group", "tags", "languages", "difficulties", "due_date", "seed", "digest")
    group = forms.ModelChoiceField(
        label=_("Expert group"), queryset=ExpertGroup.objects.none(), to_field_name="public_id"
    )
    tags = form_field(CaseFilter, "tags", widget=forms.SelectMultiple(attrs={"size": 6}))
    digest = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, benchmark: Benchmark, tags: list[tuple[str, int]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        group, languages, labelled = self.fields["group"], self.fields["languages"], self.fields["tags"]
        assert isinstance(group, forms.ModelChoiceField)
        assert isinstance(languages, forms.MultipleChoiceField)
        assert isinstance(labelled, forms.MultipleChoiceField)
        group.queryset = benchmark.groups.all()
        group.empty_label = None
        known = benchmark.cases.exclude(language="").order_by("language").values_list("language", flat=True).distinct()
        languages.choices = [(tag, language_name(tag)) for tag in known]
        labelled.choices = [(tag, f"{tag} ({count})") for tag, count in tags]

    @property
    def filters(self) -> list[forms.BoundField]:
        """Rows of boxes that have something to choose from."""
        rows = [self[name] for name in ("languages", "difficulties")]
        return [row for row in rows if len(list(row.field.choices)) > 1]  # type: ignore[attr-defined]
