"""What a database holds, as counts and digests: the same rows give the same, on any server and after a restore.

It is read by SQL alone, without the models, so that a backup of an earlier version is compared before it is migrated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import psycopg
from psycopg import sql

# What scores are computed from: the tables of these prefixes, without their event tables.
SCORED = ("rubrics_", "annotation_", "scoring_")
PEOPLE = ("accounts_", "account_", "mfa_", "socialaccount_", "authtoken_")
SECURITY_LOG, USERS = "accounts_securityevent", "accounts_user"

Tables = dict[str, dict[str, Any]]

# Tables whose rows a backup leaves out. The cache: nothing is lost with it. Sessions: some may be ended after the
# backup, and none may open again, also where a restore is stopped in the middle.
WITHOUT_ROWS = ("consilium_cache", "accounts_usersession")

# The text of a value depends on these settings of the session.
SETTINGS = {
    "statement_timeout": "0",
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
}

TABLES = """
SELECT c.relname,
       string_agg(quote_ident(a.attname) || CASE WHEN a.attcollation <> 0 THEN ' COLLATE "C"' ELSE '' END, ', '
                  ORDER BY array_position(i.indkey::int[], a.attnum::int)) FILTER (WHERE i.indrelid IS NOT NULL),
       EXISTS (SELECT FROM pg_attribute e WHERE e.attrelid = c.oid AND e.attname = 'pgh_id')
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
WHERE c.relkind IN ('r', 'p') AND c.relname <> ALL (%s)
GROUP BY c.oid, c.relname ORDER BY c.relname COLLATE "C"
"""


def read_tables(connection: psycopg.Connection[Any], progress: Callable[[str], None] | None = None) -> Tables:
    """Rows and SHA-256 of each table, in the order of its primary key; call it inside a transaction.

    Texts are in the order of their code points: the order of a database's own language differs between servers.
    """
    for name, value in SETTINGS.items():
        connection.execute("SELECT set_config(%s, %s, true)", [name, value])
    tables: Tables = {}
    # A cursor of its own: Django's binds values in the client, which COPY does not know.
    with psycopg.Cursor(connection) as cursor:
        for name, key, is_event in cursor.execute(TABLES, [[*WITHOUT_ROWS]]).fetchall():
            if progress is not None:
                progress(name)
            digest, rows = hashlib.sha256(), 0
            order = sql.SQL(key or 't::text COLLATE "C"')
            query = sql.SQL("COPY (SELECT * FROM {} t ORDER BY {}) TO STDOUT").format(sql.Identifier(name), order)
            with cursor.copy(query) as copy:
                for block in copy:
                    digest.update(block)
                    rows += bytes(block).count(b"\n")  # COPY writes a line break inside of a value as \n
            tables[name] = {"rows": rows, "sha256": digest.hexdigest(), "trail": bool(is_event) or name == SECURITY_LOG}
    return tables


def summary(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The figures that people compare: accounts, trail, and one digest for scores, people and trail each."""
    trail = {name: table for name, table in tables.items() if table["trail"]}
    rest = {name: table for name, table in tables.items() if name not in trail and name not in WITHOUT_ROWS}
    return {
        "users": tables.get(USERS, {}).get("rows", 0),
        "trail_rows": sum(table["rows"] for table in trail.values()),
        "security_events": tables.get(SECURITY_LOG, {}).get("rows", 0),
        "decisions": tables.get("annotation_decision", {}).get("rows", 0),
        "scores": _digest(rest, SCORED),
        "sign_ins": _digest(rest, PEOPLE),
        "trail": _digest(trail, ("",)),
    }


def differences(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The names of tables that are missing, new, or hold other rows."""
    names = {*before, *after}.difference(WITHOUT_ROWS)  # files of earlier versions have them
    return sorted(name for name in names if before.get(name) != after.get(name))


def _digest(tables: Mapping[str, Mapping[str, Any]], prefixes: Iterable[str]) -> str:
    lines = [f"{name} {tables[name]['sha256']}\n" for name in sorted(tables) if name.startswith(tuple(prefixes))]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
