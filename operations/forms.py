"""Forms of the pages of the server."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_REASON_LENGTH, MAX_VARIABLE_NAME_LENGTH
from consilium.llm.endpoint import KEY_NAME
from operations.selectors.accounts import STATES
from operations.selectors.keys import ALL, benchmark_choices
from rubrics.models import Benchmark


class GrantForm(forms.Form):
    """Which key, and for which benchmark, or for all of them."""

    name = forms.CharField(
        label=_("Key"),
        max_length=MAX_VARIABLE_NAME_LENGTH,
        help_text=_("The name of its environment variable. Never enter the key itself here."),
        widget=forms.TextInput(attrs={"list": "keys", "autocomplete": "off", "spellcheck": "false"}),
    )
    benchmark = forms.ChoiceField(label=_("Benchmark"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["benchmark"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = benchmark_choices()

    def clean_name(self) -> str:
        """A name that can be that of a key."""
        name = str(self.cleaned_data["name"])
        if not KEY_NAME.match(name):
            raise forms.ValidationError(
                _("This is not the name of a key: it must end in _API_KEY or begin with JUDGE_KEY.")
            )
        return name

    @property
    def chosen(self) -> Benchmark | None:
        """The benchmark; None: all."""
        slug = self.cleaned_data["benchmark"]
        return None if slug == ALL else Benchmark.objects.get(slug=slug)


class AccountFilters(forms.Form):
    """The filters of the list of accounts."""

    q = forms.CharField(
        label=_("Search"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("Name or address")}),
    )
    state = forms.ChoiceField(label=_("State"), required=False, choices=[("", _("All")), *STATES.items()])


class RightsForm(forms.Form):
    """What an account may do on the server."""

    creates_benchmarks = forms.BooleanField(label=_("May create benchmarks"), required=False)
    operator = forms.BooleanField(
        label=_("Operator"),
        required=False,
        help_text=_("Sees the state and records of the server, and manages accounts. Gives access to no benchmark."),
    )


class ReasonForm(forms.Form):
    """Why an account is deactivated."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Only operators see it, in the security log."),
    )
