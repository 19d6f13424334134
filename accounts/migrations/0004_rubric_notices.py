"""A kind of notice for rubrics; only what is allowed in the two columns changes."""

from __future__ import annotations

from django.db import migrations, models

KINDS = [
    ("new_work", "New work"),
    ("returned", "Returned work"),
    ("due", "Due dates"),
    ("comment", "Comments"),
    ("held_back", "Work held back"),
    ("invitation", "Being added to a benchmark"),
    ("rubric", "Rubrics you write or review"),
]


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_authoring")]

    operations = [
        migrations.AlterField("notification", "kind", models.CharField(choices=KINDS, max_length=15)),
        migrations.AlterField("notificationsetting", "kind", models.CharField(choices=KINDS, max_length=15)),
    ]
