"""Validated settings of a judge: the only reader of `Judge.config`, for forms, the API, commands and workers."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeVar

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from consilium.core.errors import DomainError, FaultsRefused, LineError
from consilium.core.i18n import translate
from consilium.core.limits import (
    MAX_ENDPOINT_LENGTH,
    MAX_GROUP_NAME_LENGTH,
    MAX_JUDGE_NAME_LENGTH,
    MAX_MODEL_NAME_LENGTH,
    MAX_VARIABLE_NAME_LENGTH,
)
from consilium.llm.endpoint import Endpoint, RetryPolicy, check_key_host, check_key_name, check_url
from consilium.llm.prompts import PASTED, TEMPLATES, Template, UnusableTemplate, pasted_template

# "+" joins the members of a jury; the words before ":" are kinds of raters.
RESERVED_NAME = re.compile(r"\+|^(group|physician|run|jury|consensus|ppi):|^consensus$|^\s|\s$|[\x00-\x1f]")


class StrictConfig(BaseModel):
    """Settings that reject unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, protected_namespaces=())


class EndpointConfig(StrictConfig):
    """The endpoint to call. Only the name of the environment variable with the key is stored, never the key."""

    endpoint: str = Field(min_length=8, max_length=MAX_ENDPOINT_LENGTH)
    model: str = Field(min_length=1, max_length=MAX_MODEL_NAME_LENGTH)
    key_env: str = Field(default="", max_length=MAX_VARIABLE_NAME_LENGTH)

    @field_validator("endpoint")
    @classmethod
    def _allowed_endpoint(cls, value: str, info: ValidationInfo) -> str:
        if info.context is not None and not info.context.get("may_call", True):
            return value
        try:
            return check_url(value, settings.JUDGE_ALLOWED_HOSTS)
        except DomainError as error:
            raise ValueError(translate(error.args[0])) from None

    @field_validator("key_env")
    @classmethod
    def _usable_key(cls, value: str, info: ValidationInfo) -> str:
        try:
            check_key_name(value)
            # Without ``may_call`` no request is sent; an address that is wrong has its own message.
            if "endpoint" in info.data and (info.context is None or info.context.get("may_call", True)):
                check_key_host(value, info.data["endpoint"], settings.ENDPOINT_KEYS)
            return value
        except DomainError as error:
            raise ValueError(translate(error.args[0])) from None


class AskingConfig(EndpointConfig):
    """How a language model is asked, and within which limits, whatever it is asked."""

    temperature: float | None = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    seed: int | None = Field(default=None, ge=0, lt=2**31)
    max_tokens: int = Field(default=1024, ge=16, le=32_768)
    timeout_s: float = Field(default=60.0, ge=0.1, le=600, allow_inf_nan=False)
    concurrency: int = Field(default=16, ge=1, le=512)
    # How many workers share a run; each has at least one request in flight.
    slices: int = Field(default=1, ge=1, le=32)
    response_format: Literal["json_schema", "json_object", "text"] = "json_object"
    attempts: int = Field(default=5, ge=1, le=10)
    re_asks: int = Field(default=2, ge=0, le=5)
    first_wait_s: float = Field(default=0.5, ge=0.0, le=10, allow_inf_nan=False)
    longest_wait_s: float = Field(default=20.0, ge=0.0, le=60, allow_inf_nan=False)
    # How often a run pauses while its endpoint is down, longer each time, before it ends incomplete.
    pauses: int = Field(default=3, ge=0, le=10)
    requests_per_minute: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    tokens_per_minute: float | None = Field(default=None, gt=0, le=1_000_000_000, allow_inf_nan=False)
    # The price of a million tokens.
    price_in: float = Field(default=0.0, ge=0, le=100_000, allow_inf_nan=False)
    price_out: float = Field(default=0.0, ge=0, le=100_000, allow_inf_nan=False)
    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")

    @field_validator("slices")
    @classmethod
    def _one_request_each(cls, value: int, info: ValidationInfo) -> int:
        if value > info.data.get("concurrency", value):
            raise ValueError(_("There cannot be more workers than concurrent requests."))
        return value

    @property
    def together(self) -> bool:
        """Whether all questions about a response are in one request."""
        return False

    @property
    def priced(self) -> bool:
        """Whether its runs have a known cost."""
        return self.price_in > 0 or self.price_out > 0

    def for_client(self) -> Endpoint:
        """The endpoint as the client takes it; workers that share a run divide the concurrency among them."""
        return Endpoint(
            url=self.endpoint,
            model=self.model,
            key_env=self.key_env,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            timeout_s=self.timeout_s,
            concurrency=self.concurrency,
            response_format=self.response_format,
            retry=RetryPolicy(
                attempts=self.attempts,
                re_asks=self.re_asks,
                first_wait_s=self.first_wait_s,
                longest_wait_s=self.longest_wait_s,
            ),
        )


