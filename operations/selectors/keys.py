"""Keys of endpoints as the operator sees them: names, hosts, grants and uses, never a value."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from consilium.llm.endpoint import KEY_NAME, hosts_of_keys
from operations.selectors.keys_in_use import last_uses
from rubrics.models import Benchmark
from scoring.models import KeyGrant

ALL = "*"  # in forms and files: all benchmarks
CSV_COLUMNS = ("key", "hosts", "is_set", "benchmark", "granted_at", "granted_by", "last_used_at")
CSV_TEXT = ("key", "hosts", "benchmark", "granted_by")


@dataclass(frozen=True, slots=True)
class GrantRow:
    """A benchmark that may use a key; None: all of them."""

    benchmark: Benchmark | None
    grant: KeyGrant
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key that the operator's setting, the environment of web, or a grant names."""

    name: str
    hosts: tuple[str, ...]
    is_set: bool  # in the environment of this process; a worker may have another one
    grants: tuple[GrantRow, ...]
    last_used_at: datetime | None


def key_rows() -> list[KeyRow]:
    """All keys by name, each with its grants."""
    bound = hosts_of_keys(settings.ENDPOINT_KEYS)
    present = {name for name, value in os.environ.items() if KEY_NAME.match(name) and value.strip()}
    uses = last_uses()
    grants: dict[str, list[KeyGrant]] = defaultdict(list)
    for grant in KeyGrant.objects.select_related("benchmark", "granted_by").order_by("benchmark__title"):
        grants[grant.name].append(grant)
    rows = []
    for name in sorted({*bound, *present, *grants}):
        used = {benchmark: at for (key, benchmark), at in uses.items() if key == name}
        newest = max(used.values(), default=None)
        own = tuple(
            GrantRow(grant.benchmark, grant, used.get(grant.benchmark_id) if grant.benchmark_id else newest)
            for grant in grants[name]
        )
        rows.append(KeyRow(name, tuple(bound.get(name, ())), name in present, own, newest))
    return rows


def csv_rows() -> Iterator[dict[str, Any]]:
    """A row for each grant, and one for each key that is granted to nobody."""
    for row in key_rows():
        key = {"key": row.name, "hosts": " ".join(row.hosts), "is_set": row.is_set}
        for own in row.grants:
            yield {
                **key,
                "benchmark": own.benchmark.slug if own.benchmark else ALL,
                "granted_at": own.grant.granted_at.isoformat(),
                "granted_by": own.grant.granted_by.email if own.grant.granted_by else "",
                "last_used_at": own.last_used_at.isoformat() if own.last_used_at else "",
            }
        if not row.grants:
            yield {**key, "last_used_at": row.last_used_at.isoformat() if row.last_used_at else ""}


def benchmark_choices() -> list[tuple[str, str]]:
    """Each benchmark, and all of them, for the form of a grant. None is chosen at first."""
    return [("", "–"), *Benchmark.objects.order_by("title").values_list("slug", "title"), (ALL, _("All benchmarks"))]
