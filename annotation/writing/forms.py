"""Forms of writing batches for admins, and of the writing page."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from annotation.case_forms import CaseBatchForm
from annotation.models import Batch
from annotation.payload import HALVES, LARGEST_VERSION, Malformed
from annotation.writing.services import MAX_TEXT_LENGTH, TextInput
from annotation.writing.writing_plan import DEFAULT_CANDIDATE, MAX_REFERENCES, WritingFilter, WritingOrder
from rubrics.models import Benchmark, Candidate


class WritingBatchForm(CaseBatchForm):
    """Which cases a group writes to, and beside what; the same fields draw the preview and give the cases out."""

    candidate = forms.CharField(
        label=_("Written for the candidate"),
        max_length=200,
        initial=DEFAULT_CANDIDATE,
        help_text=_("A physician’s candidate of the benchmark, or a new name; each response is a sample of it."),
        widget=forms.TextInput(attrs={"list": "physicians", "autocomplete": "off"}),
    )
    mode = forms.ChoiceField(
        label=_("How it is written"),
        choices=[
            ("unaided", _("Unaided: the writer sees the conversation alone")),
            ("aided", _("With references: answers of chosen candidates stand beside the editor")),
        ],
        initial="unaided",
        widget=forms.RadioSelect,
    )
    mode_name = forms.CharField(
        label=_("Name of the mode"),
        max_length=100,
        required=False,
        help_text=_("As the study calls it, such as “older models”; kept with each response."),
    )
    references = forms.ModelMultipleChoiceField(
        label=_("References"),
        queryset=Candidate.objects.none(),
        to_field_name="public_id",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    instructions = forms.CharField(
        label=_("Instructions"),
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("Stand above the editor, after what every writer is told. Markdown."),
    )
    writers_per_case = forms.IntegerField(
        label=_("Writers per case"), min_value=1, max_value=20, initial=1, help_text=_("Each writes alone.")
    )
    specialty_match = forms.ChoiceField(
        label=_("Specialty"),
        choices=Batch.SpecialtyMatch.choices,
        initial=Batch.SpecialtyMatch.NONE,
        help_text=_("The writer’s specialty beside the first specialty tag of the case."),
    )
    skip_written = forms.BooleanField(
        label=_("Leave out cases that have, or are to get, such a response"), required=False, initial=True
    )
    draw = forms.IntegerField(
        label=_("How many"), min_value=1, required=False, help_text=_("Drawn at random from what matches; empty: all.")
    )

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
            data["references"] = []  # boxes that were ticked before the mode was changed mean nothing
        elif chosen is not None and len(chosen) > MAX_REFERENCES:
            self.add_error("references", _now("At most %(most)d references are shown.") % {"most": MAX_REFERENCES})
        return data

    def case_filter(self) -> WritingFilter:
        """The cleaned filter."""
        data = self.cleaned_data
        return WritingFilter(data["tags"], data["languages"], data["difficulties"], data["skip_written"], data["draw"])

    def order(self) -> WritingOrder:
        """The cleaned order; a title that is not written yet does not keep the preview from being drawn."""
        data = self.cleaned_data
        return WritingOrder(
            group=data["group"],
            title=data.get("title", ""),
            seed=data["seed"],
            mode=data["mode"],
            candidate=data["candidate"],
            mode_name=data["mode_name"],
            references=list(data["references"]),
            instructions=data["instructions"].replace("\r\n", "\n"),
            writers_per_case=data["writers_per_case"],
            specialty_match=data["specialty_match"],
            due_date=data["due_date"],
        )


def storable(text: str) -> str:
    """A text as it can be stored: what no database takes becomes U+FFFD, so that the rest is not held up."""
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
        raise Malformed(_now("This is not what the page sends; load it again.")) from None
