"""The tables of judges, runs, verdicts and generation, with their triggers."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.core.identifiers


class Migration(migrations.Migration):
    replaces = [
        ("scoring", "0001_initial"),
        ("scoring", "0002_run_slice"),
        ("scoring", "0003_runs_that_spend_and_pause"),
        ("scoring", "0004_claim_of_a_slice"),
        ("scoring", "0005_record_by_time"),
        ("scoring", "0006_authoring"),
    ]

    initial = True

    dependencies = [
        ("rubrics", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="GenerationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("setting", models.CharField(default="chat", max_length=40, verbose_name="setting")),
                ("config", models.JSONField(default=dict)),
                ("frame", models.JSONField(default=dict)),
                ("samples", models.PositiveSmallIntegerField(default=1, verbose_name="samples per case")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Waiting"),
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("cancelled", "Cancelled"),
                            ("incomplete", "Incomplete"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                        ],
                        default="pending",
                        max_length=12,
                    ),
                ),
                ("error", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("resume_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="generation_runs",
                        to="rubrics.benchmark",
                    ),
                ),
                (
                    "candidate",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="generation_runs",
                        to="rubrics.candidate",
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
            },
        ),
        migrations.CreateModel(
            name="GenerationItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sample", models.PositiveIntegerField(default=0)),
                (
                    "status",
                    models.CharField(
                        choices=[("due", "Due"), ("done", "Done"), ("failed", "Failed")], default="due", max_length=10
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("error_kind", models.CharField(blank=True, max_length=40)),
                ("error", models.TextField(blank=True)),
                ("tokens_in", models.PositiveIntegerField(null=True)),
                ("tokens_out", models.PositiveIntegerField(null=True)),
                ("latency_ms", models.PositiveIntegerField(null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "case",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.case"),
                ),
                (
                    "response",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="generated_in",
                        to="rubrics.response",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="scoring.generationrun"
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Judge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("chat", "Chat model"),
                            ("trained", "Trained on physicians’ decisions"),
                            ("jury", "Jury of judges"),
                            ("imported", "Verdicts made elsewhere"),
                        ],
                        max_length=10,
                        verbose_name="kind",
                    ),
                ),
                ("config", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="judges", to="rubrics.benchmark"
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
                "ordering": ["name", "-version"],
            },
        ),
        migrations.CreateModel(
            name="JudgeRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[("grade", "Grading"), ("susceptibility", "Susceptibility")],
                        default="grade",
                        max_length=14,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Waiting"),
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("cancelling", "Cancelling"),
                            ("cancelled", "Cancelled"),
                            ("incomplete", "Incomplete"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                        ],
                        default="pending",
                        max_length=12,
                    ),
                ),
                ("frame", models.JSONField(default=dict)),
                ("snapshot", models.JSONField(default=dict)),
                ("prompt_hash", models.CharField(blank=True, max_length=64)),
                ("carried", models.PositiveIntegerField(default=0)),
                ("replicates", models.PositiveSmallIntegerField(default=1)),
                ("expected", models.PositiveIntegerField(default=0)),
                ("budget", models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True)),
                ("imported", models.BooleanField(default=False)),
                ("error", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="judge_runs", to="rubrics.benchmark"
                    ),
                ),
                (
                    "continues",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="continued_by",
                        to="scoring.judgerun",
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
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="scoring.judge"
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="JudgeCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("request_hash", models.CharField(max_length=64)),
                ("attempt", models.PositiveSmallIntegerField(default=1)),
                ("raw", models.TextField(blank=True)),
                ("tokens_in", models.PositiveIntegerField(null=True)),
                ("tokens_out", models.PositiveIntegerField(null=True)),
                ("latency_ms", models.PositiveIntegerField(null=True)),
                ("error_kind", models.CharField(blank=True, max_length=40)),
                ("error", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="calls", to="scoring.judgerun"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="JudgeRunItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "criteria",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, null=True, size=None
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.response"
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.rubric"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="scoring.judgerun"
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="RunSlice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("stopped", "Stopped"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("failed", models.BooleanField(default=False)),
                ("rung_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("barren_starts", models.PositiveSmallIntegerField(default=0)),
                ("resume_at", models.DateTimeField(blank=True, null=True)),
                ("pauses", models.PositiveSmallIntegerField(default=0)),
                ("calls", models.PositiveIntegerField(default=0)),
                ("tokens_in", models.PositiveBigIntegerField(default=0)),
                ("tokens_out", models.PositiveBigIntegerField(default=0)),
                ("estimated_calls", models.PositiveIntegerField(default=0)),
                ("claim", models.FloatField(blank=True, null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="slices", to="scoring.judgerun"
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.CreateModel(
            name="ScreenedCase",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("score", models.FloatField(null=True)),
                ("note", models.TextField(blank=True)),
                ("scores", models.JSONField(default=dict)),
                ("n_responses", models.PositiveIntegerField(default=0)),
                ("flagged", models.BooleanField(default=False)),
                (
                    "decision",
                    models.CharField(blank=True, choices=[("keep", "Kept"), ("exclude", "Excluded")], max_length=10),
                ),
                ("reason", models.TextField(blank=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "case",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.case"),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Screening",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("title", models.CharField(max_length=200, verbose_name="title")),
                (
                    "status",
                    models.CharField(choices=[("open", "Open"), ("closed", "Closed")], default="open", max_length=10),
                ),
                ("rater", models.CharField(max_length=300, verbose_name="rater")),
                ("candidates", models.JSONField(default=list)),
                ("threshold", models.FloatField(default=0.5, verbose_name="threshold")),
                ("aggregate", models.CharField(default="mean", max_length=10, verbose_name="aggregated by")),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("facts", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="screenings", to="rubrics.benchmark"
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
            },
        ),
        migrations.CreateModel(
            name="ScreenedCaseEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                ("score", models.FloatField(null=True)),
                ("note", models.TextField(blank=True)),
                ("scores", models.JSONField(default=dict)),
                ("n_responses", models.PositiveIntegerField(default=0)),
                ("flagged", models.BooleanField(default=False)),
                (
                    "decision",
                    models.CharField(blank=True, choices=[("keep", "Kept"), ("exclude", "Excluded")], max_length=10),
                ),
                ("reason", models.TextField(blank=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "case",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.case",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="scoring.screenedcase",
                    ),
                ),
                (
                    "screening",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="scoring.screening",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="screenedcase",
            name="screening",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="cases", to="scoring.screening"
            ),
        ),
        migrations.CreateModel(
            name="TrainedModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("status", models.CharField(default="pending", max_length=10)),
                ("error", models.TextField(blank=True)),
                ("artifact", models.BinaryField(null=True)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("card", models.JSONField(default=dict)),
                ("trained_at", models.DateTimeField(null=True)),
                ("heartbeat_at", models.DateTimeField(null=True)),
                (
                    "judge",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trained_model", to="scoring.judge"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("replicate", models.PositiveSmallIntegerField(default=0)),
                (
                    "outcome",
                    models.CharField(
                        choices=[("met", "Met"), ("not_met", "Not met"), ("invalid", "Invalid")], max_length=10
                    ),
                ),
                ("probability", models.FloatField(blank=True, null=True)),
                ("explanation", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                (
                    "call",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="verdicts",
                        to="scoring.judgecall",
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.criterion"
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.response"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="verdicts", to="scoring.judgerun"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="VerdictEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                ("replicate", models.PositiveSmallIntegerField(default=0)),
                (
                    "outcome",
                    models.CharField(
                        choices=[("met", "Met"), ("not_met", "Not met"), ("invalid", "Invalid")], max_length=10
                    ),
                ),
                ("probability", models.FloatField(blank=True, null=True)),
                ("explanation", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                (
                    "call",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="scoring.judgecall",
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.criterion",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="scoring.verdict",
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.response",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="scoring.judgerun",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddIndex(
            model_name="generationrun",
            index=models.Index(
                condition=models.Q(("status__in", ["pending", "running", "paused"])),
                fields=["heartbeat_at"],
                name="scoring_generation_live",
            ),
        ),
        migrations.AddConstraint(
            model_name="generationitem",
            constraint=models.UniqueConstraint(fields=("run", "case", "sample"), name="scoring_generationitem_once"),
        ),
        migrations.AddConstraint(
            model_name="generationitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("response__isnull", False), ("status", "done")),
                    models.Q(models.Q(("status", "done"), _negated=True), ("response", None)),
                    _connector="OR",
                ),
                name="scoring_generationitem_response",
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.UniqueConstraint(fields=("benchmark", "name", "version"), name="scoring_judge_once"),
        ),
        migrations.AddIndex(
            model_name="judgerun",
            index=models.Index(
                condition=models.Q(("status__in", ["pending", "running", "paused", "cancelling"])),
                fields=["heartbeat_at"],
                name="scoring_run_live",
            ),
        ),
        migrations.AddIndex(
            model_name="judgerun",
            index=models.Index(fields=["benchmark", "judge", "-finished_at"], name="scoring_run_newest"),
        ),
        migrations.AddIndex(
            model_name="judgecall",
            index=models.Index(fields=["run", "error_kind"], name="scoring_call_errors"),
        ),
        migrations.AddConstraint(
            model_name="judgerunitem",
            constraint=models.UniqueConstraint(fields=("run", "response"), name="scoring_item_once"),
        ),
        migrations.AddConstraint(
            model_name="runslice",
            constraint=models.UniqueConstraint(fields=("run", "number"), name="scoring_slice_once"),
        ),
        migrations.AddConstraint(
            model_name="screening",
            constraint=models.CheckConstraint(
                condition=models.Q(("threshold__gte", 0), ("threshold__lte", 1)), name="scoring_screening_threshold"
            ),
        ),
        migrations.AddIndex(
            model_name="screenedcaseevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="scoring_scr_pgh_cre_855da2_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="screenedcaseevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="3b6bbee583c23e3f40ec45239f1a3f500cdf4045",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_bc569",
                    table="scoring_screenedcaseevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="screenedcaseevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="a8c6e2f1b8f14f2d8ca8bd58fb1c31f30e183029",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_4f41e",
                    table="scoring_screenedcaseevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="screenedcase",
            constraint=models.UniqueConstraint(fields=("screening", "case"), name="scoring_screened_once"),
        ),
        migrations.AddConstraint(
            model_name="screenedcase",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decision", "exclude"), _negated=True),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="scoring_screened_out_with_a_reason",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="screenedcase",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "scoring_screenedcaseevent" ("case_id", "decided_at", '
                        '"decided_by_id", "decision", "flagged", "id", "n_responses", "note", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"reason", "score", "scores", "screening_id") VALUES (NEW."case_id", '
                        'NEW."decided_at", NEW."decided_by_id", NEW."decision", NEW."flagged", NEW."id", '
                        'NEW."n_responses", NEW."note", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."reason", NEW."score", '
                        'NEW."scores", NEW."screening_id"); RETURN NULL;'
                    ),
                    hash="7c4a32db6a42eda7fccf8d3ecd0990101f767257",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_9027b",
                    table="scoring_screenedcase",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="screenedcase",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "scoring_screenedcaseevent" ("case_id", "decided_at", '
                        '"decided_by_id", "decision", "flagged", "id", "n_responses", "note", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"reason", "score", "scores", "screening_id") VALUES (NEW."case_id", '
                        'NEW."decided_at", NEW."decided_by_id", NEW."decision", NEW."flagged", NEW."id", '
                        'NEW."n_responses", NEW."note", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."reason", NEW."score", '
                        'NEW."scores", NEW."screening_id"); RETURN NULL;'
                    ),
                    hash="08dd34ca02a8de417c22d8ba16b5be050456f9a9",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_a37a1",
                    table="scoring_screenedcase",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.UniqueConstraint(
                fields=("run", "response", "criterion", "replicate"), name="scoring_verdict_once"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="verdict",
            trigger=pgtrigger.compiler.Trigger(
                name="stands",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="b70c9c41b853dccc038f1bc1fabbeff4f10b4371",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_stands_3cf8f",
                    table="scoring_verdict",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="verdict",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "scoring_verdictevent" ("call_id", "created_at", "criterion_id", '
                        '"explanation", "id", "outcome", "pgh_context", "pgh_context_id", '
                        '"pgh_created_at", "pgh_label", "pgh_obj_id", "probability", "replicate", '
                        '"response_id", "run_id") VALUES (NEW."call_id", NEW."created_at", '
                        'NEW."criterion_id", NEW."explanation", NEW."id", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."probability", NEW."replicate", '
                        'NEW."response_id", NEW."run_id"); RETURN NULL;'
                    ),
                    hash="c97d85ab9d1fce5fe7fec2d64fbdea797a19ca3a",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_63ad6",
                    table="scoring_verdict",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="verdict",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "scoring_verdictevent" ("call_id", "created_at", "criterion_id", '
                        '"explanation", "id", "outcome", "pgh_context", "pgh_context_id", '
                        '"pgh_created_at", "pgh_label", "pgh_obj_id", "probability", "replicate", '
                        '"response_id", "run_id") VALUES (NEW."call_id", NEW."created_at", '
                        'NEW."criterion_id", NEW."explanation", NEW."id", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."probability", NEW."replicate", '
                        'NEW."response_id", NEW."run_id"); RETURN NULL;'
                    ),
                    hash="0c0c89417c3d9e35d983090eec4efec987dd652e",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_66196",
                    table="scoring_verdict",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="verdictevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="scoring_ver_pgh_cre_e93f4b_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="verdictevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="9d1b77f028029fb55435645df204b6aca95b993a",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_e12d4",
                    table="scoring_verdictevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="verdictevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="f1af5d281f3a5656a4a4309f3cab2c79c5489e34",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_050a6",
                    table="scoring_verdictevent",
                    when="BEFORE",
                ),
            ),
        ),
    ]
