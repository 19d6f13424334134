"""Validated settings of a generation run: the only reader of `GenerationRun.config`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from pydantic import Field, field_validator

from consilium.core.limits import MAX_FRAMING_LENGTH
from consilium.llm.endpoint import Endpoint, RetryPolicy
from consilium.llm.meter import Allowance
from rubrics.acuity.framings import PLACEHOLDER, is_bare, render
from scoring.judges.config import EndpointConfig, StrictConfig, checked_config

# Decoding settings beyond the common ones, by the names that providers and servers use. A parameter that is not listed
# could change the question (messages, tools), the form of the answer (stream, n) or who pays for it.
EXTRA_PARAMETERS = frozenset(
    {
        *("top_k", "min_p", "top_a", "typical_p", "frequency_penalty", "presence_penalty", "repetition_penalty"),
        *("length_penalty", "max_completion_tokens", "min_tokens", "logit_bias", "reasoning_effort", "reasoning"),
        *("thinking", "enable_thinking", "thinking_budget", "chat_template_kwargs", "verbosity", "num_ctx"),
    }
)
MAX_EXTRA_LENGTH = 4_000
# An answer is read up to this size: 32,768 tokens of escaped text, and the reasoning that some endpoints add.
MAX_BYTES = 4_000_000


class DecodingConfig(EndpointConfig):
    """An endpoint, how the model decodes, and the rate of requests."""

    # None: it is not sent, and the endpoint's default applies.
    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    top_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    max_tokens: int = Field(default=4096, ge=1, le=131_072)
    # The seed of sample 0. Sample n is requested with seed + n, else all samples would be the same.
    seed: int | None = Field(default=None, ge=0, lt=2**31 - 1000)
    stop: list[str] = Field(default_factory=list, max_length=4)
    extra: dict[str, Any] = Field(default_factory=dict)
    concurrency: int = Field(default=8, ge=1, le=256)
    requests_per_minute: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    timeout_s: float = Field(default=180.0, ge=0.1, le=900, allow_inf_nan=False)
    attempts: int = Field(default=5, ge=1, le=10)
    first_wait_s: float = Field(default=1.0, ge=0.0, le=10, allow_inf_nan=False)
    longest_wait_s: float = Field(default=30.0, ge=0.0, le=60, allow_inf_nan=False)
    # How often a run pauses while its endpoint is down, longer each time, before it ends incomplete.
    pauses: int = Field(default=3, ge=0, le=10)

    @field_validator("stop")
    @classmethod
    def _stops(cls, value: list[str]) -> list[str]:
        if any(not 1 <= len(stop) <= 100 for stop in value):
            raise ValueError(_("Each must have 1 to 100 characters."))
        return value

    @field_validator("extra")
    @classmethod
    def _known_parameters(cls, value: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(value) - EXTRA_PARAMETERS)
        if unknown:
            raise ValueError(
                _("“%(name)s” cannot be set here. Known: %(known)s.")
                % {"name": unknown[0], "known": ", ".join(sorted(EXTRA_PARAMETERS))}
            )
        try:
            size = len(json.dumps(value, allow_nan=False))
        except (ValueError, TypeError, RecursionError):
            raise ValueError(_("This is not valid JSON.")) from None
        if size > MAX_EXTRA_LENGTH:
            raise ValueError(_("At most %(n)s characters.") % {"n": MAX_EXTRA_LENGTH})
        return value

    def parameters(self, sample: int) -> dict[str, Any]:
        """The request for a sample, without its messages."""
        parameters: dict[str, Any] = {"model": self.model}
        if "max_completion_tokens" not in self.extra:
            parameters["max_tokens"] = self.max_tokens
        for name in ("temperature", "top_p"):
            if (value := getattr(self, name)) is not None:
                parameters[name] = value
        if self.seed is not None:
            parameters["seed"] = self.seed + sample
        if self.stop:
            parameters["stop"] = self.stop
        return {**parameters, **self.extra}

    def for_client(self, *, attempts: int | None = None, timeout_s: float | None = None) -> Endpoint:
        """The endpoint as the client takes it."""
        return Endpoint(
            url=self.endpoint,
            model=self.model,
            key_env=self.key_env,
            max_tokens=self.max_tokens,
            timeout_s=timeout_s or self.timeout_s,
            concurrency=self.concurrency,
            response_format="text",
            maximum_bytes=MAX_BYTES,
            retry=RetryPolicy(
                attempts=attempts or self.attempts,
                first_wait_s=self.first_wait_s,
                longest_wait_s=self.longest_wait_s,
            ),
        )


class PricedConfig(DecodingConfig):
    """The same with prices of a million tokens, so that a run may have a budget."""

    price_in: float = Field(default=0.0, ge=0, le=100_000, allow_inf_nan=False)
    price_out: float = Field(default=0.0, ge=0, le=100_000, allow_inf_nan=False)
    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")

    @property
    def priced(self) -> bool:
        """Whether its runs have a known cost."""
        return self.price_in > 0 or self.price_out > 0

    @property
    def allowance(self) -> Allowance:
        """Its limits and prices."""
        return Allowance(requests_per_minute=self.requests_per_minute, price_in=self.price_in, price_out=self.price_out)


class FramingConfig(StrictConfig):
    """A version of the benchmark's framing, with its text, so that a replay elsewhere makes the same requests."""

    version: int = Field(ge=1)
    text: str = Field(max_length=MAX_FRAMING_LENGTH)

    @field_validator("text")
    @classmethod
    def _one_place(cls, value: str) -> str:
        if value.count(PLACEHOLDER) != 1:
            raise ValueError(_("A framing must contain %(place)s exactly once.") % {"place": PLACEHOLDER})
        return value

    @property
    def sha256(self) -> str:
        """The hash that identifies the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class GenerationConfig(DecodingConfig):
    """How responses are asked for: also with which system prompt, and with which framing of bare descriptions."""

    system_prompt: str = Field(default="", max_length=50_000)
    # None: each case goes as it is.
    framing: FramingConfig | None = None

    @property
    def system_prompt_sha256(self) -> str:
        """The hash that identifies the system prompt; empty where there is none."""
        return hashlib.sha256(self.system_prompt.encode()).hexdigest() if self.system_prompt else ""

    def frames(self, conversation: Sequence[Mapping[str, Any]]) -> bool:
        """Whether the framing is put around a case: a conversation of several messages goes as it is."""
        return self.framing is not None and is_bare(conversation)

    def turns_of(self, conversation: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
        """The messages of a case as they are sent, framed where that applies."""
        turns = [{"role": str(turn["role"]), "content": str(turn["content"])} for turn in conversation]
        if self.framing is not None and is_bare(conversation):
            turns[0]["content"] = render(self.framing.text, turns[0]["content"])
        return turns

    def settings(self, *, framed: bool) -> dict[str, Any]:
        """All that a response's text depends on, except the endpoint's address; kept with each response.

        ``framed``: whether the framing of the run was put around its case.
        """
        settings = self.parameters(0)
        if self.system_prompt:
            settings["system_prompt_sha256"] = self.system_prompt_sha256
        if self.framing is not None and framed:
            settings |= {"framing_version": self.framing.version, "framing_sha256": self.framing.sha256}
        return settings


def generation_config(values: dict[str, Any], *, may_call: bool = True) -> GenerationConfig:
    """Check settings; `InvalidConfig` names each field that is wrong.

    Without ``may_call`` the endpoint need not be on the operator's list: no request will be sent.
    """
    return checked_config(GenerationConfig, values, may_call=may_call)
