"""Checks of the server, one module each. A new check is one module and one line in `PARTS` or in `SET_UP`."""

from operations.checks import (
    accounts_of_the_demo,
    address,
    backups,
    beat,
    broker,
    clock,
    database,
    disk,
    file_permissions,
    installation,
    judge_hosts,
    mail,
    mail_server,
    migrations,
    secret_key,
    versions,
    web,
    worker,
)
from operations.checks.check import Check

# What `healthz?deep=1`, the page of the server, `manage.py status` and the metrics say. The database comes first: if it
# does not answer, the checks that need it are left out. They are run often, so each takes milliseconds.
PARTS: tuple[Check, ...] = (
    database.CHECK,
    worker.CHECK,
    beat.CHECK,
    broker.CHECK,
    disk.CHECK,
    migrations.CHECK,
    mail.CHECK,
    backups.CHECK,
)

# What `manage.py doctor` looks at as well. Its output is in English, as that of all commands.
SET_UP: tuple[Check, ...] = (
    web.CHECK,
    installation.CHECK,
    versions.CHECK,
    clock.CHECK,
    secret_key.CHECK,
    file_permissions.CHECK,
    address.CHECK,
    mail_server.CHECK,
    judge_hosts.CHECK,
    accounts_of_the_demo.CHECK,
)
