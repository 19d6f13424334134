"""Forms of rubric sets: a frame, a new set, two sets to be compared."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db import models
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.language_tags import MAX_LANGUAGE_LENGTH
from consilium.core.languages import language_name
from consilium.core.limits import MAX_DESCRIPTION_LENGTH, MAX_RUBRIC_SET_NAME_LENGTH
from drafting.models import DraftingRun
from rubrics.models import Benchmark
from rubrics.selectors import lists
from validation.sets import selectors
from validation.sets.frames import MAX_TAGS, Frame, frame_of, range_of


class SourceChoice(models.TextChoices):
    TRACK = "track", _("Published rubrics of a track")
    FILE = "file", _("A file")
    RUN = "run", _("A drafting run")
    GENERIC = "generic", _("Generic criteria")


def _range(value: str) -> str:
    """What a field of a range holds; `ValidationError` where it is none."""
    try:
        range_of(value)
    except DomainError as error:
        raise forms.ValidationError(str(error)) from error
    return value


class FrameForm(forms.Form):
    """Where the criteria come from, and which cases the set is to hold."""

    source = forms.ChoiceField(
        label=_("Criteria"), choices=SourceChoice.choices, initial=SourceChoice.TRACK, widget=forms.RadioSelect
    )
    track = forms.ChoiceField(
        label=_("Track"),
        error_messages={"required": _("Choose a track. If there is none, the benchmark has no published rubrics.")},
    )
    run = forms.ChoiceField(
        label=_("Drafting run"),
        help_text=_("All drafted criteria are copied, regardless of physicians’ decisions on them."),
        error_messages={"required": _("Choose a run. If there is none, no drafting run has ended in this benchmark.")},
    )
    criteria = forms.CharField(
        label=_("Number of criteria"),
        max_length=20,
        required=False,
        help_text=_("Number of criteria in the case’s gold rubric: a number, or a range such as 8-10."),
    )
    axes = forms.CharField(
        label=_("Number of axes"),
        max_length=20,
        required=False,
        help_text=_("Number of different axes among these criteria: a number or a range."),
    )
    language = forms.ChoiceField(label=_("Language"), required=False)
    tags = forms.CharField(
        label=_("Tags of the case"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One per line. A case must have all of them."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        track, language = self.fields["track"], self.fields["language"]
        assert isinstance(track, forms.ChoiceField)
        assert isinstance(language, forms.ChoiceField)
        track.required = not self.is_bound or self.data.get("source") == SourceChoice.TRACK
        track.choices = [(name, name) for name in selectors.tracks(benchmark)]
        drafted = self.fields["run"]
        assert isinstance(drafted, forms.ChoiceField)
        drafted.required = self.is_bound and self.data.get("source") == SourceChoice.RUN
        self.runs = {run.public_id: run for run in selectors.drafting_runs(benchmark)}
        drafted.choices = [(public_id, _run_words(run)) for public_id, run in self.runs.items()]
        codes = [code for code in lists.languages(benchmark) if code and len(code) <= MAX_LANGUAGE_LENGTH]
        language.choices = [("", _now("All")), *((code, language_name(code)) for code in codes)]

    def clean_criteria(self) -> str:
        """Refuse what is no range."""
        return _range(self.cleaned_data["criteria"])

    def clean_axes(self) -> str:
        """Refuse what is no range."""
        return _range(self.cleaned_data["axes"])

    def clean_tags(self) -> str:
        """Refuse too many tags."""
        value = str(self.cleaned_data["tags"]).replace("\r\n", "\n")
        if len([tag for tag in value.split("\n") if tag.strip()]) > MAX_TAGS:
            raise forms.ValidationError(_now("At most %(n)d tags.") % {"n": MAX_TAGS})
        return value

    def clean(self) -> dict[str, Any]:
        """Check that the frame can be read as a whole."""
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.frame()
            except DomainError as error:
                self.add_error(None, str(error))
        return cleaned

    def frame(self) -> Frame:
        """The frame of a valid form."""
        values = self.cleaned_data
        return frame_of(
            criteria=values["criteria"],
            axes=values["axes"],
            language=values["language"],
            tags=values["tags"].split("\n"),
        )

    def track_to_copy(self) -> str:
        """The track, if the criteria come from one."""
        return self.cleaned_data["track"] if self.cleaned_data["source"] == SourceChoice.TRACK else ""

    def run_to_copy(self) -> DraftingRun | None:
        """The run of drafting, if the criteria come from one."""
        return self.runs[self.cleaned_data["run"]] if self.cleaned_data["source"] == SourceChoice.RUN else None


def _run_words(run: DraftingRun) -> str:
    words = _now("%(name)s, version %(version)s") % {"name": run.recipe_name, "version": run.recipe_version}
    date = date_format(localtime(run.created_at), "SHORT_DATETIME_FORMAT")
    return f"{words} · {date} · {run.public_id}"


class RubricSetForm(FrameForm):
    """A new set."""

    file = forms.FileField(
        label=_("File with criteria"),
        required=False,
        help_text=_("JSONL, or a table of criteria as CSV or XLSX with a column for the case."),
    )
    mend = forms.BooleanField(
        label=_("Fix points and axes that cannot be used"),
        required=False,
        help_text=_(
            "Otherwise they count as errors. Points are read from text, rounded or limited to ±10; a "
            "criterion without usable points is omitted; an unknown axis is left empty. The set lists "
            "every fix."
        ),
    )
    name = forms.CharField(label=_("Name"), max_length=MAX_RUBRIC_SET_NAME_LENGTH)
    description = forms.CharField(
        label=_("Description"),
        max_length=MAX_DESCRIPTION_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def clean(self) -> dict[str, Any]:
        """Check that there is a file if the criteria come from one."""
        cleaned = super().clean()
        if cleaned.get("source") == SourceChoice.FILE and not cleaned.get("file") and "file" not in self.errors:
            self.add_error("file", _now("Choose the file."))
        return cleaned

    def options(self) -> dict[str, str]:
        """The options of an import of the file."""
        names = ("name", "description", "criteria", "axes", "language", "tags")
        values = {name: str(self.cleaned_data[name]) for name in names}
        return {**values, "mend": "1" if self.cleaned_data["mend"] else ""}


class PairForm(forms.Form):
    """Two sets of a benchmark."""

    first = forms.ChoiceField(label=_("First set"))
    second = forms.ChoiceField(label=_("Second set"))

    def __init__(self, *args: Any, user: User, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(row.public_id, row.name) for row in selectors.rubric_sets(user, benchmark)]
        for name in ("first", "second"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Refuse one set twice: all of it would be equal."""
        data = super().clean() or {}
        if data.get("first") and data.get("first") == data.get("second"):
            self.add_error("second", _("This is the first set. Choose another set to compare with it."))
        return data
