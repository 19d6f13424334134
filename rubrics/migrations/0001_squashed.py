"""The tables of benchmarks, cases, responses, rubrics and their review, with their triggers."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.serializers.json
import django.core.validators
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.core.identifiers


class Migration(migrations.Migration):
    replaces = [
        ("rubrics", "0001_initial"),
        ("rubrics", "0002_importjob_attempts"),
        ("rubrics", "0003_role_active"),
        ("rubrics", "0004_workspace"),
        ("rubrics", "0005_record_by_time"),
        ("rubrics", "0006_authoring"),
        ("rubrics", "0007_review_content"),
        ("rubrics", "0008_audit_comment_when_done"),
        ("rubrics", "0011_drafts_stay"),
        ("rubrics", "0012_fewer_indexes"),
        ("rubrics", "0013_criterion_count"),
        ("rubrics", "0014_fewer_indexes_of_items"),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Benchmark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "slug",
                    models.CharField(
                        max_length=80,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z0-9][a-z0-9_-]*$", "Lower-case letters, digits, hyphens and underscores."
                            )
                        ],
                        verbose_name="short name",
                    ),
                ),
                ("title", models.CharField(max_length=200, verbose_name="title")),
                ("description", models.TextField(blank=True, verbose_name="description")),
                (
                    "guidelines",
                    models.TextField(
                        blank=True, help_text="Markdown, shown beside the grading page.", verbose_name="guidelines"
                    ),
                ),
                (
                    "rule_sheet",
                    models.TextField(
                        blank=True,
                        help_text="What “met” means. Physicians read it, judges get it in their prompt.",
                        verbose_name="rule sheet",
                    ),
                ),
                ("maps", models.JSONField(blank=True, default=dict, verbose_name="maps")),
                ("authoring", models.JSONField(blank=True, default=dict, verbose_name="rules for rubrics")),
                (
                    "licence",
                    models.CharField(
                        blank=True, help_text="Under which it is released.", max_length=200, verbose_name="licence"
                    ),
                ),
                ("is_demo", models.BooleanField(default=False, help_text="Made up, and marked so on every page.")),
                ("canary", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["title"],
            },
        ),
        migrations.CreateModel(
            name="AuthoringRole",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("author", "Author"), ("auditor", "Senior auditor")],
                        max_length=10,
                        verbose_name="role",
                    ),
                ),
                ("active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="authoring_roles",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="authoring_roles",
                        to="rubrics.benchmark",
                    ),
                ),
            ],
            options={
                "ordering": ["role", "user"],
            },
        ),
        migrations.CreateModel(
            name="Bank",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "slug",
                    models.CharField(
                        max_length=80,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z0-9][a-z0-9_-]*$", "Lower-case letters, digits, hyphens and underscores."
                            )
                        ],
                        verbose_name="short name",
                    ),
                ),
                ("title", models.CharField(max_length=200, verbose_name="title")),
                ("licence", models.CharField(blank=True, max_length=200, verbose_name="licence")),
                ("created_at", models.DateTimeField()),
                ("active", models.BooleanField(default=True)),
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
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="banks", to="rubrics.benchmark"
                    ),
                ),
            ],
            options={
                "ordering": ["title"],
            },
        ),
        migrations.CreateModel(
            name="AuthoringRoleEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "role",
                    models.CharField(
                        choices=[("author", "Author"), ("auditor", "Senior auditor")],
                        max_length=10,
                        verbose_name="role",
                    ),
                ),
                ("active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="rubrics.authoringrole",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "benchmark",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.benchmark",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="BenchmarkRole",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(choices=[("admin", "Admin"), ("researcher", "Researcher")], max_length=20)),
                ("active", models.BooleanField(default=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="roles", to="rubrics.benchmark"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="benchmark_roles",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="BenchmarkRoleEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                ("role", models.CharField(choices=[("admin", "Admin"), ("researcher", "Researcher")], max_length=20)),
                ("active", models.BooleanField(default=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.benchmark",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="rubrics.benchmarkrole",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Candidate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                (
                    "kind",
                    models.CharField(
                        choices=[("model", "Model"), ("physician", "Physician"), ("reference", "Reference")],
                        default="model",
                        max_length=10,
                        verbose_name="kind",
                    ),
                ),
                ("metadata", models.JSONField(blank=True, default=dict)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="candidates", to="rubrics.benchmark"
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Case",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("key", models.CharField(max_length=200, verbose_name="key")),
                ("conversation", models.JSONField(verbose_name="conversation")),
                ("reference_answer", models.TextField(blank=True, verbose_name="reference answer")),
                (
                    "difficulty",
                    models.CharField(
                        blank=True,
                        choices=[("low", "Low"), ("medium", "Medium"), ("high", "High")],
                        max_length=10,
                        verbose_name="difficulty",
                    ),
                ),
                (
                    "register",
                    models.CharField(
                        blank=True,
                        choices=[("lay", "Lay"), ("professional", "Professional")],
                        max_length=15,
                        verbose_name="register",
                    ),
                ),
                ("language", models.CharField(blank=True, max_length=10, verbose_name="language")),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300), blank=True, default=list, size=None
                    ),
                ),
                (
                    "label_tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300), blank=True, default=list, size=None
                    ),
                ),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("edit_version", models.PositiveIntegerField(db_default=1, default=1)),
                ("edit_id", models.UUIDField(blank=True, null=True)),
                ("edited_at", models.DateTimeField(blank=True, null=True)),
                ("excluded_at", models.DateTimeField(blank=True, null=True)),
                (
                    "exclusion",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("screening", "Screening"),
                            ("audit", "Senior audit"),
                            ("decision", "Decision of an admin"),
                        ],
                        db_default="",
                        default="",
                        max_length=10,
                    ),
                ),
                ("exclusion_reason", models.TextField(blank=True, db_default="", default="")),
                (
                    "benchmark",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cases",
                        to="rubrics.benchmark",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "excluded_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "supersedes",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="errata",
                        to="rubrics.case",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="AuthoringTime",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "activity",
                    models.CharField(
                        choices=[("write", "Writing"), ("review", "Reviewing"), ("audit", "Auditing")], max_length=10
                    ),
                ),
                ("seconds", models.PositiveIntegerField(default=0)),
                ("reported_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="authoring_times",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="authoring_times", to="rubrics.case"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CaseAudit",
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
                ("share", models.FloatField(default=0.2, verbose_name="share")),
                ("seed", models.BigIntegerField(verbose_name="seed")),
                ("frame", models.JSONField(default=dict)),
                ("auditors_per_case", models.PositiveSmallIntegerField(default=1, verbose_name="auditors per case")),
                ("created_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="audits", to="rubrics.benchmark"
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
            name="AuditItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("number", models.PositiveSmallIntegerField(default=1)),
                ("position", models.PositiveIntegerField(default=0)),
                ("answers", models.JSONField(blank=True, default=dict)),
                (
                    "criteria",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[("sound", "Sound"), ("revise", "Revise"), ("remove", "Remove")],
                        max_length=10,
                    ),
                ),
                ("comment", models.TextField(blank=True, verbose_name="comment")),
                ("version", models.PositiveIntegerField(default=1)),
                ("taken_at", models.DateTimeField(blank=True, null=True)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                (
                    "auditor",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="audit_items",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="audit_items", to="rubrics.case"
                    ),
                ),
                (
                    "audit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="items", to="rubrics.caseaudit"
                    ),
                ),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="CaseLabelsEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                (
                    "difficulty",
                    models.CharField(
                        blank=True,
                        choices=[("low", "Low"), ("medium", "Medium"), ("high", "High")],
                        max_length=10,
                        verbose_name="difficulty",
                    ),
                ),
                (
                    "register",
                    models.CharField(
                        blank=True,
                        choices=[("lay", "Lay"), ("professional", "Professional")],
                        max_length=15,
                        verbose_name="register",
                    ),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300), blank=True, default=list, size=None
                    ),
                ),
                (
                    "label_tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300), blank=True, default=list, size=None
                    ),
                ),
                ("excluded_at", models.DateTimeField(blank=True, null=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.benchmark",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="rubrics.case",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Criterion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(verbose_name="text")),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="criteria", to="rubrics.case"
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="ImportJob",
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
                            ("cases", "Cases"),
                            ("responses", "Responses"),
                            ("decisions", "Physicians’ decisions"),
                            ("verdicts", "Judge verdicts"),
                            ("meta_eval", "Meta-evaluation labels"),
                            ("bank", "Bank of criteria"),
                            ("rubrics", "Rubrics as a table"),
                        ],
                        max_length=10,
                    ),
                ),
                ("file", models.FileField(upload_to="imports/")),
                ("file_name", models.CharField(max_length=255)),
                ("options", models.JSONField(blank=True, default=dict)),
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
                ("bytes_total", models.BigIntegerField(default=0)),
                ("bytes_read", models.BigIntegerField(default=0)),
                ("counts", models.JSONField(blank=True, default=dict)),
                ("errors", models.JSONField(blank=True, default=list)),
                ("error_total", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="imports", to="rubrics.benchmark"
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="imports", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="PrivacyWaiver",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=30)),
                ("quote", models.TextField()),
                ("reason", models.TextField()),
                ("waived_at", models.DateTimeField()),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="privacy_waivers", to="rubrics.case"
                    ),
                ),
                (
                    "waived_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Response",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("setting", models.CharField(default="chat", max_length=40, verbose_name="setting")),
                ("sample", models.PositiveIntegerField(default=0, verbose_name="sample")),
                ("text", models.TextField(verbose_name="text")),
                ("external_id", models.CharField(blank=True, max_length=200, verbose_name="external id")),
                (
                    "writing_mode",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Not a physician's, or not known"),
                            ("unaided", "Unaided"),
                            ("aided", "With model references shown"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="responses",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "candidate",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="responses", to="rubrics.candidate"
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="responses", to="rubrics.case"
                    ),
                ),
                (
                    "derived_from",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="derived",
                        to="rubrics.response",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Rubric",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("track", models.CharField(default="gold", max_length=40)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In review"),
                            ("published", "Published"),
                            ("superseded", "Superseded"),
                        ],
                        default="draft",
                        max_length=15,
                    ),
                ),
                ("provenance", models.CharField(blank=True, max_length=200)),
                ("criterion_count", models.PositiveIntegerField(editable=False, null=True)),
                ("note", models.TextField(blank=True, db_default="", default="", verbose_name="what changed, and why")),
                ("created_at", models.DateTimeField(blank=True, null=True)),
                ("published_at", models.DateTimeField(blank=True, null=True)),
                (
                    "based_on",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="rubrics.rubric",
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rubrics",
                        to="rubrics.case",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["case_id", "track", "version"],
            },
        ),
        migrations.CreateModel(
            name="RevisionRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("reason", models.TextField(verbose_name="reason")),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Open"), ("done", "Revised"), ("dismissed", "Left as it is")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("answer", models.TextField(blank=True, verbose_name="answer")),
                ("created_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "closed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revision_requests",
                        to="rubrics.criterion",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.response"
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revision_requests",
                        to="rubrics.rubric",
                    ),
                ),
                (
                    "taken_up_in",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="takes_up",
                        to="rubrics.rubric",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="AuditItemEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "public_id",
                    models.CharField(default=consilium.core.identifiers.new_public_id, editable=False, max_length=16),
                ),
                ("number", models.PositiveSmallIntegerField(default=1)),
                ("position", models.PositiveIntegerField(default=0)),
                ("answers", models.JSONField(blank=True, default=dict)),
                (
                    "criteria",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[("sound", "Sound"), ("revise", "Revise"), ("remove", "Remove")],
                        max_length=10,
                    ),
                ),
                ("comment", models.TextField(blank=True, verbose_name="comment")),
                ("version", models.PositiveIntegerField(default=1)),
                ("taken_at", models.DateTimeField(blank=True, null=True)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                (
                    "auditor",
                    models.ForeignKey(
                        blank=True,
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
                        to="rubrics.audititem",
                    ),
                ),
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
                    "audit",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.caseaudit",
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.rubric",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="audititem",
            name="rubric",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="audit_items", to="rubrics.rubric"
            ),
        ),
        migrations.CreateModel(
            name="RubricContributor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="contributors", to="rubrics.rubric"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rubrics_written",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RubricDraft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content", models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ("digest", models.CharField(max_length=64)),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("saved_at", models.DateTimeField()),
                (
                    "rubric",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="draft", to="rubrics.rubric"
                    ),
                ),
                (
                    "saved_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RubricEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                ("track", models.CharField(default="gold", max_length=40)),
                ("version", models.PositiveIntegerField(default=1)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In review"),
                            ("published", "Published"),
                            ("superseded", "Superseded"),
                        ],
                        default="draft",
                        max_length=15,
                    ),
                ),
                ("provenance", models.CharField(blank=True, max_length=200)),
                ("criterion_count", models.PositiveIntegerField(editable=False, null=True)),
                ("note", models.TextField(blank=True, db_default="", default="", verbose_name="what changed, and why")),
                ("created_at", models.DateTimeField(blank=True, null=True)),
                ("published_at", models.DateTimeField(blank=True, null=True)),
                (
                    "based_on",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.rubric",
                    ),
                ),
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
                    "created_by",
                    models.ForeignKey(
                        blank=True,
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
                        to="rubrics.rubric",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="RubricItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField(verbose_name="position")),
                ("points", models.SmallIntegerField(verbose_name="points")),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300), blank=True, default=list, size=None
                    ),
                ),
                ("source_note", models.TextField(blank=True, verbose_name="source")),
                (
                    "case_element",
                    models.TextField(blank=True, db_default="", default="", verbose_name="element of the case"),
                ),
                ("expectation", models.TextField(blank=True, db_default="", default="", verbose_name="what it checks")),
                ("bank_item", models.CharField(blank=True, db_default="", default="", max_length=200)),
                (
                    "criterion",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="items",
                        to="rubrics.criterion",
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="rubrics.rubric",
                    ),
                ),
            ],
            options={
                "ordering": ["rubric_id", "position"],
            },
        ),
        migrations.CreateModel(
            name="RubricReview",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "outcome",
                    models.CharField(choices=[("approved", "Approved"), ("returned", "Returned")], max_length=10),
                ),
                ("digest", models.CharField(max_length=64)),
                ("comment", models.TextField(blank=True, verbose_name="comment")),
                ("item_comments", models.JSONField(blank=True, default=dict)),
                ("content", models.JSONField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "reviewer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rubric_reviews",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="reviews", to="rubrics.rubric"
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="RubricReviewEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "outcome",
                    models.CharField(choices=[("approved", "Approved"), ("returned", "Returned")], max_length=10),
                ),
                ("digest", models.CharField(max_length=64)),
                ("comment", models.TextField(blank=True, verbose_name="comment")),
                ("item_comments", models.JSONField(blank=True, default=dict)),
                ("content", models.JSONField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="rubrics.rubricreview",
                    ),
                ),
                (
                    "reviewer",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.rubric",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="BankItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=100)),
                ("section", models.CharField(max_length=100, verbose_name="section")),
                ("text", models.JSONField(default=dict)),
                ("guidance", models.JSONField(blank=True, default=dict)),
                ("dimension", models.CharField(blank=True, max_length=200, verbose_name="dimension")),
                ("points", models.SmallIntegerField(default=5, verbose_name="points")),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300), blank=True, default=list, size=None
                    ),
                ),
                (
                    "applies_to",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=300), blank=True, default=list, size=None
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
                (
                    "bank",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="rubrics.bank"
                    ),
                ),
            ],
            options={
                "ordering": ["position", "pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("bank", "key"), name="rubrics_bankitem_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("points__gte", -10), ("points__lte", 10), models.Q(("points", 0), _negated=True)
                        ),
                        name="rubrics_bankitem_points",
                    ),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="bank",
            constraint=models.UniqueConstraint(fields=("benchmark", "slug"), name="rubrics_bank_once"),
        ),
        migrations.AddIndex(
            model_name="authoringroleevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="rubrics_aut_pgh_cre_a435ab_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="authoringroleevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="66188875ed572011865e9159831964f567dd0b96",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_95093",
                    table="rubrics_authoringroleevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="authoringroleevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="e2cf2bf3b02480fa1d70669dfcdfd425d598b318",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_90b3c",
                    table="rubrics_authoringroleevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="authoringrole",
            constraint=models.UniqueConstraint(fields=("benchmark", "user", "role"), name="rubrics_authoringrole_once"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="authoringrole",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "rubrics_authoringroleevent" ("active", "benchmark_id", "created_at", '
                        '"id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", '
                        '"pgh_obj_id", "role", "user_id") VALUES (NEW."active", NEW."benchmark_id", '
                        'NEW."created_at", NEW."id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."role", NEW."user_id"); RETURN '
                        "NULL;"
                    ),
                    hash="b9a61504afb7f52cf9a7e73c71a24d064ff8c9b7",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_5d321",
                    table="rubrics_authoringrole",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="authoringrole",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "rubrics_authoringroleevent" ("active", "benchmark_id", "created_at", '
                        '"id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", '
                        '"pgh_obj_id", "role", "user_id") VALUES (NEW."active", NEW."benchmark_id", '
                        'NEW."created_at", NEW."id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."role", NEW."user_id"); RETURN '
                        "NULL;"
                    ),
                    hash="26586b7c499efee61dbaa86150037ad69a9d495f",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_ad1c9",
                    table="rubrics_authoringrole",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="benchmarkrole",
            constraint=models.UniqueConstraint(fields=("benchmark", "user"), name="rubrics_benchmarkrole_once"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="benchmarkrole",
            trigger=pgtrigger.compiler.Trigger(
                name="not_a_group_member",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        "\n"
                        "                    PERFORM pg_advisory_xact_lock(1001, NEW.benchmark_id::int);\n"
                        "                    IF EXISTS (\n"
                        "                        SELECT 1 FROM annotation_membership m JOIN "
                        "annotation_expertgroup g ON g.id = m.group_id\n"
                        "                        WHERE m.user_id = NEW.user_id AND g.benchmark_id = "
                        "NEW.benchmark_id\n"
                        "                    ) THEN\n"
                        "                        RAISE EXCEPTION 'A member of an expert group cannot run "
                        "the benchmark'\n"
                        "                            USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'rubrics_role_not_group_member';\n"
                        "                    END IF;\n"
                        "                    RETURN NEW;\n"
                        "                "
                    ),
                    hash="9fe278c95d04bbe9b0d1876d82bc71081564d277",
                    operation="INSERT OR UPDATE",
                    pgid="pgtrigger_not_a_group_member_2880b",
                    table="rubrics_benchmarkrole",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="benchmarkrole",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "rubrics_benchmarkroleevent" ("active", "benchmark_id", "id", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"role", "user_id") VALUES (NEW."active", NEW."benchmark_id", NEW."id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."role", NEW."user_id"); RETURN '
                        "NULL;"
                    ),
                    hash="f951301f1db86cc4c6e36eee902df5d49594fdde",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_a2385",
                    table="rubrics_benchmarkrole",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="benchmarkrole",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "rubrics_benchmarkroleevent" ("active", "benchmark_id", "id", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"role", "user_id") VALUES (NEW."active", NEW."benchmark_id", NEW."id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."role", NEW."user_id"); RETURN '
                        "NULL;"
                    ),
                    hash="5acd88772922d92fcc75100129a8868ef2afeb41",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_7334e",
                    table="rubrics_benchmarkrole",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="benchmarkroleevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="rubrics_ben_pgh_cre_62d907_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="benchmarkroleevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="86e11b24009421d2705a018e673c34a8ffca3438",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_62d3e",
                    table="rubrics_benchmarkroleevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="benchmarkroleevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="54119dbaf7ebb2613d86cd82cb718d88ce52bcae",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_65184",
                    table="rubrics_benchmarkroleevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="candidate",
            constraint=models.UniqueConstraint(fields=("benchmark", "name"), name="rubrics_candidate_name_once"),
        ),
        migrations.AddIndex(
            model_name="case",
            index=django.contrib.postgres.indexes.GinIndex(fields=["tags"], name="rubrics_case_tags"),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(fields=["benchmark", "language"], name="rubrics_case_languages"),
        ),
        migrations.AddConstraint(
            model_name="case",
            constraint=models.UniqueConstraint(fields=("benchmark", "key"), name="rubrics_case_key_once"),
        ),
        migrations.AddConstraint(
            model_name="case",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("excluded_at", None), models.Q(("exclusion_reason", ""), _negated=True), _connector="OR"
                ),
                name="rubrics_exclusion_reason",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="case",
            trigger=pgtrigger.compiler.Trigger(
                name="frozen_once_published",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition=(
                        'WHEN (OLD."benchmark_id" IS DISTINCT FROM (NEW."benchmark_id") OR '
                        'OLD."conversation" IS DISTINCT FROM (NEW."conversation") OR OLD."key" IS DISTINCT '
                        'FROM (NEW."key") OR OLD."reference_answer" IS DISTINCT FROM '
                        '(NEW."reference_answer"))'
                    ),
                    func=(
                        "\n"
                        "                    IF EXISTS (\n"
                        "                        SELECT 1 FROM rubrics_rubric r\n"
                        "                        WHERE r.case_id = OLD.id AND r.status IN ('published', "
                        "'superseded') FOR SHARE\n"
                        "                    ) THEN\n"
                        "                        RAISE EXCEPTION 'The content of a case is frozen once a "
                        "rubric of it is published'\n"
                        "                            USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'rubrics_case_frozen';\n"
                        "                    END IF;\n"
                        "                    RETURN NEW;\n"
                        "                "
                    ),
                    hash="6dd5cdc90a6debb377c03ceea961d3195a98f831",
                    operation="UPDATE",
                    pgid="pgtrigger_frozen_once_published_2708a",
                    table="rubrics_case",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="case",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "rubrics_caselabelsevent" ("benchmark_id", "difficulty", '
                        '"excluded_at", "label_tags", "pgh_context", "pgh_context_id", "pgh_created_at", '
                        '"pgh_label", "pgh_obj_id", "register", "tags") SELECT new_values."benchmark_id", '
                        'new_values."difficulty", new_values."excluded_at", new_values."label_tags", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', new_values."id", new_values."register", '
                        'new_values."tags" FROM ( SELECT new_values.* FROM new_values  ) AS new_values; '
                        "RETURN NULL;"
                    ),
                    hash="0c2b14a52be1abb6c77501b5592b84742fe5b827",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_e2c85",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="rubrics_case",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="case",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition=(
                        'WHEN (OLD."benchmark_id" IS DISTINCT FROM (NEW."benchmark_id") OR '
                        'OLD."difficulty" IS DISTINCT FROM (NEW."difficulty") OR OLD."excluded_at" IS '
                        'DISTINCT FROM (NEW."excluded_at") OR OLD."label_tags" IS DISTINCT FROM '
                        '(NEW."label_tags") OR OLD."register" IS DISTINCT FROM (NEW."register") OR '
                        'OLD."tags" IS DISTINCT FROM (NEW."tags"))'
                    ),
                    func=(
                        'INSERT INTO "rubrics_caselabelsevent" ("benchmark_id", "difficulty", '
                        '"excluded_at", "label_tags", "pgh_context", "pgh_context_id", "pgh_created_at", '
                        '"pgh_label", "pgh_obj_id", "register", "tags") VALUES (NEW."benchmark_id", '
                        'NEW."difficulty", NEW."excluded_at", NEW."label_tags", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."register", NEW."tags"); RETURN '
                        "NULL;"
                    ),
                    hash="4beffae09600c805aadda687049a3cae79f829c6",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_4a25d",
                    table="rubrics_case",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="authoringtime",
            constraint=models.UniqueConstraint(fields=("case", "user", "activity"), name="rubrics_authoringtime_once"),
        ),
        migrations.AddConstraint(
            model_name="caseaudit",
            constraint=models.CheckConstraint(
                condition=models.Q(("share__gt", 0), ("share__lte", 1)), name="rubrics_audit_share"
            ),
        ),
        migrations.AddIndex(
            model_name="caselabelsevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="rubrics_cas_pgh_cre_6b1307_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="caselabelsevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="8845f1ffd725dc2e6b18e80c45e9ab9a47e536b9",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_6b53a",
                    table="rubrics_caselabelsevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="caselabelsevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="89f4fcbbed3c81ec5db0a5aa5eba1bd3dda9472c",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_9f7a8",
                    table="rubrics_caselabelsevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="criterion",
            trigger=pgtrigger.compiler.Trigger(
                name="immutable",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="18a33afdb0548556e1f5b4ed093f5af68427fbd0",
                    operation="UPDATE",
                    pgid="pgtrigger_immutable_b2a1d",
                    table="rubrics_criterion",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="importjob",
            index=models.Index(
                condition=models.Q(("status__in", ["pending", "running"])),
                fields=["created_at"],
                name="rubrics_import_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="privacywaiver",
            constraint=models.UniqueConstraint(fields=("case", "kind", "quote"), name="rubrics_waiver_once"),
        ),
        migrations.AddConstraint(
            model_name="privacywaiver",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="rubrics_waiver_has_a_reason"
            ),
        ),
        migrations.AddIndex(
            model_name="response",
            index=models.Index(fields=["candidate", "case"], name="rubrics_response_candidate"),
        ),
        migrations.AddConstraint(
            model_name="response",
            constraint=models.UniqueConstraint(
                fields=("case", "candidate", "setting", "sample"), name="rubrics_response_once"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="response",
            trigger=pgtrigger.compiler.Trigger(
                name="content_stands",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition=(
                        'WHEN (OLD."public_id" IS DISTINCT FROM (NEW."public_id") OR OLD."case_id" IS '
                        'DISTINCT FROM (NEW."case_id") OR OLD."candidate_id" IS DISTINCT FROM '
                        '(NEW."candidate_id") OR OLD."setting" IS DISTINCT FROM (NEW."setting") OR '
                        'OLD."sample" IS DISTINCT FROM (NEW."sample") OR OLD."text" IS DISTINCT FROM '
                        '(NEW."text") OR OLD."author_id" IS DISTINCT FROM (NEW."author_id"))'
                    ),
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="32ec8eb8c2bede6b258a99482b586c08f1c28635",
                    operation="UPDATE",
                    pgid="pgtrigger_content_stands_c7ba5",
                    table="rubrics_response",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="rubric",
            constraint=models.UniqueConstraint(fields=("case", "track", "version"), name="rubrics_rubric_version_once"),
        ),
        migrations.AddConstraint(
            model_name="rubric",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "published")),
                fields=("case", "track"),
                name="rubrics_rubric_one_published",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubric",
            trigger=pgtrigger.compiler.Trigger(
                name="no_way_back",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        "\n"
                        "                    IF NEW.case_id <> OLD.case_id OR NEW.track <> OLD.track OR "
                        "NEW.version <> OLD.version\n"
                        "                       OR (OLD.status = 'published' AND NEW.status NOT IN "
                        "('published', 'superseded'))\n"
                        "                       OR (OLD.status = 'superseded' AND NEW.status <> "
                        "'superseded') THEN\n"
                        "                        RAISE EXCEPTION 'A published rubric can only be "
                        "superseded'\n"
                        "                            USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'rubrics_rubric_published_stays';\n"
                        "                    END IF;\n"
                        "                    RETURN NEW;\n"
                        "                "
                    ),
                    hash="5887143ded375d57e3b43a386a32badf56d6fc54",
                    operation="UPDATE",
                    pgid="pgtrigger_no_way_back_2cd18",
                    table="rubrics_rubric",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubric",
            trigger=pgtrigger.compiler.Trigger(
                name="counted_when_published",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (NEW.\"status\" IN ('published', 'superseded'))",
                    func=(
                        "\n"
                        "                    IF OLD.status IN ('published', 'superseded') THEN\n"
                        "                        NEW.criterion_count := OLD.criterion_count;\n"
                        "                    ELSE\n"
                        "                        NEW.criterion_count := NULL;\n"
                        "                    END IF;\n"
                        "                    IF NEW.criterion_count IS NULL THEN\n"
                        "                        NEW.criterion_count := (SELECT count(*) FROM "
                        "rubrics_rubricitem i WHERE i.rubric_id = NEW.id);\n"
                        "                    END IF;\n"
                        "                    RETURN NEW;\n"
                        "                "
                    ),
                    hash="b69c51ebfeb281a6184273b092b2e6921cfd1117",
                    operation="UPDATE",
                    pgid="pgtrigger_counted_when_published_264c8",
                    table="rubrics_rubric",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubric",
            trigger=pgtrigger.compiler.Trigger(
                name="counted_where_it_arrives",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition=(
                        "WHEN (NEW.\"criterion_count\" IS NULL AND NEW.\"status\" IN ('published', 'superseded'))"
                    ),
                    func=(
                        "\n"
                        "                    NEW.criterion_count := (SELECT count(*) FROM "
                        "rubrics_rubricitem i WHERE i.rubric_id = NEW.id);\n"
                        "                    RETURN NEW;\n"
                        "                "
                    ),
                    hash="9d82097f4af572584d9b0d21646b4a07a46f090e",
                    operation="INSERT",
                    pgid="pgtrigger_counted_where_it_arrives_5a597",
                    table="rubrics_rubric",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubric",
            trigger=pgtrigger.compiler.Trigger(
                name="two_physicians",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (NEW.\"status\" = 'published' AND NOT (OLD.\"status\" = 'published'))",
                    func=(
                        "\n"
                        "                    IF EXISTS (SELECT 1 FROM rubrics_rubricdraft d WHERE "
                        "d.rubric_id = NEW.id) AND NOT EXISTS (\n"
                        "                        SELECT 1 FROM rubrics_rubricreview v\n"
                        "                        JOIN rubrics_rubricdraft d ON d.rubric_id = v.rubric_id "
                        "AND d.digest = v.digest\n"
                        "                        WHERE v.rubric_id = NEW.id AND v.outcome = 'approved' AND "
                        "NOT EXISTS (\n"
                        "                            SELECT 1 FROM rubrics_rubriccontributor c\n"
                        "                            WHERE c.rubric_id = NEW.id AND c.user_id = "
                        "v.reviewer_id\n"
                        "                        )\n"
                        "                    ) THEN\n"
                        "                        RAISE EXCEPTION 'A rubric is published when somebody who "
                        "did not write it has approved it'\n"
                        "                            USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'rubrics_rubric_two_physicians';\n"
                        "                    END IF;\n"
                        "                    RETURN NEW;\n"
                        "                "
                    ),
                    hash="f233d8d087ce03f06c5bc5f82745373ad235c093",
                    operation="UPDATE",
                    pgid="pgtrigger_two_physicians_9c075",
                    table="rubrics_rubric",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubric",
            trigger=pgtrigger.compiler.Trigger(
                name="published_not_deleted",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (NOT (OLD.\"status\" = 'draft'))",
                    func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                    hash="da6140d58a0b993a0f5dca2b9d3d745ffec74871",
                    operation="DELETE",
                    pgid="pgtrigger_published_not_deleted_2035f",
                    table="rubrics_rubric",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubric",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "rubrics_rubricevent" ("based_on_id", "case_id", "created_at", '
                        '"created_by_id", "criterion_count", "id", "note", "pgh_context", '
                        '"pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provenance", '
                        '"published_at", "status", "track", "version") SELECT new_values."based_on_id", '
                        'new_values."case_id", new_values."created_at", new_values."created_by_id", '
                        'new_values."criterion_count", new_values."id", new_values."note", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', new_values."id", new_values."provenance", '
                        'new_values."published_at", new_values."status", new_values."track", '
                        'new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values; '
                        "RETURN NULL;"
                    ),
                    hash="23cf6b999b29c81969751d15af31d7b547cecdb6",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_6728d",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="rubrics_rubric",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubric",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "rubrics_rubricevent" ("based_on_id", "case_id", "created_at", '
                        '"created_by_id", "criterion_count", "id", "note", "pgh_context", '
                        '"pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provenance", '
                        '"published_at", "status", "track", "version") VALUES (NEW."based_on_id", '
                        'NEW."case_id", NEW."created_at", NEW."created_by_id", NEW."criterion_count", '
                        'NEW."id", NEW."note", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."provenance", '
                        'NEW."published_at", NEW."status", NEW."track", NEW."version"); RETURN NULL;'
                    ),
                    hash="73fad222494518474b02aeb4bd1e0f4b9321c4d2",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_ab844",
                    table="rubrics_rubric",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="revisionrequest",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "open")),
                fields=("rubric", "criterion", "response"),
                name="rubrics_one_open_revision",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="revisionrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="rubrics_revision_has_a_reason"
            ),
        ),
        migrations.AddIndex(
            model_name="audititemevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="rubrics_aud_pgh_cre_cf2c3a_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="audititemevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="d4a7975c8136b98e8626f6308f1281a64a14fd5f",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_5a8dd",
                    table="rubrics_audititemevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="audititemevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="0a8a98d8fc4510424b2b698ce07931d6402c3911",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_48f0b",
                    table="rubrics_audititemevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="audititem",
            constraint=models.UniqueConstraint(fields=("audit", "case", "number"), name="rubrics_audititem_once"),
        ),
        migrations.AddConstraint(
            model_name="audititem",
            constraint=models.UniqueConstraint(fields=("audit", "case", "auditor"), name="rubrics_auditor_once_a_case"),
        ),
        migrations.AddConstraint(
            model_name="audititem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("done_at", None),
                    models.Q(models.Q(("outcome", ""), _negated=True), ("auditor__isnull", False)),
                    _connector="OR",
                ),
                name="rubrics_audit_outcome",
            ),
        ),
        migrations.AddConstraint(
            model_name="audititem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("done_at", None), ("outcome", "sound"), models.Q(("comment", ""), _negated=True), _connector="OR"
                ),
                name="rubrics_audit_comment",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="audititem",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "rubrics_audititemevent" ("answers", "audit_id", "auditor_id", '
                        '"case_id", "comment", "criteria", "done_at", "id", "number", "outcome", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"position", "public_id", "rubric_id", "taken_at", "version") VALUES '
                        '(NEW."answers", NEW."audit_id", NEW."auditor_id", NEW."case_id", NEW."comment", '
                        'NEW."criteria", NEW."done_at", NEW."id", NEW."number", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."position", NEW."public_id", '
                        'NEW."rubric_id", NEW."taken_at", NEW."version"); RETURN NULL;'
                    ),
                    hash="5fbbd66d78b6ff386414e6474b664663c641ec50",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_70bc7",
                    table="rubrics_audititem",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="audititem",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "rubrics_audititemevent" ("answers", "audit_id", "auditor_id", '
                        '"case_id", "comment", "criteria", "done_at", "id", "number", "outcome", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"position", "public_id", "rubric_id", "taken_at", "version") VALUES '
                        '(NEW."answers", NEW."audit_id", NEW."auditor_id", NEW."case_id", NEW."comment", '
                        'NEW."criteria", NEW."done_at", NEW."id", NEW."number", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."position", NEW."public_id", '
                        'NEW."rubric_id", NEW."taken_at", NEW."version"); RETURN NULL;'
                    ),
                    hash="14ab27137470386ce5b6f45a53964c2e16d395fb",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_aba45",
                    table="rubrics_audititem",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="rubriccontributor",
            constraint=models.UniqueConstraint(fields=("rubric", "user"), name="rubrics_contributor_once"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubriccontributor",
            trigger=pgtrigger.compiler.Trigger(
                name="stays_with_its_rubric",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    constraint="CONSTRAINT",
                    func=(
                        "\n"
                        "                IF (TG_OP = 'DELETE' OR NEW.rubric_id <> OLD.rubric_id)\n"
                        "                   AND EXISTS (SELECT 1 FROM rubrics_rubric r WHERE r.id = "
                        "OLD.rubric_id) THEN\n"
                        "                    RAISE EXCEPTION 'The record of how a rubric was written stays "
                        "with it'\n"
                        "                        USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'rubrics_draft_stays';\n"
                        "                END IF;\n"
                        "                RETURN NULL;\n"
                        "            "
                    ),
                    hash="3c6227b70ee8a6d3e308ea5db0930e7f40e845f4",
                    operation='DELETE OR UPDATE OF "rubric_id"',
                    pgid="pgtrigger_stays_with_its_rubric_8eb5f",
                    table="rubrics_rubriccontributor",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubriccontributor",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The record of how rubrics were written cannot be truncated';",
                    hash="61e2f46a1c9c56ce345a5c4d27f7637bb8f8e0c2",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_64e3c",
                    table="rubrics_rubriccontributor",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubriccontributor",
            trigger=pgtrigger.compiler.Trigger(
                name="stays_the_same_person",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."user_id" IS DISTINCT FROM (NEW."user_id"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="a07b47417895983416a28f9b4fa04f507bc5ceab",
                    operation="UPDATE",
                    pgid="pgtrigger_stays_the_same_person_e80e9",
                    table="rubrics_rubriccontributor",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricdraft",
            trigger=pgtrigger.compiler.Trigger(
                name="stays_with_its_rubric",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    constraint="CONSTRAINT",
                    func=(
                        "\n"
                        "                IF (TG_OP = 'DELETE' OR NEW.rubric_id <> OLD.rubric_id)\n"
                        "                   AND EXISTS (SELECT 1 FROM rubrics_rubric r WHERE r.id = "
                        "OLD.rubric_id) THEN\n"
                        "                    RAISE EXCEPTION 'The record of how a rubric was written stays "
                        "with it'\n"
                        "                        USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'rubrics_draft_stays';\n"
                        "                END IF;\n"
                        "                RETURN NULL;\n"
                        "            "
                    ),
                    hash="087c2d1fda2a4c0c2aaa42d697798669eeb3e490",
                    operation='DELETE OR UPDATE OF "rubric_id"',
                    pgid="pgtrigger_stays_with_its_rubric_4375c",
                    table="rubrics_rubricdraft",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricdraft",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The record of how rubrics were written cannot be truncated';",
                    hash="9a6b8b306723ba94eacf5123486f69ba68471f85",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_4631c",
                    table="rubrics_rubricdraft",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="rubricevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="rubrics_rub_pgh_cre_0e9b42_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="129dce08e17c526abee35a69eb7fbcccb2545ddf",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_32a34",
                    table="rubrics_rubricevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="1a47b7023c467ba11250c186a18dbb74cb989204",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_24f13",
                    table="rubrics_rubricevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="rubricitem",
            constraint=models.UniqueConstraint(fields=("rubric", "position"), name="rubrics_item_position_once"),
        ),
        migrations.AddConstraint(
            model_name="rubricitem",
            constraint=models.UniqueConstraint(fields=("criterion", "rubric"), name="rubrics_item_criterion_once"),
        ),
        migrations.AddConstraint(
            model_name="rubricitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("points__gte", -10), ("points__lte", 10), models.Q(("points", 0), _negated=True)),
                name="rubrics_item_points",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricitem",
            trigger=pgtrigger.compiler.Trigger(
                name="draft_on_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        "\n"
                        "            PERFORM 1 FROM rubrics_rubric r\n"
                        "                WHERE r.id IN (SELECT rubric_id FROM new_rows) AND r.status NOT "
                        "IN ('draft', 'in_review') FOR SHARE;\n"
                        "            IF FOUND THEN\n"
                        "                RAISE EXCEPTION 'The items of a published rubric stand'\n"
                        "                    USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'rubrics_item_only_in_drafts';\n"
                        "            END IF;\n"
                        "            RETURN NULL;\n"
                        "        "
                    ),
                    hash="3d70f82b29d67b45c22e053dc78b842b581ed655",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_draft_on_insert_61489",
                    referencing="REFERENCING NEW TABLE AS new_rows ",
                    table="rubrics_rubricitem",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricitem",
            trigger=pgtrigger.compiler.Trigger(
                name="draft_on_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        "\n"
                        "            PERFORM 1 FROM rubrics_rubric r\n"
                        "                WHERE r.id IN (SELECT rubric_id FROM old_rows) AND r.status NOT "
                        "IN ('draft', 'in_review') FOR SHARE;\n"
                        "            IF FOUND THEN\n"
                        "                RAISE EXCEPTION 'The items of a published rubric stand'\n"
                        "                    USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'rubrics_item_only_in_drafts';\n"
                        "            END IF;\n"
                        "            RETURN NULL;\n"
                        "        "
                    ),
                    hash="19ff117d667f71c8053525c2e0b7cf6da222fbbc",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_draft_on_update_1dc3b",
                    referencing="REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ",
                    table="rubrics_rubricitem",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricitem",
            trigger=pgtrigger.compiler.Trigger(
                name="draft_on_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        "\n"
                        "            PERFORM 1 FROM rubrics_rubric r\n"
                        "                WHERE r.id IN (SELECT rubric_id FROM old_rows) AND r.status NOT "
                        "IN ('draft', 'in_review') FOR SHARE;\n"
                        "            IF FOUND THEN\n"
                        "                RAISE EXCEPTION 'The items of a published rubric stand'\n"
                        "                    USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'rubrics_item_only_in_drafts';\n"
                        "            END IF;\n"
                        "            RETURN NULL;\n"
                        "        "
                    ),
                    hash="7440a8950764e2a930b58fbf82d35b64d4764061",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_draft_on_delete_e3f2f",
                    referencing="REFERENCING OLD TABLE AS old_rows ",
                    table="rubrics_rubricitem",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="rubricreview",
            constraint=models.UniqueConstraint(fields=("rubric", "reviewer", "digest"), name="rubrics_review_once"),
        ),
        migrations.AddConstraint(
            model_name="rubricreview",
            constraint=models.CheckConstraint(
                condition=models.Q(("outcome", "approved"), models.Q(("comment", ""), _negated=True), _connector="OR"),
                name="rubrics_return_has_a_comment",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricreview",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "rubrics_rubricreviewevent" ("comment", "content", "created_at", '
                        '"digest", "id", "item_comments", "outcome", "pgh_context", "pgh_context_id", '
                        '"pgh_created_at", "pgh_label", "pgh_obj_id", "reviewer_id", "rubric_id") VALUES '
                        '(NEW."comment", NEW."content", NEW."created_at", NEW."digest", NEW."id", '
                        'NEW."item_comments", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."reviewer_id", '
                        'NEW."rubric_id"); RETURN NULL;'
                    ),
                    hash="39d9a8a5960654d4fcae3fbff09acd28b112f6af",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_5a0b0",
                    table="rubrics_rubricreview",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricreview",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "rubrics_rubricreviewevent" ("comment", "content", "created_at", '
                        '"digest", "id", "item_comments", "outcome", "pgh_context", "pgh_context_id", '
                        '"pgh_created_at", "pgh_label", "pgh_obj_id", "reviewer_id", "rubric_id") VALUES '
                        '(NEW."comment", NEW."content", NEW."created_at", NEW."digest", NEW."id", '
                        'NEW."item_comments", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."reviewer_id", '
                        'NEW."rubric_id"); RETURN NULL;'
                    ),
                    hash="7e3614fe8bf380f7387ce0d917dc18ee76f1a39c",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_0b980",
                    table="rubrics_rubricreview",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="rubricreviewevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="rubrics_rub_pgh_cre_b67192_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricreviewevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="5ac2e75216e412d3229eda612a3385bb0ff4b005",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_badd4",
                    table="rubrics_rubricreviewevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rubricreviewevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="84a4506cd7222db6ffde47e3a92c06a59d085219",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_9261f",
                    table="rubrics_rubricreviewevent",
                    when="BEFORE",
                ),
            ),
        ),
    ]
