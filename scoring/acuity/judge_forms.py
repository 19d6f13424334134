"""The form of a judge that reads levels of care."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from rubrics.models import Benchmark
from scoring.acuity.selectors import scale_names
from scoring.forms import AskingJudgeForm
from scoring.judges.config import AcuityConfig, InvalidConfig, acuity_config

# What a request of such a judge is about, and what becomes of it: a response, and a reading.
HELP = {
    "max_tokens": _("Per response."),
    "attempts": _("If the endpoint fails. After the last attempt the reading remains missing."),
    "re_asks": _("If an answer contains no reading. After the last repeat it counts as invalid."),
}


class AcuityJudgeForm(AskingJudgeForm):
    """A judge that says which level of a scale a response advises."""

    settings_of = AcuityConfig

    scale = forms.ChoiceField(
        label=_("Scale"), help_text=_("The levels and their definitions are the judge’s only instructions.")
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer_keys(benchmark)
        scale = self.fields["scale"]
        assert isinstance(scale, forms.ChoiceField)
        scale.choices = [(name, name) for name in scale_names(benchmark)]
        scale.initial = scale.initial or "four"
        for name, help_text in HELP.items():
            self.fields[name].help_text = help_text

    def clean(self) -> dict[str, Any]:
        """Show all that is wrong at once, whether the form or the judge's settings refuse it."""
        try:
            acuity_config({name: value for name, value in self.config().items() if name != "scale"})
        except InvalidConfig as error:
            self.refuse(error)
        return self.cleaned_data


class ScaleForm(forms.Form):
    """The scale alone, read while other fields of the form may still be empty."""

    scale = forms.CharField(required=False, max_length=100)
