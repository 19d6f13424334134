"""A kind of notification for admins, batches that need attention; and a first event of accounts in the audit trail.

Accounts that existed before they were audited (0007) get an event with their state now, and the label ``existing``.
"""

from django.db import migrations, models

KINDS = [
    ("new_work", "New assignments"),
    ("returned", "Returned work"),
    ("due", "Due dates"),
    ("comment", "Comments"),
    ("held_back", "Assignments paused"),
    ("invitation", "Added to a benchmark"),
    ("rubric", "Rubrics you write or review"),
    ("job_done", "Finished jobs and runs"),
    ("job_failed", "Failed jobs and runs"),
    ("batch", "Completed batches"),
    ("attention", "Batches that need attention"),
    ("conflict", "New conflicts"),
    ("budget", "Budgets used up"),
    ("worker", "Background work stopped"),
    ("account", "Account security"),
]

FIRST_EVENTS = """
INSERT INTO accounts_userevent
    (deactivated_in, is_active, is_staff, is_superuser, pgh_created_at, pgh_label, pgh_obj_id)
SELECT deactivated_in, is_active, is_staff, is_superuser, now(), 'existing', id FROM accounts_user AS account
WHERE NOT EXISTS (SELECT FROM accounts_userevent AS event WHERE event.pgh_obj_id = account.id)
ORDER BY id
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_audited_accounts")]

    operations = [
        *(
            migrations.AlterField(model_name=name, name="kind", field=models.CharField(choices=KINDS, max_length=15))
            for name in ("notification", "notificationsetting")
        ),
        migrations.RunSQL(FIRST_EVENTS, migrations.RunSQL.noop),
    ]
