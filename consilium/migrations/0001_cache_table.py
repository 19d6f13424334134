"""The table of Django's database cache (what `createcachetable` makes), so that `migrate` alone is enough."""

from django.db import migrations


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.RunSQL(
            """
            CREATE UNLOGGED TABLE IF NOT EXISTS consilium_cache (
                cache_key varchar(255) NOT NULL PRIMARY KEY,
                value text NOT NULL,
                expires timestamp with time zone NOT NULL
            );
            CREATE INDEX IF NOT EXISTS consilium_cache_expires ON consilium_cache (expires);
            """,
            "DROP TABLE IF EXISTS consilium_cache;",
        )
    ]
