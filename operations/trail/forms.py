"""Filters of the trail of changes, on pages and in the API."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_PERSON_NAME_LENGTH
from operations.security_log.forms import MomentField, refuse_reversed
from operations.trail.kinds import OF_BENCHMARKS, OF_SERVER, TrailKind, subjects_of


def subject_of(kinds: tuple[TrailKind, ...]) -> forms.ChoiceField:
    """The choice of a subject that occurs in ``kinds``."""
    choices = [("", _("All")), *subjects_of(kinds).items()]
    return forms.ChoiceField(label=_("Changes of"), required=False, choices=choices)


class TrailFilters(forms.Form):
    """What was changed, by whom, and when."""

    subject = subject_of(OF_BENCHMARKS)
    person = forms.CharField(label=_("Name or email address"), required=False, max_length=MAX_PERSON_NAME_LENGTH)
    since = MomentField(label=_("From"), required=False)
    until = MomentField(label=_("Until"), required=False)

    def __init__(self, *args: Any, kinds: tuple[TrailKind, ...], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["subject"] = subject_of(kinds)

    def clean(self) -> dict[str, Any]:
        """Refuse a period that ends before it begins."""
        cleaned = super().clean() or self.cleaned_data
        refuse_reversed(cleaned.get("since"), cleaned.get("until"))
        return cleaned


class ServerTrailFilters(TrailFilters):
    """The same, with the subjects of the server's trail."""

    subject = subject_of(OF_SERVER)
