"""The form of runs that code; `scoring.coding.config` alone validates settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.commands import command_fields, command_of, form_field
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_JUDGE_NAME_LENGTH
from rubrics.models import Benchmark, Candidate, CodeBook
from scoring.coding.choosing import ChosenResponses, CodingFrame, choose_responses
from scoring.coding.config import CodingConfig
from scoring.coding.runs import checked_settings
from scoring.pipelines.run_form import RunForm


class CodingForm(RunForm):
    """A judge, a code book, responses, endpoint and settings; the same fields serve to count and to begin.

    ``chosen`` and ``checked`` are the responses and the settings once both were accepted.
    """

    settings_of = CodingConfig
    not_settings = ("budget", "book", *command_fields(CodingFrame))

    judge = forms.CharField(
        label=_("Name of the judge"),
        max_length=MAX_JUDGE_NAME_LENGTH,
        help_text=_("Reports know it by this name. Of several finished runs under one name, the newest counts."),
    )
    book = forms.ChoiceField(
        label=_("Code book"), help_text=_("Once a run has begun, this version of the code book can no longer change.")
    )
    language = forms.ChoiceField(
        label=_("Language of the codes"),
        choices=[("en", _("English")), ("zh", _("Chinese"))],
        help_text=_("In which the model reads titles, definitions and examples."),
    )
    criteria = forms.BooleanField(
        label=_("Show the criteria of the rubric"),
        required=False,
        help_text=_("A code can then be tied to the criterion that it is about."),
    )
    by_physicians = form_field(CodingFrame, "by_physicians")
    candidates = form_field(
        CodingFrame, "candidates", forms.MultipleChoiceField, widget=forms.CheckboxSelectMultiple, initial=None
    )
    responses = form_field(CodingFrame, "responses", min_value=1, required=False, initial=None)
    draw_seed = form_field(CodingFrame, "draw_seed", required=False, initial=None)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.offer_keys(benchmark)
        self.chosen: ChosenResponses | None = None
        self.checked: CodingConfig | None = None
        books = [book for book in CodeBook.objects.filter(benchmark=benchmark).order_by("-version") if book.codes]
        self.books = {str(book.version): book for book in books}
        self.fields["seed"].help_text = _("Leave empty to send no seed.")
        names = Candidate.objects.filter(benchmark=benchmark).order_by("name").values_list("name", flat=True)
        for field, choices in (
            ("book", [(version, str(book)) for version, book in self.books.items()]),
            ("candidates", [(name, name) for name in names]),
        ):
            own = self.fields[field]
            assert isinstance(own, forms.ChoiceField)
            own.choices = choices

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the settings refuse it."""
        values = super().clean()
        if "book" in values and "candidates" in values:
            try:
                self.checked = checked_settings(self.chosen_book, self.config())
            except DomainError as error:
                self.refuse(error)
            try:
                self.chosen = choose_responses(self.benchmark, self.chosen_book, self.frame())
            except DomainError as error:
                self.add_error(None, str(error))
        return values

    @property
    def chosen_book(self) -> CodeBook:
        """The version to code by."""
        return self.books[self.cleaned_data["book"]]

    def frame(self) -> CodingFrame:
        """Which responses."""
        return command_of(CodingFrame, self.cleaned_data, candidates=tuple(self.cleaned_data.get("candidates", ())))
