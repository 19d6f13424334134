"""The table of releases, with its triggers."""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.core.identifiers


class Migration(migrations.Migration):
    replaces = [
        ("releases", "0001_authoring"),
    ]

    initial = True

    dependencies = [
        ("rubrics", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Release",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("version", models.CharField(max_length=40, verbose_name="version")),
                ("notes", models.TextField(blank=True, verbose_name="notes")),
                ("options", models.JSONField(default=dict)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("refused", "Refused"),
                            ("failed", "Failed"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("progress", models.FloatField(default=0.0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                ("archive", models.FileField(blank=True, upload_to="releases/")),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("size", models.BigIntegerField(default=0)),
                ("facts", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="releases", to="rubrics.benchmark"
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("status__in", ["pending", "running"])),
                        fields=["created_at"],
                        name="releases_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ["pending", "running", "done"])),
                        fields=("benchmark", "version"),
                        name="releases_version_once",
                    )
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="release",
            trigger=pgtrigger.compiler.Trigger(
                name="frozen",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.\"status\" = 'done')",
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="58cc1569de9ef684b5fa62bf15e0d392adc9f692",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_frozen_385a7",
                    table="releases_release",
                    when="BEFORE",
                ),
            ),
        ),
    ]
