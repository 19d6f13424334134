"""Filters of the security log, on pages and in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_PERSON_NAME_LENGTH
from operations.security_log.words import GROUP_LABELS


def moment(label: Any) -> forms.DateTimeField:
    """A field for a moment, in the time zone of the reader if it names none."""
    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    return forms.DateTimeField(label=label, required=False, widget=widget)


def refuse_reversed(since: datetime | None, until: datetime | None) -> None:
    """`ValidationError` where the end is before the beginning."""
    if since and until and until < since:
        raise ValidationError({"until": _("The end is before the beginning.")})


class OwnFilters(forms.Form):
    """What everybody may filter their own lines by."""

    group = forms.ChoiceField(
        label=_("Events"),
        required=False,
        choices=[("", _("All")), *((key, text) for key, text in GROUP_LABELS.items())],
    )
    since = moment(_("From"))
    until = moment(_("Until"))

    def clean(self) -> dict[str, Any]:
        """Refuse a period that ends before it begins."""
        cleaned = super().clean() or self.cleaned_data
        refuse_reversed(cleaned.get("since"), cleaned.get("until"))
        return cleaned


class BenchmarkFilters(OwnFilters):
    """The same, and the person."""

    person = forms.CharField(label=_("Name or email address"), required=False, max_length=MAX_PERSON_NAME_LENGTH)
    field_order = ["person"]


class LogFilters(BenchmarkFilters):
    """The same, and the network address, for operators."""

    address = forms.GenericIPAddressField(label=_("Network address"), required=False)
    field_order = ["person", "group", "address"]
