"""Filters of the security log, on pages and in the API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_PERSON_NAME_LENGTH
from operations.security_log.words import GROUP_LABELS


class MomentField(forms.DateTimeField):
    """A moment, in the time zone of the reader if it names none; its value is in UTC."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def to_python(self, value: Any) -> datetime | None:
        """PostgreSQL refuses offsets of 16 hours and more, which Python takes."""
        moment = super().to_python(value)
        try:
            return moment and moment.astimezone(UTC)
        except OverflowError as error:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error


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
    since = MomentField(label=_("From"), required=False)
    until = MomentField(label=_("Until"), required=False)

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
