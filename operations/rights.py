"""Gives a database role what web, worker and beat need, and no more: it can neither alter a table nor drop a trigger.

Tables, triggers and functions belong to the role that migrates. Rows of the audit trail and of the security log can
only be added and read by the other role: even if it switches triggers off (``pgtrigger.ignore``), it changes none.
"""

from __future__ import annotations

from django.db import connection, transaction
from django.utils.translation import gettext as _
from psycopg import sql

from consilium.core.errors import DomainError
from operations.backups.contents import SECURITY_LOG

MAINTAIN_SINCE = 17  # the version of PostgreSQL with a right to ANALYZE, which large imports do
TABLES = """
SELECT c.relname,
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'pgh_id' AND NOT a.attisdropped)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
WHERE c.relkind IN ('r', 'p') ORDER BY c.relname
"""
READ_ONLY = ("django_migrations",)


@transaction.atomic
def grant(*, role: str) -> dict[str, int]:
    """Grant the rights on all tables of now, and take all others back; the number of tables for each set of rights.

    Run it after each migration, as the owner of the tables.
    """
    name = sql.Identifier(role)
    numbers: dict[str, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolsuper, pg_has_role(%s, (SELECT relowner FROM pg_class WHERE oid = "
            "'django_migrations'::regclass), 'MEMBER') FROM pg_roles WHERE rolname = %s",
            [role, role],
        )
        row = cursor.fetchone()
        if row is None:
            raise DomainError(_("There is no database role %(role)s.") % {"role": role})
        if any(row):
            text = _("%(role)s is a superuser, or has the rights of the owner of the tables: nothing binds it.")
            raise DomainError(text % {"role": role})
        cursor.execute(
            "SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class "
            "WHERE oid = 'django_migrations'::regclass"
        )
        if cursor.fetchone() != (True,):
            raise DomainError(_("Only the owner of the tables can grant rights on them: use its DATABASE_URL."))
        cursor.execute("SHOW server_version_num")
        maintain = ["MAINTAIN"] if int(cursor.fetchone()[0]) // 10_000 >= MAINTAIN_SINCE else []
        for kind in ("TABLES", "SEQUENCES"):
            cursor.execute(sql.SQL(f"REVOKE ALL ON ALL {kind} IN SCHEMA public FROM {{}}").format(name))
        cursor.execute(sql.SQL("REVOKE CREATE ON SCHEMA public FROM PUBLIC, {}").format(name))
        cursor.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(name))
        cursor.execute(sql.SQL("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}").format(name))
        cursor.execute(TABLES)
        for table, is_event in cursor.fetchall():
            if table in READ_ONLY:
                rights = ["SELECT"]
            elif is_event or table == SECURITY_LOG:
                rights = ["SELECT", "INSERT", *maintain]
            else:
                rights = ["SELECT", "INSERT", "UPDATE", "DELETE", *maintain]
            words = ", ".join(rights)
            cursor.execute(sql.SQL(f"GRANT {words} ON {{}} TO {{}}").format(sql.Identifier(table), name))
            numbers[words] = numbers.get(words, 0) + 1
    return numbers
