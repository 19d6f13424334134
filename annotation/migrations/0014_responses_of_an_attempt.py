"""How many responses an attempt to qualify has."""

from __future__ import annotations

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0013_match_languages")]

    operations = [
        migrations.AddField(
            model_name="qualificationrule",
            name="attempt_size",
            field=models.PositiveSmallIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="responses per attempt",
            ),
        ),
    ]
