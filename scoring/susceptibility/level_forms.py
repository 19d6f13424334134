"""The form that measures how far texts in a response move the level that a judge reads."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from scoring.forms import RunForm
from scoring.runs.services import MAX_DRAW_SEED
from scoring.susceptibility.level_services import MAX_MEASURED
from scoring.susceptibility.level_texts import LEVEL_REPLICATES


class LevelMeasurementForm(forms.Form):
    """How many responses, drawn by which seed, and what it may spend."""

    responses = forms.IntegerField(
        label=_("Responses"),
        min_value=1,
        max_value=MAX_MEASURED,
        initial=20,
        help_text=_("Each response is requested about %(n)s times.") % {"n": LEVEL_REPLICATES},
    )
    seed = forms.IntegerField(label=_("Seed for the draw"), min_value=0, max_value=MAX_DRAW_SEED, initial=0)
    budget = RunForm.base_fields["budget"]
