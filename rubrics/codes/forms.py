"""Forms of a code book: one code, a file, and a reason for the next version."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_REASON_LENGTH
from rubrics.codes.code import MAX_CODE_KEY_LENGTH, MAX_CODE_TEXT_LENGTH, MAX_CODE_TITLE_LENGTH, Code
from rubrics.codes.selectors import FIELD_WORDS, SEVERITY_WORDS


def _short(name: str, help_text: Any = "", *, required: bool = False) -> forms.CharField:
    return forms.CharField(
        label=FIELD_WORDS[name], max_length=MAX_CODE_TITLE_LENGTH, required=required, help_text=help_text
    )


def _long(name: str, help_text: Any = "", *, required: bool = False, rows: int = 2) -> forms.CharField:
    return forms.CharField(
        label=FIELD_WORDS[name],
        max_length=MAX_CODE_TEXT_LENGTH,
        required=required,
        help_text=help_text,
        widget=forms.Textarea(attrs={"rows": rows}),
    )


class CodeForm(forms.Form):
    """One code. ``seen`` is the digest of the code book that the page showed."""

    key = forms.CharField(
        label=_("Key"),
        max_length=MAX_CODE_KEY_LENGTH,
        help_text=_("Small letters, digits and hyphens, such as missed-red-flag. It is used in files and tables."),
    )
    title_en = _short("title_en", required=True)
    title_zh = _short("title_zh", _("Without a Chinese text, pages in Chinese show the English one."))
    group_en = _short("group_en", _("Codes with the same group are shown together."))
    group_zh = _short("group_zh")
    definition_en = _long("definition_en", required=True)
    definition_zh = _long("definition_zh")
    applies_en = _long("applies_en")
    applies_zh = _long("applies_zh")
    not_en = _long("not_en", _("For example the code that is meant instead."))
    not_zh = _long("not_zh")
    examples_en = _long("examples_en", _("One on each line."), rows=3)
    examples_zh = _long("examples_zh", rows=3)
    severity = forms.ChoiceField(
        label=_("Severity"), required=False, choices=[("", _("Not given")), *SEVERITY_WORDS.items()]
    )
    note = forms.CharField(
        label=_("What changes, and why"),
        max_length=MAX_REASON_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def code(self, was: tuple[str, ...]) -> Code:
        """The code as the service takes it."""
        data: dict[str, Any] = {
            # Browsers end lines with two characters, files with one.
            name: value.replace("\r\n", "\n").strip()
            for name, value in self.cleaned_data.items()
            if name not in ("note", "seen")
        }
        for name in ("examples_en", "examples_zh"):
            data[name] = tuple(dict.fromkeys(line.strip() for line in data[name].splitlines() if line.strip()))
        return Code(**data, was=was)


def initial_of(code: Code) -> dict[str, Any]:
    """What the form of a stored code begins with."""
    stored = code.stored()
    return {**stored, "examples_en": "\n".join(code.examples_en), "examples_zh": "\n".join(code.examples_zh)}


class CodesFileForm(forms.Form):
    """A code book in a file, which replaces the codes."""

    file = forms.FileField(label=_("File"), help_text=_("CSV or JSONL in UTF-8."))
    note = forms.CharField(label=_("What changes, and why"), max_length=MAX_REASON_LENGTH, required=False)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
