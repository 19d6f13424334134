"""The form that signs a threshold."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agreement.calibration.thresholds import LARGEST_K
from consilium.core.limits import MAX_REASON_LENGTH


class SignForm(forms.Form):
    """k, why, and the version that was in force when the form was shown."""

    k = forms.IntegerField(label=_("Threshold k"), min_value=1, max_value=LARGEST_K)
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=MAX_REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Required if k differs from the calibrated value or has no calibration."),
    )
    seen = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def seen_again(self, version: int) -> SignForm:
        """The same form with its errors, for a user who has now seen ``version``."""
        data: dict[str, Any] = {name: self.data.get(name, "") for name in ("k", "reason")}
        again = SignForm({**data, "seen": str(version)})
        again.full_clean()
        for error in self.non_field_errors():
            again.add_error(None, error)
        return again
