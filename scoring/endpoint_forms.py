"""Form fields of everything that calls an endpoint: a judge, or a generation run."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from consilium.core.errors import DomainError
from consilium.core.limits import MAX_ENDPOINT_LENGTH, MAX_MODEL_NAME_LENGTH, MAX_VARIABLE_NAME_LENGTH
from consilium.llm.endpoint import PRIVATE
from scoring.judges.config import EndpointConfig, InvalidConfig


class SettingsForm(forms.Form):
    """A form whose settings a service checks."""

    def refuse(self, error: DomainError) -> None:
        """Show a refusal of the service: at its fields, where it names them."""
        if not isinstance(error, InvalidConfig):
            self.add_error(None, str(error))
            return
        for name, message in error.fields.items():
            if name not in self.errors:
                self.add_error(name if name in self.fields else None, message)


class EndpointForm(SettingsForm):
    """Which endpoint and model, with which key, and how fast; ``settings_of`` gives the initial values."""

    settings_of: ClassVar[type[EndpointConfig]]

    endpoint = forms.CharField(
        label=_("Endpoint"), max_length=MAX_ENDPOINT_LENGTH, widget=forms.URLInput(attrs={"inputmode": "url"})
    )
    model = forms.CharField(
        label=_("Model"), max_length=MAX_MODEL_NAME_LENGTH, help_text=_("The name that the endpoint uses.")
    )
    key_env = forms.CharField(
        label=_("Environment variable for the key"),
        max_length=MAX_VARIABLE_NAME_LENGTH,
        required=False,
        help_text=_(
            "Name of the variable, such as OPENAI_API_KEY, as set where the worker runs. Leave empty if "
            "the endpoint needs no key. Never enter the key itself here."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    temperature = forms.FloatField(
        label=_("Temperature"),
        required=False,
        help_text=_("Leave empty to send no value."),
        widget=forms.NumberInput(attrs={"step": "0.1"}),
    )
    timeout_s = forms.FloatField(label=_("Timeout (seconds)"), widget=forms.NumberInput(attrs={"step": "any"}))
    requests_per_minute = forms.FloatField(
        label=_("Requests per minute"),
        required=False,
        help_text=_("Upper limit. Leave empty for no limit."),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    pauses = forms.IntegerField(
        label=_("Pauses"),
        help_text=_("If the endpoint is down, it is tried again after 1, 5 and 15 minutes."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("temperature", "timeout_s", "pauses"):
            self.fields[name].initial = self.settings_of.model_fields[name].default
        hosts = ", ".join(host.removesuffix(PRIVATE) for host in settings.JUDGE_ALLOWED_HOSTS)
        self.fields["endpoint"].help_text = (
            _("Address up to /v1, such as https://api.openai.com/v1. Only hosts that the operator allows: %(hosts)s.")
            % {"hosts": hosts}
            if hosts
            else _("Address up to /v1. The operator has not allowed any host yet (JUDGE_ALLOWED_HOSTS).")
        )
