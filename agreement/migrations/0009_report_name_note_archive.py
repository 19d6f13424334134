"""A report gets a name, a note, and a time since when lists leave it out."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agreement", "0008_drafting_reports"),
    ]

    operations = [
        migrations.AddField(
            model_name="report",
            name="name",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="report",
            name="note",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="report",
            name="archived_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
