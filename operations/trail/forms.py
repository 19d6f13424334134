"""Filters of the trail of changes, on pages and in the API."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_PERSON_NAME_LENGTH
from operations.security_log.forms import moment, refuse_reversed
from operations.trail.kinds import OF_BENCHMARKS, TrailKind, subjects_of


class TrailFilters(forms.Form):
    """What was changed, by whom, and when."""

    subject = forms.ChoiceField(
        label=_("Changes of"),
        required=False,
        choices=[("", _("All")), *subjects_of(OF_BENCHMARKS).items()],
    )
    person = forms.CharField(label=_("Name or email address"), required=False, max_length=MAX_PERSON_NAME_LENGTH)
    since = moment(_("From"))
    until = moment(_("Until"))

    def __init__(self, *args: Any, kinds: tuple[TrailKind, ...] = OF_BENCHMARKS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        subject = self.fields["subject"]
        assert isinstance(subject, forms.ChoiceField)
        subject.choices = [("", _("All")), *subjects_of(kinds).items()]

    def clean(self) -> dict[str, Any]:
        """Refuse a period that ends before it begins."""
        cleaned = super().clean() or self.cleaned_data
        refuse_reversed(cleaned.get("since"), cleaned.get("until"))
        return cleaned
