from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("scoring", "0001_squashed")]

    operations = [
        migrations.RenameField("runslice", "rung_at", "enqueued_at"),
        migrations.RenameField("runslice", "barren_starts", "starts_without_progress"),
    ]
