"""The form of a framing: its text, and the case of its preview."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from consilium.core.errors import DomainError
from consilium.core.limits import MAX_FRAMING_LENGTH, MAX_KEY_LENGTH
from rubrics.acuity.services import check_framing
from rubrics.models import Benchmark, Case
from scoring.generation.due_responses import is_bare_case


class FramingForm(forms.Form):
    """A text with the place of the case; ``preview`` is the case that the preview is made with."""

    text = forms.CharField(
        label=_("Text"),
        max_length=MAX_FRAMING_LENGTH,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text=_("Text sent to the model. Include {{case}} once, where the case description belongs."),
    )
    case = forms.CharField(
        label=_("Case for the preview"),
        max_length=MAX_KEY_LENGTH,
        required=False,
        widget=forms.TextInput(attrs={"autocapitalize": "off", "autocomplete": "off", "spellcheck": "false"}),
        help_text=_("Short name of a case. Leave empty to use the first case that is a bare description."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cases = Case.objects.filter(benchmark=benchmark).included()
        self.bare_cases = cases.filter(is_bare_case()).order_by("key")
        self.n_bare = self.bare_cases.count()
        self.n_conversations = cases.count() - self.n_bare
        self.preview: Case | None = self.bare_cases.first()

    def clean_text(self) -> str:
        """A text with exactly one place for the case."""
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n")
        try:
            check_framing(text)
        except DomainError as error:
            raise forms.ValidationError(str(error)) from None
        return text

    def clean_case(self) -> str:
        """The key of a case that a framing is put around."""
        key = str(self.cleaned_data["case"])
        if key:
            self.preview = self.bare_cases.filter(key=key).first()
            if self.preview is None:
                raise forms.ValidationError(_now("No case with this short name is a bare description."))
        return key
