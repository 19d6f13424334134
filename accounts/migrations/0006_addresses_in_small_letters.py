"""allauth looks for addresses in small letters: who was added with a capital could neither sign in nor get a link."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_invitation_link")]

    operations = [
        # No two become one: `accounts_user_email_once` compares them in small letters already.
        migrations.RunSQL(
            "UPDATE accounts_user SET email = lower(email) WHERE email <> lower(email)", migrations.RunSQL.noop
        ),
    ]
