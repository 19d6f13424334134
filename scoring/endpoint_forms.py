"""Form fields of everything that calls an endpoint: a judge, or a generation run."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from consilium.core.errors import DomainError
from consilium.core.i18n import translate
from consilium.core.limits import MAX_ENDPOINT_LENGTH, MAX_MODEL_NAME_LENGTH, MAX_VARIABLE_NAME_LENGTH
from consilium.llm.endpoint import PRIVATE, hosts_of_keys
from rubrics.models import Benchmark
from scoring.judges.config import EndpointConfig, InvalidConfig
from scoring.keys.grants import check_grant, usable_keys


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
    """Which endpoint and model, with which key, and how fast; ``settings_of`` gives the initial values.

    `offer_keys` says for which benchmark it is.
    """

    settings_of: ClassVar[type[EndpointConfig]]
    keys_of: Benchmark | None = None
    # The keys that the benchmark may use, each with its hosts.
    offered_keys: Mapping[str, list[str]] = MappingProxyType({})

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

    def offer_keys(self, benchmark: Benchmark) -> None:
        """Offer the keys that a benchmark may use, and refuse others."""
        self.keys_of, self.offered_keys = benchmark, usable_keys(benchmark)
        field = self.fields["key_env"]
        field.widget.attrs["list"] = self.keys_id
        keys = ", ".join(f"{name} ({', '.join(hosts)})" for name, hosts in self.offered_keys.items())
        field.help_text = (
            _(
                "Name of the variable with the key. This benchmark may use: %(keys)s. Leave empty if the endpoint "
                "needs no key. Never enter the key itself here."
            )
            % {"keys": keys}
            if keys
            else _(
                "This benchmark may not use any key yet. The server administrator binds keys to hosts and grants them. "
                "Leave empty if the endpoint needs no key. Never enter the key itself here."
            )
        )

    @property
    def keys_id(self) -> str:
        """The id of the list of keys on the page."""
        return f"{self.prefix}-keys" if self.prefix else "keys"

    def clean_key_env(self) -> str:
        """A key that the benchmark may use, or none."""
        name = str(self.cleaned_data["key_env"])
        # Other names, and keys that are not bound to the host, are refused with the settings.
        if self.keys_of is not None and name in hosts_of_keys(settings.ENDPOINT_KEYS):
            try:
                check_grant(self.keys_of, name)
            except DomainError as error:
                raise forms.ValidationError(translate(error.args[0])) from None
        return name

    @property
    def key_to_grant(self) -> str:
        """The key that was entered, if only its grant is missing."""
        if not self.is_bound or self.keys_of is None:
            return ""
        name = str(self["key_env"].value() or "").strip()
        may_grant = name in hosts_of_keys(settings.ENDPOINT_KEYS) and name not in self.offered_keys
        return name if may_grant else ""
