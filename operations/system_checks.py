"""Checks of the keys of endpoints: of the setting that binds them to hosts, and of the keys that the database names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connection, transaction

from consilium.llm.endpoint import KEY_NAME, binding_is_usable, check_key_host
from consilium.llm.errors import EndpointRefused
from operations.selectors.keys_in_use import named_keys


@register
def check_key_bindings(**_: Any) -> list[CheckMessage]:
    """An error for each entry of the setting that binds nothing. It is not repeated: it may hold a key."""
    return [
        Error(
            f"Entry {number} of ENDPOINT_KEYS is not of the form NAME@host or NAME@host:port, where NAME ends in "
            "_API_KEY or begins with JUDGE_KEY.",
            id="operations.E001",
        )
        for number, entry in enumerate(settings.ENDPOINT_KEYS, start=1)
        if not binding_is_usable(entry)
    ]


@register(Tags.database)
def check_keys_in_use(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A warning for each key that judges, runs or recipes name for a host that it is not bound to."""
    if not databases:
        return []
    tables = set(connection.introspection.table_names())
    if not tables >= {"scoring_judge", "scoring_pipelinerun", "drafting_draftingrecipe"}:
        return []  # nothing was migrated yet
    try:
        with transaction.atomic():
            named = named_keys()
    except DatabaseError:
        return []  # an older version's tables; the check is made again after `migrate`
    warnings: list[CheckMessage] = []
    for key in (key for key in named if KEY_NAME.match(key.name)):
        try:
            check_key_host(key.name, key.endpoint, settings.ENDPOINT_KEYS)
        except EndpointRefused as refused:
            warnings.append(
                Warning(
                    str(refused),
                    hint="Until then, judges and runs that name it are refused. See “Keys” in docs/operating.md.",
                    id="operations.W001",
                )
            )
    return warnings
