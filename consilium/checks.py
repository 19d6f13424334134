"""Checks of the database that `migrate`, `up` and `check --database` make before they do anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


@register(Tags.database)
def check_replaced_migrations(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """An error for each app of which a database has only some of the migrations that a later one replaces.

    Where the replaced files are gone, Django leaves such an app out of `migrate` and reports that there is nothing to
    apply, so the tables would stay as they are, without what the missing migrations add.
    """
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    errors: list[CheckMessage] = []
    for alias in databases or []:
        applied = MigrationRecorder(connections[alias]).applied_migrations()
        missing: dict[str, list[str]] = defaultdict(list)
        for migration in loader.disk_migrations.values():
            recorded = [key in applied for key in migration.replaces]
            if any(recorded) and not all(recorded):
                absent = [key for key in migration.replaces if key not in applied and key not in loader.disk_migrations]
                for app, name in absent:
                    missing[app].append(name)
        errors.extend(
            Error(
                f"The database {alias!r} has only some of the earlier migrations of {app}. "
                f"It lacks {', '.join(sorted(names))}, and this version no longer has those files.",
                hint="Nothing was changed. Migrate the database with the last version that has them, then with this "
                "one: see “Upgrades” in docs/operating.md.",
                id="consilium.E001",
            )
            for app, names in sorted(missing.items())
        )
    return errors
