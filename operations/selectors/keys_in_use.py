"""Where stored settings name keys: judges, runs and recipes, however deep in their settings the name is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

# A run that was made elsewhere names keys of another server.
_LAST_USED = """
    SELECT k #>> '{}', u.benchmark_id, max(u.at)
    FROM (
        SELECT benchmark_id, snapshot AS settings, coalesce(heartbeat_at, started_at) AS at
        FROM scoring_judgerun WHERE NOT imported
        UNION ALL
        SELECT benchmark_id, config, coalesce(heartbeat_at, started_at)
        FROM scoring_pipelinerun WHERE NOT imported AND NOT replay
    ) AS u, jsonb_path_query(u.settings, '$.**.key_env') AS k
    WHERE u.at IS NOT NULL AND jsonb_typeof(k) = 'string' AND k #>> '{}' <> ''
    GROUP BY 1, 2
"""
_NAMED = """
    SELECT DISTINCT e #>> '{key_env}', e #>> '{endpoint}'
    FROM (
        SELECT config AS settings FROM scoring_judge
        UNION ALL SELECT config FROM scoring_pipelinerun WHERE NOT imported AND NOT replay
        UNION ALL SELECT content FROM drafting_draftingrecipe
    ) AS u, jsonb_path_query(u.settings, '$.** ? (exists(@.key_env) && exists(@.endpoint))') AS e
    WHERE e #>> '{key_env}' <> ''
    ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class NamedKey:
    """A key that stored settings name, and the address that it is for."""

    name: str
    endpoint: str


def named_keys() -> list[NamedKey]:
    """The keys that judges, runs and recipes name, each once with each of its addresses."""
    with connection.cursor() as cursor:
        cursor.execute(_NAMED)
        return [NamedKey(*row) for row in cursor.fetchall()]


def last_uses() -> dict[tuple[str, int], datetime]:
    """When a worker was last busy with a run that names a key, by key and benchmark."""
    with connection.cursor() as cursor:
        cursor.execute(_LAST_USED)
        return {(name, benchmark): at for name, benchmark, at in cursor.fetchall()}
