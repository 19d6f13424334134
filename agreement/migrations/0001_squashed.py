"""The tables of reports and calibrations, with their triggers."""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.core.identifiers


class Migration(migrations.Migration):
    replaces = [
        ("agreement", "0001_initial"),
        ("agreement", "0002_fidelity_attempts"),
        ("agreement", "0003_kinds_tables_choices"),
        ("agreement", "0004_software_libraries"),
        ("agreement", "0005_above_zero"),
    ]

    initial = True

    dependencies = [
        ("rubrics", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("agreement", "Agreement"),
                            ("fidelity", "Judge fidelity"),
                            ("scores", "Scores"),
                            ("calibration", "Calibration"),
                            ("comparison", "Two judges"),
                            ("alternative", "Alternative annotator test"),
                            ("items", "Item analysis"),
                            ("powered", "Prediction-powered scores"),
                        ],
                        max_length=12,
                    ),
                ),
                ("parameters", models.JSONField(default=dict)),
                ("seed", models.BigIntegerField(default=0)),
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
                ("result", models.JSONField(default=dict)),
                ("input_digest", models.CharField(blank=True, max_length=64)),
                ("software", models.CharField(blank=True, max_length=120)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="reports", to="rubrics.benchmark"
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
                (
                    "recomputes",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="recomputed",
                        to="agreement.report",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="ReportTable",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(max_length=40)),
                ("position", models.PositiveSmallIntegerField()),
                ("columns", models.JSONField()),
                ("text", models.JSONField(default=list)),
                ("n_rows", models.PositiveIntegerField()),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tables", to="agreement.report"
                    ),
                ),
            ],
            options={
                "ordering": ["report", "position"],
            },
        ),
        migrations.CreateModel(
            name="ReportRows",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("start", models.PositiveIntegerField()),
                ("rows", models.JSONField()),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pieces", to="agreement.reporttable"
                    ),
                ),
            ],
            options={
                "ordering": ["table", "start"],
            },
        ),
        migrations.CreateModel(
            name="ThresholdChoice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("k", models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(1)])),
                ("facts", models.JSONField(default=dict)),
                ("input_digest", models.CharField(blank=True, max_length=64)),
                ("reason", models.TextField(blank=True)),
                ("signed_as", models.CharField(max_length=200)),
                ("signed_at", models.DateTimeField()),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="threshold_choices",
                        to="rubrics.benchmark",
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="choices",
                        to="agreement.report",
                    ),
                ),
                (
                    "signed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["benchmark", "-version"],
            },
        ),
        migrations.CreateModel(
            name="NamedSlice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60)),
                ("title", models.CharField(max_length=200)),
                (
                    "rule",
                    models.CharField(
                        choices=[
                            ("hard", "The hardest cases"),
                            ("above_zero", "Cases on which some candidate scores above 0"),
                            ("consensus", "Cases on which some candidate scores above 0"),
                        ],
                        max_length=12,
                    ),
                ),
                ("parameters", models.JSONField(default=dict)),
                ("case_ids", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("input_digest", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField()),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="named_slices", to="rubrics.benchmark"
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
                "ordering": ["benchmark", "slug"],
                "constraints": [
                    models.UniqueConstraint(fields=("benchmark", "slug"), name="agreement_namedslice_slug")
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="namedslice",
            trigger=pgtrigger.compiler.Trigger(
                name="drawn_up",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition=(
                        'WHEN (OLD."benchmark_id" IS DISTINCT FROM (NEW."benchmark_id") OR OLD."slug" IS '
                        'DISTINCT FROM (NEW."slug") OR OLD."rule" IS DISTINCT FROM (NEW."rule") OR '
                        'OLD."parameters" IS DISTINCT FROM (NEW."parameters") OR OLD."case_ids" IS '
                        'DISTINCT FROM (NEW."case_ids") OR OLD."input_digest" IS DISTINCT FROM '
                        '(NEW."input_digest"))'
                    ),
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="cc0c39c26eb328d3008fcbbf8d77b3b515603a09",
                    operation="UPDATE",
                    pgid="pgtrigger_drawn_up_2cb27",
                    table="agreement_namedslice",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="namedslice",
            trigger=pgtrigger.compiler.Trigger(
                name="not_deleted",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                    hash="59440f253eb2ee15934f9d4e4d04b1b4699795f8",
                    operation="DELETE",
                    pgid="pgtrigger_not_deleted_5c09c",
                    table="agreement_namedslice",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="report",
            index=models.Index(fields=["benchmark", "kind", "-created_at"], name="agreement_report_newest"),
        ),
        migrations.AddIndex(
            model_name="report",
            index=models.Index(
                condition=models.Q(("status__in", ["pending", "running"])),
                fields=["created_at"],
                name="agreement_report_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="reporttable",
            constraint=models.UniqueConstraint(fields=("report", "name"), name="agreement_reporttable_name"),
        ),
        migrations.AddConstraint(
            model_name="reportrows",
            constraint=models.UniqueConstraint(fields=("table", "start"), name="agreement_reportrows_start"),
        ),
        migrations.AddConstraint(
            model_name="thresholdchoice",
            constraint=models.UniqueConstraint(
                fields=("benchmark", "version"), name="agreement_thresholdchoice_version"
            ),
        ),
        migrations.AddConstraint(
            model_name="thresholdchoice",
            constraint=models.CheckConstraint(
                condition=models.Q(("k__gte", 1), ("version__gte", 1)), name="agreement_thresholdchoice_from_one"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="thresholdchoice",
            trigger=pgtrigger.compiler.Trigger(
                name="signed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="da9cd4da1d47d8396628a57bc92855c4f87598d1",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_signed_2e8f1",
                    table="agreement_thresholdchoice",
                    when="BEFORE",
                ),
            ),
        ),
    ]
