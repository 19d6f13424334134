"""Forms of writing batches for admins, and of the writing page."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from annotation.case_forms import CaseBatchForm
from annotation.payload import HALVES, LARGEST_VERSION, Malformed
from annotation.writing.services import MAX_TEXT_LENGTH, TextInput
from annotation.writing.writing_plan import MAX_REFERENCES, WritingFilter, WritingOrder
from consilium.core.commands import command_of, form_field
from rubrics.models import Benchmark, Candidate


class WritingBatchForm(CaseBatchForm):
    """Which cases a group writes to, and with which references; preview and batch use the same fields."""

    commands = (WritingOrder, WritingFilter)
    field_order = (
        *CaseBatchForm.field_order,
        *("candidate", "mode", "mode_name", "references", "instructions", "writers_per_case", "specialty_match"),
        *("match_languages", "skip_written", "draw"),
    )
    candidate = form_field(
        WritingOrder, "candidate", widget=forms.TextInput(attrs={"list": "physicians", "autocomplete": "off"})
    )
    mode = form_field(
        WritingOrder,
        "mode",
        choices=[
            ("unaided", _("Unaided: the writer sees only the conversation")),
            ("aided", _("With references: answers of chosen candidates are shown beside the editor")),
        ],
        widget=forms.RadioSelect,
    )
    references = form_field(
        WritingOrder,
        "references",
        forms.ModelMultipleChoiceField,
        queryset=Candidate.objects.none(),
        to_field_name="public_id",
        widget=forms.CheckboxSelectMultiple,
    )
    instructions = form_field(WritingOrder, "instructions", widget=forms.Textarea(attrs={"rows": 4}))

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, benchmark=benchmark, **kwargs)
        references = self.fields["references"]
        assert isinstance(references, forms.ModelMultipleChoiceField)
        references.queryset = benchmark.candidates.filter(responses__isnull=False).distinct()

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        chosen = data.get("references")
        if data.get("mode") == "aided" and not chosen:
            self.add_error("references", _("Choose the candidates whose answers are shown."))
        elif data.get("mode") == "unaided":
            data["references"] = []  # ignore boxes that were ticked before the mode was changed
        elif chosen is not None and len(chosen) > MAX_REFERENCES:
            self.add_error("references", _now("At most %(most)d references are shown.") % {"most": MAX_REFERENCES})
        return data

    def case_filter(self) -> WritingFilter:
        """The cleaned filter."""
        return command_of(WritingFilter, self.cleaned_data)

    def order(self) -> WritingOrder:
        """The cleaned order; the preview can be drawn without a title."""
        data = self.cleaned_data
        return command_of(
            WritingOrder,
            data,
            references=list(data["references"]),
            instructions=data["instructions"].replace("\r\n", "\n"),
        )


def storable(text: str) -> str:
    """The text with characters that the database cannot store replaced by U+FFFD, so that the rest can be saved."""
    return HALVES.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def text_of(row: Any) -> TextInput:
    """A draft as the writing page sends it; `Malformed` where no page would send that."""
    types = {"text": str, "version": int, "client_id": str}
    try:
        values = dict(row)
        reference = values.pop("reference", None)
        if set(values) != set(types) or any(type(values[name]) is not types[name] for name in types):
            raise ValueError
        if reference is not None and type(reference) is not int:
            raise ValueError
        if not 0 < values["version"] <= LARGEST_VERSION or len(values["text"]) > 2 * MAX_TEXT_LENGTH:
            raise ValueError
        return TextInput(storable(values["text"]), reference, values["version"], UUID(values["client_id"]))
    except (KeyError, TypeError, ValueError):
        raise Malformed(_now("The request does not match the page. Reload the page.")) from None
