"""A kind of notification for admins: batches that need attention, because they are overdue or nobody can do the work."""

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


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_audited_accounts")]

    operations = [
        migrations.AlterField(model_name=name, name="kind", field=models.CharField(choices=KINDS, max_length=15))
        for name in ("notification", "notificationsetting")
    ]
