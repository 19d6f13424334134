"""Forms of collections and documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.files.base import ContentFile, File
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from consilium.core.commands import CommandForm, command_of, form_field
from consilium.core.i18n import translate
from consilium.core.languages import language_choices, language_name, language_named
from consilium.core.limits import MAX_DOCUMENT_KEY_LENGTH
from documents import selectors
from documents.models import Document
from documents.services.described import DETAILS, LICENCE, check_key, describe
from documents.services.reading import FORMATS, URLS
from documents.services.terms import HIGHEST_TIER, LOWEST_TIER, CollectionTerms, DocumentDetails, LicenceTerms
from rubrics.models import Benchmark
from rubrics.parsing.faults import Faults

MAX_FILES = 50  # in one upload
MAX_ADDRESSES_CHARACTERS = 200_000
TIERS = [(number, str(number)) for number in range(HIGHEST_TIER, LOWEST_TIER + 1)]
ALL, NOT_GIVEN = ("", _("All")), ("", _("Not given"))


class CollectionForm(CommandForm):
    """A collection's name and description."""

    commands = (CollectionTerms,)
    description = form_field(CollectionTerms, "description", widget=forms.Textarea(attrs={"rows": 3}))
    field_order = ("name", "description")


class DocumentFilters(forms.Form):
    """The filters of the list of documents; anything that is not offered is refused."""

    q = forms.CharField(
        label=_("Title, publisher or key"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    collection = forms.ChoiceField(label=_("Collection"), required=False)
    kind = forms.ChoiceField(label=_("Kind"), required=False, choices=[ALL, *Document.Kind.choices])
    language = forms.ChoiceField(label=_("Language"), required=False)
    jurisdiction = forms.ChoiceField(label=_("Jurisdiction"), required=False)
    tier = forms.ChoiceField(label=_("Tier"), required=False, choices=[ALL, *TIERS])
    state = forms.ChoiceField(
        label=_("State"),
        required=False,
        choices=[("", selectors.STATES[selectors.IN_USE]), *list(selectors.STATES.items())[1:]],
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        variety = selectors.variety_of(benchmark)
        self._offer("collection", variety.collections)
        self._offer("language", [(code, language_name(code)) for code in variety.languages])
        self._offer("jurisdiction", [(code, code) for code in variety.jurisdictions])

    def _offer(self, name: str, choices: Sequence[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [ALL, *choices]


class Jurisdictions(forms.CharField):
    """Codes of jurisdictions, separated by commas or blanks."""

    def prepare_value(self, value: Any) -> Any:
        """Show a list as it is written."""
        return ", ".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        """The codes."""
        return [code for code in re.split(r"[,;\s]+", super().to_python(value) or "") if code]


class LanguageField(forms.CharField):
    """A language, by its name or its code, with the common ones offered."""

    widget = forms.TextInput(attrs={"list": "document-languages", "autocomplete": "off"})

    def prepare_value(self, value: Any) -> Any:
        """Show the name, where it is read back as the same language."""
        name = language_name(value) if isinstance(value, str) and value else value
        try:
            return name if name and language_named(name) == value else value
        except ValueError:
            return value

    def to_python(self, value: Any) -> str:
        """The code."""
        text = str(super().to_python(value) or "")
        try:
            return language_named(text) if text else ""
        except ValueError:
            message = _now("This language is not known. Choose a suggestion, or enter a code such as en or zh-Hans.")
            raise forms.ValidationError(message) from None


def _described_field(name: str, **options: Any) -> forms.Field:
    return form_field(DocumentDetails, name, required=False, **options)


class DescribedForm(CommandForm):
    """What describes a document, with its licence; both are checked as those of a file."""

    commands = (DocumentDetails, LicenceTerms)
    kind = _described_field("kind")
    tier = _described_field("tier", field_class=forms.TypedChoiceField, coerce=int, choices=TIERS)
    audience = _described_field("audience", choices=[NOT_GIVEN, *Document.Audience.choices])
    jurisdictions = _described_field("jurisdictions", field_class=Jurisdictions)
    language = LanguageField(label=_("Language"), required=False)
    field_order = (*DETAILS, *LICENCE)

    @property
    def languages(self) -> list[tuple[str, str]]:
        """The languages that are offered: code and name."""
        return language_choices()

    def clean(self) -> dict[str, Any]:
        """Check what the fields say together."""
        cleaned = super().clean() or {}
        if not self.errors:
            faults = Faults()
            values = {name: value for name, value in cleaned.items() if value not in ("", None)}
            describe({"title": "–", **values}, line=0, faults=faults)
            for fault in faults.first:
                self.add_error(fault.field if fault.field in self.fields else None, translate(fault.message))
        return cleaned


class ManyFilesInput(forms.ClearableFileInput):
    """A file input that takes several files."""

    allow_multiple_selected = True


class ManyFiles(forms.FileField):
    """Any number of files up to `MAX_FILES`."""

    widget = ManyFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[File]:
        """Each file, checked as one."""
        files = data if isinstance(data, list | tuple) else [data] if data else []
        if len(files) > MAX_FILES:
            raise forms.ValidationError(_now("Choose at most %(n)d files at once.") % {"n": MAX_FILES})
        check = super().clean
        return [check(file, initial) for file in files]


class ImportDocumentsForm(DescribedForm):
    """Files or addresses to import into a collection, and what holds for all of them."""

    file = ManyFiles(
        label=_("Files"),
        required=False,
        help_text=_("PDF, HTML, Markdown, plain text or JSONL. Each file is imported completely or not at all."),
    )
    urls = forms.CharField(
        label=_("Or addresses, one per line"),
        required=False,
        max_length=MAX_ADDRESSES_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_("A worker fetches them, and only from hosts that the operator of this site has listed."),
    )
    format = forms.ChoiceField(
        label=_("Format"),
        required=False,
        choices=[("", _("Detect from content")), *((name, name) for name in FORMATS if name != URLS)],
    )
    key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=MAX_DOCUMENT_KEY_LENGTH,
        help_text=_(
            "The name by which later editions of the document are recognized. If empty, the file name is used."
        ),
    )
    title = _described_field("title", help_text=_("If empty, the title in the document is used."))
    field_order = ("file", "urls", "format", "key", *DETAILS, *LICENCE)

    OPTIONS = ("format", "key", *DETAILS, *LICENCE)

    def clean_key(self) -> str:
        """Refuse a key that could not name a document."""
        key = str(self.cleaned_data["key"])
        if key and (problem := check_key(key)):
            raise forms.ValidationError(translate(problem))
        return key

    def clean(self) -> dict[str, Any]:
        """Files or addresses; a key, a title and an address only for one file."""
        cleaned = super().clean()
        files, urls = cleaned.get("file") or [], (cleaned.get("urls") or "").strip()
        if bool(files) == bool(urls) and not {"file", "urls"} & set(self.errors):
            self.add_error("file", _now("Choose files or enter addresses."))
        for name in ("key", "title", "url"):
            if cleaned.get(name) and (urls or len(files) > 1):
                self.add_error(name, _now("This can be set only for a single file."))
        return cleaned

    def ask_for_files_again(self) -> None:
        """Say at the field that the chosen files are gone: no browser keeps them when a form comes back."""
        if self.files:
            self.add_error("file", _now("Choose the file again: it was not kept, because the form has errors."))

    def uploads(self) -> list[tuple[File, str]]:
        """The files with their names; addresses are a file of their own."""
        if urls := self.cleaned_data["urls"].strip():
            return [(ContentFile(urls.encode()), _now("addresses") + ".txt")]
        return [(file, file.name or "") for file in self.cleaned_data["file"]]

    def options(self) -> dict[str, str]:
        """What was stated, as options of the imports."""
        stated = {name: _as_option(self.cleaned_data.get(name)) for name in self.OPTIONS}
        if self.cleaned_data["urls"].strip():
            stated["format"] = URLS
        return {name: value for name, value in stated.items() if value}


def _as_option(value: Any) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return "1"
    return ", ".join(value) if isinstance(value, list | tuple) else str(value)


def details_of(form: forms.Form) -> DocumentDetails:
    """The details that a valid form holds."""
    return command_of(DocumentDetails, _stated(form))


def licence_of(form: forms.Form) -> LicenceTerms:
    """The licence that a valid form holds."""
    return command_of(LicenceTerms, _stated(form))


def collection_terms_of(form: forms.Form) -> CollectionTerms:
    """The name and description that a valid form holds."""
    return command_of(CollectionTerms, form.cleaned_data)


def _stated(form: forms.Form) -> dict[str, Any]:
    return {name: value for name, value in form.cleaned_data.items() if value != ""}
