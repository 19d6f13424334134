"""Logging: one line per event on standard error, readable in a terminal, JSON elsewhere, with secrets taken out."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.functional import LazyObject

REDACTED = "[redacted]"
# Names whose values never reach a log, wherever they occur in an event.
SECRET_NAME = re.compile(
    r"secret|password|passwd|authorization|cookie|api[-_]?key|token|credential|private[-_]?key", re.I
)
# Secrets inside a sentence or an address: "Bearer abc", "api_key=abc", "postgres://user:abc@host".
SECRET_TEXT = re.compile(
    r"(?P<header>\bauthorization[\"']?\s*[=:]\s*[\"']?(?:(?:bearer|token|basic)\s+)?)[^\s\"'&,;}]+"
    r"|(?P<scheme>\b(?:bearer|token|basic)\s+)[\w.~+/=-]{6,}"
    r"|(?P<pair>\b(?:api[-_]?key|password|secret)[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;}]+"
    r"|(?P<login>\w://[^\s:/@]*:)[^\s/@]+(?=@)"
    # Links with which anybody can choose a password, or change how somebody gets mails.
    r"|(?P<link>/(?:welcome|unsubscribe|password/reset/key)/)[^\s\"'/]+"
    r"|\bsk-[\w-]{8,}",
    re.I,
)
# Keys that the environment holds are removed wherever they occur, also without a name beside them.
_KEY_NAME = re.compile(r"_API_KEY\Z|\AJUDGE_KEY|\ASECRET_KEY\Z|\A(?:OPERATOR|METRICS)_TOKEN\Z")
_MIN_KEY_LENGTH = 8  # anything shorter would take words out of the log
_COUNT_NAME = re.compile(r"(^|_)tokens?_(count|in|out|total)$|_tokens$|^tokens$", re.I)


def redact(value: Any) -> Any:
    """Return ``value`` with secrets replaced, through dictionaries, lists and texts."""
    if isinstance(value, Mapping):
        return {
            name: REDACTED if SECRET_NAME.search(str(name)) and not _COUNT_NAME.search(str(name)) else redact(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(redact(inner) for inner in value) if type(value) in (list, tuple) else value
    if isinstance(value, str):
        for key in _keys():
            value = value.replace(key, REDACTED)
        return SECRET_TEXT.sub(lambda match: next((part for part in match.groups() if part), "") + REDACTED, value)
    if isinstance(value, HttpRequest):  # Django adds the request to the log of a refusal, where its path is written
        return redact(repr(value))
    return value


@functools.cache
def _keys() -> tuple[str, ...]:
    values = {value.strip() for name, value in os.environ.items() if _KEY_NAME.search(name)}
    return tuple(sorted((value for value in values if len(value) >= _MIN_KEY_LENGTH), key=len, reverse=True))


def redact_event(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Structlog processor around ``redact``."""
    for name in list(event):
        if not name.startswith("_"):
            event[name] = redact({name: event[name]})[name]
    return event


def name_requester(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Structlog processor: who sent the request that Django refuses, and from where, if the answer looked at that.

    A log must not ask the database, so somebody whom nothing had looked up yet is not named.
    """
    request = event.get("request")
    if isinstance(request, HttpRequest):
        # Django keeps the one of a session here, REST framework puts the one of a token in the place of `user`.
        user = getattr(request, "_cached_user", None) or request.__dict__.get("user")
        person = None if isinstance(user, LazyObject) else getattr(user, "pk", None)
        if person is not None:
            event["person"] = person
        event["address"] = sender_address(request)
    return event


def sender_address(request: HttpRequest) -> str:
    """The network address that sent the request, which a proxy of ours passes on; "" if that is not an address."""
    from allauth.account.adapter import get_adapter  # needs the settings, which import this module

    with contextlib.suppress(PermissionDenied):
        return str(get_adapter().get_client_ip(request))
    return ""


def logging_settings(*, level: str, as_json: bool | None = None) -> dict[str, Any]:
    """Django's ``LOGGING``. ``as_json`` None: JSON where standard error is no terminal."""
    if as_json is None:
        as_json = not sys.stderr.isatty()
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        name_requester,
        redact_event,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    last = structlog.processors.JSONRenderer(ensure_ascii=False) if as_json else structlog.dev.ConsoleRenderer()
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [structlog.stdlib.ExtraAdder(), *shared],
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact_event, last],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
        },
    }
