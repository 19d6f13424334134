"""The form that takes a list of people."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.notices import PARTS
from consilium.core.limits import MAX_GROUP_NAME_LENGTH
from rubrics.tables.workbooks import is_workbook

MAX_FILE_BYTES = 1 << 20
EXAMPLE = (
    "email,name,role,group,specialty,capacity,languages\n"
    "ann@example.org,Ann Example,annotator,Group A,neurology,20,en; de"
)


class PeopleForm(forms.Form):
    """A pasted list or a file, and what is meant where a row names no role or group."""

    text = forms.CharField(
        label=_("List"),
        required=False,
        max_length=MAX_FILE_BYTES,
        help_text=_(
            "One person per line: email address, name, role, group, specialty, capacity, languages. Only the "
            "address is required. Paste from a spreadsheet, or separate the cells with commas; a heading "
            "line can give the columns in another order. Capacity is the maximum number of responses that an "
            "annotator has open at the same time; leave it empty for no limit. "
            "Languages are those that the person reads, with semicolons between them; they can be changed in the "
            "profile."
        ),
        widget=forms.Textarea(attrs={"rows": 8, "placeholder": EXAMPLE, "spellcheck": "false"}),
    )
    file = forms.FileField(
        label=_("Or a file"), required=False, help_text=_("Instead of the list: CSV or XLSX with the same columns.")
    )
    role = forms.ChoiceField(label=_("Default role"), choices=list(PARTS.items()), initial="annotator")
    group = forms.CharField(
        label=_("Default group"),
        required=False,
        max_length=MAX_GROUP_NAME_LENGTH,
        help_text=_("A group that does not exist yet is created."),
        widget=forms.TextInput(attrs={"list": "known-groups", "autocomplete": "off"}),
    )
    digest = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def clean_file(self) -> Any:
        """Refuse a file that no list of people needs."""
        file = self.cleaned_data["file"]
        if file is not None and file.size > MAX_FILE_BYTES:
            raise forms.ValidationError(_("The file is larger than %(n)s MiB."), params={"n": MAX_FILE_BYTES >> 20})
        if file is not None and file.name.lower().endswith(".xlsx") and not is_workbook(file):
            raise forms.ValidationError(_("This is not a workbook (XLSX) that can be read."))
        return file

    def clean(self) -> dict[str, Any]:
        """Either a list or a file."""
        data: dict[str, Any] = super().clean() or {}
        if not self.errors and not (data.get("text") or "").strip() and data.get("file") is None:
            self.add_error("text", _("Paste a list, or choose a file."))
        return data
