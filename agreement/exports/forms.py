"""The form that asks for a rater's decisions as a file."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from agreement.forms import choose, grouped
from agreement.selectors.rater_choices import RaterChoice


class ExportForm(forms.Form):
    """One of the raters that have ratings. ``ready``: there is at least one."""

    rater = forms.ChoiceField(label=_("Rater"))

    def __init__(self, offers: list[RaterChoice]) -> None:
        super().__init__(auto_id="export-%s")
        self.ready = bool(offers)
        choose(self, "rater", grouped(offers))
