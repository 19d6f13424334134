"""The tables of generation runs go: `0004_pipelines` has copied what they held."""

import scoring.models.generation
from django.db import migrations
import django.db.models.manager


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0004_pipelines"),
    ]

    operations = [
        migrations.DeleteModel(
            name="GenerationItem",
        ),
        migrations.DeleteModel(
            name="GenerationRun",
        ),
        migrations.CreateModel(
            name="GenerationRun",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("scoring.pipelinerun",),
        ),
    ]
