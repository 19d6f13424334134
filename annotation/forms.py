"""What people send, validated before a service sees it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Outcome, RulingOutcome
from annotation.services import DecisionInput


class DecisionForm(forms.Form):
    """The whole state of one decision, as the grading page saves it."""

    outcome = forms.ChoiceField(choices=[("", ""), *Outcome.choices], required=False)
    borderline = forms.BooleanField(required=False)
    note = forms.CharField(required=False, max_length=5_000, strip=False)
    evidence = forms.JSONField(required=False)
    version = forms.IntegerField(min_value=0)
    client_id = forms.UUIDField()

    def clean_evidence(self) -> list[Any]:
        """A list of objects; the service looks at their offsets."""
        value = self.cleaned_data["evidence"] or []
        if not isinstance(value, list) or not all(isinstance(span, dict) for span in value):
            raise forms.ValidationError(_("Evidence is a list of passages."))
        return value

    def change(self, criterion: int) -> DecisionInput:
        """The cleaned decision for the service."""
        data = self.cleaned_data
        return DecisionInput(
            criterion=criterion,
            outcome=data["outcome"] or None,
            borderline=data["borderline"],
            note=data["note"].replace("\r\n", "\n").strip(),
            evidence=data["evidence"],
            version=data["version"],
            client_id=data["client_id"],
        )


class AmendmentForm(forms.Form):
    """A checker's other outcome, with the reason."""

    outcome = forms.ChoiceField(choices=Outcome.choices)
    reason = forms.CharField(required=False, max_length=2_000)


class RulingForm(forms.Form):
    """An adjudicator's word on a conflict."""

    outcome = forms.ChoiceField(choices=RulingOutcome.choices)
    reason = forms.CharField(required=False, max_length=2_000)


class ReturnForm(forms.Form):
    """Why work is sent back."""

    note = forms.CharField(label=_("What to look at again"), max_length=5_000, widget=forms.Textarea(attrs={"rows": 4}))