class ChatConfig(AskingConfig):
    """A judge of kind ``chat`` that decides criteria of rubrics."""

    prompt: str = "healthbench"
    # The instructions and the question of a pasted prompt.
    system: str = Field(default="", max_length=20_000)
    user: str = Field(default="", max_length=20_000, validate_default=True)
    criteria_per_request: Literal["one", "all"] = "one"
    # How several replicates are combined.
    aggregate: Literal["majority", "mean"] = "majority"

    @field_validator("prompt")
    @classmethod
    def _known_prompt(cls, value: str) -> str:
        if value not in (*TEMPLATES, PASTED):
            raise ValueError(_("One of: %(names)s.") % {"names": ", ".join([*sorted(TEMPLATES), PASTED])})
        return value

    @field_validator("user")
    @classmethod
    def _usable_prompt(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("prompt") == PASTED:
            try:
                pasted_template(info.data.get("system", ""), value)
            except UnusableTemplate as error:
                raise ValueError(translate(error.args[0])) from None
        return value

    @property
    def together(self) -> bool:
        """Whether all criteria of a response are asked about in one request."""
        return self.criteria_per_request == "all"

    def template(self) -> Template:
        """The template of its prompt."""
        return pasted_template(self.system, self.user) if self.prompt == PASTED else TEMPLATES[self.prompt]


class AcuityConfig(AskingConfig):
    """A judge of kind ``chat`` that reads levels of care; its prompt is made of the levels of its scale."""


class TrainedConfig(StrictConfig):
    """A judge of kind ``trained``: whose decisions it learns from, and how they are split."""

    group: str = Field(default="", max_length=MAX_GROUP_NAME_LENGTH)  # empty: all groups of the benchmark
    seed: int = Field(default=0, ge=0, lt=2**31)
    held_out: list[str] = Field(default_factory=list, max_length=100)  # empty: chosen by the seed


class JuryConfig(StrictConfig):
    """A judge of kind ``jury``: the names of its members, and the rule by which they decide."""

    members: list[str] = Field(min_length=2, max_length=20)
    rule: Literal["majority", "unanimous"] = "majority"

    @field_validator("members")
    @classmethod
    def _each_once(cls, value: list[str]) -> list[str]:
        if len(set(value)) != len(value):
            raise ValueError(_("A judge can be in a jury only once."))
        return value


def chat_config(values: dict[str, Any]) -> ChatConfig:
    """Check the settings of a chat judge; `InvalidConfig` names each field that is wrong."""
    return checked_config(ChatConfig, values)


def acuity_config(values: dict[str, Any]) -> AcuityConfig:
    """Check the settings of a judge that reads levels of care."""
    return checked_config(AcuityConfig, values)


def trained_config(values: dict[str, Any]) -> TrainedConfig:
    """Check the settings of a trained judge."""
    return checked_config(TrainedConfig, values)


def jury_config(values: dict[str, Any]) -> JuryConfig:
    """Check the settings of a jury; the service checks whether its members exist."""
    return checked_config(JuryConfig, values)


class InvalidConfig(FaultsRefused):
    """Settings of a judge that cannot be used; ``fields`` maps names to what is wrong with them.

    The name is empty where a message is about several settings.
    """

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields
        faults = [LineError(0, name, message) for name, message in fields.items()]
        super().__init__(
            faults, detail=" ".join(f"{name}: {message}" if name else message for name, message in fields.items())
        )


C = TypeVar("C", bound=StrictConfig)

# Translated messages for errors of pydantic; errors that no form can cause keep pydantic's own message.
_WORDS = {
    "missing": gettext_noop("This is required."),
    "extra_forbidden": gettext_noop("This setting does not exist."),
    "greater_than_equal": gettext_noop("Must be at least %(ge)s."),
    "less_than_equal": gettext_noop("Must be at most %(le)s."),
    "greater_than": gettext_noop("Must be more than %(gt)s."),
    "less_than": gettext_noop("Must be less than %(lt)s."),
    "finite_number": gettext_noop("This is not a number."),
    "string_too_short": gettext_noop("Must have at least %(min_length)s characters."),
    "string_too_long": gettext_noop("Must have at most %(max_length)s characters."),
    "string_pattern_mismatch": gettext_noop("This does not have the required format."),
    "literal_error": gettext_noop("Must be one of: %(expected)s."),
    "too_short": gettext_noop("Must have at least %(min_length)s entries."),
    "too_long": gettext_noop("Must have at most %(max_length)s entries."),
}


def _in_words(fault: Any) -> str:
    is_empty = fault["type"] == "string_too_short" and fault["ctx"]["min_length"] == 1
    words = _WORDS.get("missing" if is_empty else fault["type"])
    if words is None:
        return str(fault["msg"]).removeprefix("Value error, ")
    return _(words) % {name: _plain(value) for name, value in fault.get("ctx", {}).items()}


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def checked_config(kind: type[C], values: dict[str, Any], *, may_call: bool = True, whole_path: bool = False) -> C:
    """The values, checked as settings of type ``kind``; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoint need not be on the operator's list. A field inside another one is named by the
    outer one, with ``whole_path`` as ``outer.inner``.
    """
    try:
        return kind.model_validate(values, context={"may_call": may_call})
    except ValidationError as error:
        raise InvalidConfig(
            {
                ".".join(map(str, fault["loc"] if whole_path else fault["loc"][:1])): _in_words(fault)
                for fault in error.errors(include_url=False, include_input=False)
            }
        ) from None


def check_judge_name(name: str) -> str:
    """A judge's name is part of rater texts such as ``jury:A+B``; `DomainError` if it could be misread there."""
    if not name or len(name) > MAX_JUDGE_NAME_LENGTH or RESERVED_NAME.search(name):
        raise DomainError(
            _(
                "A judge’s name must have 1 to 100 characters, without “+” or spaces at either end, and "
                "must not begin with group:, physician:, run: or jury:."
            )
        )
    return name
