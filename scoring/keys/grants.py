"""Grants of keys to benchmarks: what is granted, the check before a key is used, and the operator's changes.

Two rules keep a key where it belongs. The operator's setting binds it to hosts (`consilium.llm.endpoint`), and a grant
says which benchmark may use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from accounts.models import User
from accounts.services import security_log
from consilium.core.errors import DomainError
from consilium.core.i18n import translate
from consilium.core.phrases import Phrase
from consilium.llm.endpoint import KEY_NAME, Endpoint, check_key_host, hosts_of_keys
from consilium.llm.errors import EndpointRefused
from rubrics.models import Benchmark
from scoring.judges.config import InvalidConfig
from scoring.models import KeyGrant


def grants_for(benchmark: Benchmark) -> QuerySet[KeyGrant]:
    """The grants that hold for a benchmark."""
    return KeyGrant.objects.filter(Q(benchmark=benchmark) | Q(benchmark=None))


def usable_keys(benchmark: Benchmark) -> dict[str, list[str]]:
    """The keys that a benchmark may use and that are bound, each with its hosts."""
    bound = hosts_of_keys(settings.ENDPOINT_KEYS)
    names = set(grants_for(benchmark).values_list("name", flat=True))
    return {name: bound[name] for name in sorted(names & bound.keys())}


def is_granted(benchmark: Benchmark, name: str) -> bool:
    """Whether a benchmark may use a key."""
    return grants_for(benchmark).filter(name=name).exists()


def check_grant(benchmark: Benchmark, name: str) -> None:
    """`EndpointRefused` unless the benchmark may use the key of this name."""
    if not is_granted(benchmark, name):
        raise EndpointRefused(
            Phrase(
                "The key %(name)s is not granted to this benchmark (%(benchmark)s). The server administrator can grant "
                "it on the page Server → Keys, or with manage.py grant_key.",
                name=name,
                benchmark=benchmark.slug,
            )
        )


def bound_keys_for(benchmark: Benchmark, endpoint: Endpoint) -> list[str]:
    """The operator's list of keys for a client of ``endpoint`` that works for a benchmark.

    `EndpointRefused` where the key may not go to the endpoint, or is not granted to the benchmark (any more). It is
    called each time before a client is made, because stored settings may be older than the lists.
    """
    bound: list[str] = settings.ENDPOINT_KEYS
    if endpoint.key_env:
        check_key_host(endpoint.key_env, endpoint.url, bound)
        check_grant(benchmark, endpoint.key_env)
    return bound


def require_keys(benchmark: Benchmark, endpoints: Mapping[str, Endpoint]) -> None:
    """`InvalidConfig` naming the field of a key that the benchmark may not use.

    ``endpoints`` go by where their settings are: empty, or ``models.strong`` for those of a model in a recipe.
    """
    faults = {}
    for place, endpoint in endpoints.items():
        try:
            bound_keys_for(benchmark, endpoint)
        except EndpointRefused as refused:
            faults[f"{place}.key_env" if place else "key_env"] = translate(refused.args[0])
    if faults:
        raise InvalidConfig(faults)


@transaction.atomic
def grant_key(
    *, name: str, benchmark: Benchmark | None, by: User | None, at: datetime, request: HttpRequest | None = None
) -> bool:
    """Let a benchmark, or all of them, use a key; False where that was so already."""
    if not KEY_NAME.match(name):
        # The text is not repeated: somebody may have pasted the key itself.
        raise DomainError(Phrase("This is not the name of a key: it must end in _API_KEY or begin with JUDGE_KEY."))
    _grant, is_new = KeyGrant.objects.get_or_create(
        name=name, benchmark=benchmark, defaults={"granted_by": by, "granted_at": at}
    )
    if is_new:
        _record("key_granted", name, benchmark, by=by, at=at, request=request)
    return is_new


@transaction.atomic
def withdraw_key(
    *, name: str, benchmark: Benchmark | None, by: User | None, at: datetime, request: HttpRequest | None = None
) -> bool:
    """End a grant; False where there was none. Runs that use the key stop before their next turn.

    A grant to all benchmarks and one to a single benchmark are two grants.
    """
    number, _rows = KeyGrant.objects.filter(name=name, benchmark=benchmark).delete()
    if number:
        _record("key_withdrawn", name, benchmark, by=by, at=at, request=request)
    return bool(number)


def _record(
    kind: str,
    name: str,
    benchmark: Benchmark | None,
    *,
    by: User | None,
    at: datetime,
    request: HttpRequest | None,
) -> None:
    scope = benchmark.slug if benchmark else ""
    security_log.record(kind, at=at, by=by, scope=scope, request=request, key=name, all_benchmarks=benchmark is None)
