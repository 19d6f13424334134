"""The interval rule of a report: the percentile bootstrap in every report from before there was a choice."""

from django.db import migrations, models

CHOICES = [("jackknife", "Jackknife over cases"), ("percentile", "Percentile bootstrap over cases")]


class Migration(migrations.Migration):
    dependencies = [("agreement", "0001_squashed")]

    operations = [
        # Reports that exist keep the empty value: nobody chose their rule.
        migrations.AddField(
            model_name="report",
            name="interval",
            field=models.CharField(blank=True, choices=CHOICES, default="", max_length=12),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="report",
            name="interval",
            field=models.CharField(blank=True, choices=CHOICES, default="jackknife", max_length=12),
        ),
    ]
