"""The tables of batches, assignments, decisions, adjudication, labels and writing, with their triggers."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
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
        ("annotation", "0001_initial"),
        ("annotation", "0002_workspace"),
        ("annotation", "0003_gold_since"),
        ("annotation", "0004_label_tags_written"),
        ("annotation", "0005_label_time_and_release"),
        ("annotation", "0006_review_versions"),
        ("annotation", "0007_record_by_time"),
        ("annotation", "0008_authoring"),
        ("annotation", "0009_writing_record"),
        ("annotation", "0010_one_batch_a_preview"),
        ("annotation", "0011_final_rulings"),
    ]

    initial = True

    dependencies = [
        ("rubrics", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Adjudication",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("criteria", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("agreement", models.FloatField()),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Conflict"), ("done", "Adjudicated")], default="open", max_length=10
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "adjudicator",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="adjudications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="adjudications", to="rubrics.response"
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.rubric"
                    ),
                ),
            ],
            options={
                "ordering": ["agreement", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Amendment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[("met", "Met"), ("not_met", "Not met"), ("cannot_assess", "Cannot assess")],
                        max_length=15,
                    ),
                ),
                ("reason", models.TextField()),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.criterion"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Batch",
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
                    "kind",
                    models.CharField(
                        choices=[
                            ("grade", "Grade responses"),
                            ("label", "Answer questions about cases"),
                            ("qualify", "Qualification"),
                            ("write", "Write responses"),
                        ],
                        default="grade",
                        max_length=10,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Open"), ("paused", "Paused"), ("closed", "Closed")],
                        default="open",
                        max_length=10,
                    ),
                ),
                (
                    "order",
                    models.CharField(
                        choices=[("by_case", "Case by case"), ("shuffled", "Fully shuffled")],
                        default="by_case",
                        max_length=10,
                        verbose_name="order",
                    ),
                ),
                (
                    "annotators_per_item",
                    models.PositiveSmallIntegerField(
                        default=1,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="annotators per response",
                    ),
                ),
                (
                    "check_policy",
                    models.CharField(
                        choices=[
                            ("none", "No secondary check"),
                            ("sample", "A random share"),
                            ("all", "Every response"),
                        ],
                        default="all",
                        max_length=10,
                        verbose_name="secondary check",
                    ),
                ),
                (
                    "check_fraction",
                    models.FloatField(
                        default=1.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="share to check",
                    ),
                ),
                (
                    "strategy",
                    models.CharField(
                        choices=[
                            ("planned", "Handed out when the batch is made"),
                            ("pool", "Taken one by one from a pool"),
                        ],
                        default="planned",
                        max_length=10,
                        verbose_name="assignment",
                    ),
                ),
                (
                    "specialty_match",
                    models.CharField(
                        choices=[
                            ("none", "Any specialty"),
                            ("preferred", "Matching specialty first"),
                            ("required", "Matching specialty only"),
                        ],
                        default="none",
                        max_length=10,
                        verbose_name="specialty",
                    ),
                ),
                (
                    "lease_hours",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="lease, hours",
                    ),
                ),
                (
                    "gold_per_annotator",
                    models.PositiveSmallIntegerField(default=0, verbose_name="gold items for each annotator"),
                ),
                ("due_date", models.DateField(blank=True, null=True, verbose_name="due")),
                ("seed", models.BigIntegerField(verbose_name="seed")),
                ("plan_digest", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("frame", models.JSONField(default=dict)),
                ("imported", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
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
            name="Assignment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                (
                    "criteria",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, null=True, size=None
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[("work", "Work"), ("gold", "Gold item"), ("qualification", "Qualification")],
                        default="work",
                        max_length=15,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("not_started", "Not started"),
                            ("draft", "Draft"),
                            ("submitted", "Submitted"),
                            ("in_check", "In check"),
                            ("returned", "Returned"),
                            ("accepted", "Accepted"),
                            ("released", "Released"),
                        ],
                        default="not_started",
                        max_length=15,
                    ),
                ),
                ("round", models.PositiveSmallIntegerField(default=1)),
                ("position", models.PositiveIntegerField(default=0)),
                ("to_check", models.BooleanField(default=False)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                ("batch_closed", models.BooleanField(db_default=False, default=False, editable=False)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.case"),
                ),
                (
                    "checker",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="checks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="assignments", to="rubrics.response"
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.rubric"
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="assignments", to="annotation.batch"
                    ),
                ),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="BatchItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("inclusion_probability", models.FloatField(default=1.0)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="items", to="annotation.batch"
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="batch_items", to="rubrics.response"
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.rubric"
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Check",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("round", models.PositiveSmallIntegerField()),
                (
                    "result",
                    models.CharField(
                        blank=True, choices=[("accepted", "Accepted"), ("returned", "Returned")], max_length=10
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="checks", to="annotation.assignment"
                    ),
                ),
                (
                    "checker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AmendmentEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[("met", "Met"), ("not_met", "Not met"), ("cannot_assess", "Cannot assess")],
                        max_length=15,
                    ),
                ),
                ("reason", models.TextField()),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
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
                        to="annotation.amendment",
                    ),
                ),
                (
                    "check_row",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.check",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="amendment",
            name="check_row",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="amendments", to="annotation.check"
            ),
        ),
        migrations.CreateModel(
            name="CheckEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                ("round", models.PositiveSmallIntegerField()),
                (
                    "result",
                    models.CharField(
                        blank=True, choices=[("accepted", "Accepted"), ("returned", "Returned")], max_length=10
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "checker",
                    models.ForeignKey(
                        db_constraint=False,
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
                        to="annotation.check",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "voice",
                    models.CharField(
                        choices=[("annotator", "Annotator"), ("checker", "Secondary checker"), ("admin", "Admin")],
                        max_length=15,
                    ),
                ),
                ("text", models.TextField(verbose_name="comment")),
                ("created_at", models.DateTimeField()),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="comments", to="annotation.assignment"
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("round", models.PositiveSmallIntegerField(default=1)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[("met", "Met"), ("not_met", "Not met"), ("cannot_assess", "Cannot assess")],
                        max_length=15,
                        null=True,
                    ),
                ),
                ("borderline", models.BooleanField(default=False)),
                ("note", models.TextField(blank=True)),
                ("evidence", models.JSONField(blank=True, default=list)),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="decisions", to="rubrics.criterion"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DecisionEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                ("round", models.PositiveSmallIntegerField(default=1)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[("met", "Met"), ("not_met", "Not met"), ("cannot_assess", "Cannot assess")],
                        max_length=15,
                        null=True,
                    ),
                ),
                ("borderline", models.BooleanField(default=False)),
                ("note", models.TextField(blank=True)),
                ("evidence", models.JSONField(blank=True, default=list)),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "assignment",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.assignment",
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
                        to="annotation.decision",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ExpertGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="groups", to="rubrics.benchmark"
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="BatchEvent",
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
                ("title", models.CharField(max_length=200, verbose_name="title")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("grade", "Grade responses"),
                            ("label", "Answer questions about cases"),
                            ("qualify", "Qualification"),
                            ("write", "Write responses"),
                        ],
                        default="grade",
                        max_length=10,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Open"), ("paused", "Paused"), ("closed", "Closed")],
                        default="open",
                        max_length=10,
                    ),
                ),
                (
                    "order",
                    models.CharField(
                        choices=[("by_case", "Case by case"), ("shuffled", "Fully shuffled")],
                        default="by_case",
                        max_length=10,
                        verbose_name="order",
                    ),
                ),
                (
                    "annotators_per_item",
                    models.PositiveSmallIntegerField(
                        default=1,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="annotators per response",
                    ),
                ),
                (
                    "check_policy",
                    models.CharField(
                        choices=[
                            ("none", "No secondary check"),
                            ("sample", "A random share"),
                            ("all", "Every response"),
                        ],
                        default="all",
                        max_length=10,
                        verbose_name="secondary check",
                    ),
                ),
                (
                    "check_fraction",
                    models.FloatField(
                        default=1.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="share to check",
                    ),
                ),
                (
                    "strategy",
                    models.CharField(
                        choices=[
                            ("planned", "Handed out when the batch is made"),
                            ("pool", "Taken one by one from a pool"),
                        ],
                        default="planned",
                        max_length=10,
                        verbose_name="assignment",
                    ),
                ),
                (
                    "specialty_match",
                    models.CharField(
                        choices=[
                            ("none", "Any specialty"),
                            ("preferred", "Matching specialty first"),
                            ("required", "Matching specialty only"),
                        ],
                        default="none",
                        max_length=10,
                        verbose_name="specialty",
                    ),
                ),
                (
                    "lease_hours",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="lease, hours",
                    ),
                ),
                (
                    "gold_per_annotator",
                    models.PositiveSmallIntegerField(default=0, verbose_name="gold items for each annotator"),
                ),
                ("due_date", models.DateField(blank=True, null=True, verbose_name="due")),
                ("seed", models.BigIntegerField(verbose_name="seed")),
                ("plan_digest", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("frame", models.JSONField(default=dict)),
                ("imported", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
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
                        to="annotation.batch",
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.expertgroup",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="batch",
            name="group",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="batches", to="annotation.expertgroup"
            ),
        ),
        migrations.CreateModel(
            name="AdjudicationEvent",
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
                ("criteria", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("agreement", models.FloatField()),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Conflict"), ("done", "Adjudicated")], default="open", max_length=10
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "adjudicator",
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
                        to="annotation.adjudication",
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
                    "rubric",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.rubric",
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.expertgroup",
                    ),
                ),
                (
                    "other_group",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.expertgroup",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="adjudication",
            name="group",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="adjudications", to="annotation.expertgroup"
            ),
        ),
        migrations.AddField(
            model_name="adjudication",
            name="other_group",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.expertgroup",
            ),
        ),
        migrations.CreateModel(
            name="Involvement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("annotator", "Annotator"),
                            ("checker", "Secondary checker"),
                            ("adjudicator", "Adjudicator"),
                        ],
                        max_length=15,
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.expertgroup",
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="involvements", to="rubrics.response"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="KeyedDecision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "outcome",
                    models.CharField(
                        choices=[("met", "Met"), ("not_met", "Not met"), ("cannot_assess", "Cannot assess")],
                        max_length=15,
                    ),
                ),
                ("explanation", models.TextField(blank=True, verbose_name="explanation")),
                (
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.criterion"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="KeyedResponse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                (
                    "use",
                    models.CharField(
                        choices=[("qualification", "Qualification"), ("gold", "Gold item")],
                        max_length=15,
                        verbose_name="use",
                    ),
                ),
                ("active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField()),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="keyed_responses",
                        to="rubrics.benchmark",
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
                    "response",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="key", to="rubrics.response"
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.rubric"
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="KeyedDecisionEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "outcome",
                    models.CharField(
                        choices=[("met", "Met"), ("not_met", "Not met"), ("cannot_assess", "Cannot assess")],
                        max_length=15,
                    ),
                ),
                ("explanation", models.TextField(blank=True, verbose_name="explanation")),
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
                        to="annotation.keyeddecision",
                    ),
                ),
                (
                    "keyed",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.keyedresponse",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="keyeddecision",
            name="keyed",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="decisions", to="annotation.keyedresponse"
            ),
        ),
        migrations.CreateModel(
            name="LabelQuestion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        max_length=60,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z0-9][a-z0-9_-]*$", "Lower-case letters, digits, hyphens and underscores."
                            )
                        ],
                        verbose_name="short name",
                    ),
                ),
                ("text", models.TextField(verbose_name="question")),
                (
                    "kind",
                    models.CharField(
                        choices=[("choice", "Single choice"), ("acuity", "Acuity in four levels, with certainty")],
                        default="choice",
                        max_length=10,
                        verbose_name="kind",
                    ),
                ),
                ("options", models.JSONField(default=list, verbose_name="options")),
                (
                    "threshold",
                    models.FloatField(
                        default=0.75,
                        help_text="Share of the answers that the most frequent one needs.",
                        validators=[
                            django.core.validators.MinValueValidator(0.5),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="counts as agreed from",
                    ),
                ),
                (
                    "minimum_answers",
                    models.PositiveSmallIntegerField(
                        default=2,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="fewest answers",
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(default=1)),
                ("active", models.BooleanField(default=True)),
                ("tags_written_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="label_questions",
                        to="rubrics.benchmark",
                    ),
                ),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="LabelAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("value", models.CharField(max_length=60)),
                ("certainty", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("note", models.TextField(blank=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answers",
                        to="annotation.labelquestion",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LabelTask",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("not_started", "Not started"),
                            ("draft", "Draft"),
                            ("submitted", "Submitted"),
                            ("released", "Released"),
                        ],
                        default="not_started",
                        max_length=15,
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="label_tasks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="label_tasks", to="annotation.batch"
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.case"),
                ),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="LabelAnswerEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                ("value", models.CharField(max_length=60)),
                ("certainty", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("note", models.TextField(blank=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="annotation.labelanswer",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.labelquestion",
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.labeltask",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="labelanswer",
            name="task",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="answers", to="annotation.labeltask"
            ),
        ),
        migrations.CreateModel(
            name="Attention",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seconds", models.PositiveIntegerField(default=0)),
                ("reported_at", models.DateTimeField()),
                (
                    "adjudication",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attention",
                        to="annotation.adjudication",
                    ),
                ),
                (
                    "assignment",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attention",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "label_task",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attention",
                        to="annotation.labeltask",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LabelTaskEvent",
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
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("not_started", "Not started"),
                            ("draft", "Draft"),
                            ("submitted", "Submitted"),
                            ("released", "Released"),
                        ],
                        default="not_started",
                        max_length=15,
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.batch",
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
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="annotation.labeltask",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("annotator", "Annotator"),
                            ("checker", "Secondary checker"),
                            ("adjudicator", "Adjudicator"),
                        ],
                        max_length=15,
                        verbose_name="role",
                    ),
                ),
                ("active", models.BooleanField(default=True)),
                (
                    "capacity",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="capacity",
                    ),
                ),
                ("withheld_at", models.DateTimeField(blank=True, null=True)),
                ("withheld_reason", models.TextField(blank=True)),
                ("gold_since", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to="annotation.expertgroup",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["group", "role", "user"],
            },
        ),
        migrations.CreateModel(
            name="MembershipEvent",
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
                        choices=[
                            ("annotator", "Annotator"),
                            ("checker", "Secondary checker"),
                            ("adjudicator", "Adjudicator"),
                        ],
                        max_length=15,
                        verbose_name="role",
                    ),
                ),
                ("active", models.BooleanField(default=True)),
                (
                    "capacity",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="capacity",
                    ),
                ),
                ("withheld_at", models.DateTimeField(blank=True, null=True)),
                ("withheld_reason", models.TextField(blank=True)),
                ("gold_since", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.expertgroup",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="annotation.membership",
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
            name="Physician",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pseudonym", models.CharField(max_length=200, verbose_name="pseudonym")),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="physicians", to="rubrics.benchmark"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pseudonyms",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["pseudonym"],
            },
        ),
        migrations.CreateModel(
            name="QualificationAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Under way"), ("passed", "Passed"), ("failed", "Not passed")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("mf1", models.FloatField(blank=True, null=True)),
                ("pairs", models.PositiveIntegerField(default=0)),
                ("pass_mark", models.FloatField()),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "batch",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="attempt", to="annotation.batch"
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attempts",
                        to="annotation.expertgroup",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="qualification_attempts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["user", "number"],
            },
        ),
        migrations.CreateModel(
            name="QualificationAttemptEvent",
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
                ("number", models.PositiveSmallIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Under way"), ("passed", "Passed"), ("failed", "Not passed")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("mf1", models.FloatField(blank=True, null=True)),
                ("pairs", models.PositiveIntegerField(default=0)),
                ("pass_mark", models.FloatField()),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "batch",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.batch",
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.expertgroup",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="annotation.qualificationattempt",
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
            name="QualificationRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("required", models.BooleanField(default=False, verbose_name="required")),
                (
                    "pass_mark",
                    models.FloatField(
                        default=0.7,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="pass mark",
                    ),
                ),
                (
                    "attempts",
                    models.PositiveSmallIntegerField(
                        default=2, validators=[django.core.validators.MinValueValidator(1)], verbose_name="attempts"
                    ),
                ),
                ("wait_hours", models.PositiveSmallIntegerField(default=0, verbose_name="hours between attempts")),
                (
                    "gold_mark",
                    models.FloatField(
                        blank=True,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="gold mark",
                    ),
                ),
                (
                    "gold_minimum",
                    models.PositiveSmallIntegerField(
                        default=60,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="gold decisions before it counts",
                    ),
                ),
                (
                    "benchmark",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="qualification_rule",
                        to="rubrics.benchmark",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Ruling",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("met", "Met"),
                            ("not_met", "Not met"),
                            ("cannot_assess", "Cannot assess"),
                            ("faulty", "The criterion is faulty"),
                        ],
                        max_length=15,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("final_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "adjudication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rulings",
                        to="annotation.adjudication",
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.criterion"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RulingEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("met", "Met"),
                            ("not_met", "Not met"),
                            ("cannot_assess", "Cannot assess"),
                            ("faulty", "The criterion is faulty"),
                        ],
                        max_length=15,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("final_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "adjudication",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.adjudication",
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
                        to="annotation.ruling",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Skip",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("later", "Later"),
                            ("expertise", "Outside my field"),
                            ("unreadable", "Cannot be judged as it stands"),
                            ("other", "Another reason"),
                        ],
                        max_length=15,
                        verbose_name="reason",
                    ),
                ),
                ("note", models.TextField(blank=True, verbose_name="note")),
                ("created_at", models.DateTimeField()),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="skips", to="annotation.assignment"
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Slot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="slots", to="annotation.batchitem"
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="AssignmentEvent",
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
                (
                    "criteria",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, null=True, size=None
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[("work", "Work"), ("gold", "Gold item"), ("qualification", "Qualification")],
                        default="work",
                        max_length=15,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("not_started", "Not started"),
                            ("draft", "Draft"),
                            ("submitted", "Submitted"),
                            ("in_check", "In check"),
                            ("returned", "Returned"),
                            ("accepted", "Accepted"),
                            ("released", "Released"),
                        ],
                        default="not_started",
                        max_length=15,
                    ),
                ),
                ("round", models.PositiveSmallIntegerField(default=1)),
                ("position", models.PositiveIntegerField(default=0)),
                ("to_check", models.BooleanField(default=False)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                ("batch_closed", models.BooleanField(db_default=False, default=False, editable=False)),
                (
                    "annotator",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                    "checker",
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
                        to="annotation.assignment",
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
                    "rubric",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.rubric",
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.batch",
                    ),
                ),
                (
                    "slot",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.slot",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="assignment",
            name="slot",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="assignments",
                to="annotation.slot",
            ),
        ),
        migrations.CreateModel(
            name="WritingTask",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("not_started", "Not started"),
                            ("draft", "Draft"),
                            ("submitted", "Submitted"),
                            ("released", "Released"),
                        ],
                        default="not_started",
                        max_length=15,
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
                ("text", models.TextField(blank=True)),
                (
                    "shown",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("client_id", models.UUIDField(blank=True, null=True)),
                ("seconds", models.PositiveIntegerField(default=0)),
                ("reported_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("saved_at", models.DateTimeField(blank=True, null=True)),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                (
                    "release_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("passed_on", "Handed over"),
                            ("taken_back", "Taken back"),
                            ("has_read", "Has read an answer to the case meanwhile"),
                        ],
                        db_default="",
                        default="",
                        max_length=10,
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="writing_tasks", to="annotation.batch"
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.case"),
                ),
                (
                    "derived_from",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="rubrics.response",
                    ),
                ),
                (
                    "response",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="written_in",
                        to="rubrics.response",
                    ),
                ),
                (
                    "writer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="writing_tasks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="WritingTaskEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("not_started", "Not started"),
                            ("draft", "Draft"),
                            ("submitted", "Submitted"),
                            ("released", "Released"),
                        ],
                        default="not_started",
                        max_length=15,
                    ),
                ),
                (
                    "release_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("passed_on", "Handed over"),
                            ("taken_back", "Taken back"),
                            ("has_read", "Has read an answer to the case meanwhile"),
                        ],
                        db_default="",
                        default="",
                        max_length=10,
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="annotation.batch",
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
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="annotation.writingtask",
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="rubrics.response",
                    ),
                ),
                (
                    "writer",
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
            name="WritingTerms",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "mode",
                    models.CharField(
                        choices=[("unaided", "Unaided"), ("aided", "With references")],
                        max_length=10,
                        verbose_name="mode",
                    ),
                ),
                ("mode_name", models.CharField(blank=True, max_length=100, verbose_name="name of the mode")),
                ("instructions", models.TextField(blank=True, verbose_name="instructions")),
                (
                    "batch",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="writing_terms", to="annotation.batch"
                    ),
                ),
                (
                    "candidate",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="rubrics.candidate"
                    ),
                ),
                ("references", models.ManyToManyField(blank=True, related_name="+", to="rubrics.candidate")),
            ],
        ),
        migrations.AddConstraint(
            model_name="batchitem",
            constraint=models.UniqueConstraint(fields=("batch", "response"), name="annotation_batchitem_once"),
        ),
        migrations.AddConstraint(
            model_name="batchitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("inclusion_probability__gt", 0), ("inclusion_probability__lte", 1)),
                name="annotation_batchitem_probability",
            ),
        ),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.UniqueConstraint(fields=("assignment", "round"), name="annotation_check_once"),
        ),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("result", "returned"), _negated=True),
                    models.Q(("note", ""), _negated=True),
                    _connector="OR",
                ),
                name="annotation_return_has_a_note",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="check",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_checkevent" ("assignment_id", "checker_id", "created_at", '
                        '"finished_at", "id", "note", "pgh_context", "pgh_context_id", "pgh_created_at", '
                        '"pgh_label", "pgh_obj_id", "result", "round") VALUES (NEW."assignment_id", '
                        'NEW."checker_id", NEW."created_at", NEW."finished_at", NEW."id", NEW."note", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."result", NEW."round"); RETURN '
                        "NULL;"
                    ),
                    hash="0aa1eb4c53824b8ef4cc84bc8e8489d9c45f8835",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_a40e2",
                    table="annotation_check",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="check",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_checkevent" ("assignment_id", "checker_id", "created_at", '
                        '"finished_at", "id", "note", "pgh_context", "pgh_context_id", "pgh_created_at", '
                        '"pgh_label", "pgh_obj_id", "result", "round") VALUES (NEW."assignment_id", '
                        'NEW."checker_id", NEW."created_at", NEW."finished_at", NEW."id", NEW."note", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."result", NEW."round"); RETURN '
                        "NULL;"
                    ),
                    hash="64d12593365d0d80a0d17b070840d6b54e191a05",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_e8993",
                    table="annotation_check",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="amendmentevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_919a82_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="amendmentevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="f4a714510e27046d7c6e5803296a6e1811f7de05",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_70a1e",
                    table="annotation_amendmentevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="amendmentevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="5ffcaf62036b9bc0c7759b5f99bedcea5c585caa",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_2cb85",
                    table="annotation_amendmentevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="amendment",
            constraint=models.UniqueConstraint(fields=("check_row", "criterion"), name="annotation_amendment_once"),
        ),
        migrations.AddConstraint(
            model_name="amendment",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="annotation_amendment_has_a_reason"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="amendment",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_amendmentevent" ("check_row_id", "client_id", '
                        '"created_at", "criterion_id", "id", "outcome", "pgh_context", "pgh_context_id", '
                        '"pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "updated_at", "version") '
                        'VALUES (NEW."check_row_id", NEW."client_id", NEW."created_at", '
                        'NEW."criterion_id", NEW."id", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."reason", NEW."updated_at", '
                        'NEW."version"); RETURN NULL;'
                    ),
                    hash="5461512cedfc49d7a363730d7c5923cad9947d4f",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_7e355",
                    table="annotation_amendment",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="amendment",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_amendmentevent" ("check_row_id", "client_id", '
                        '"created_at", "criterion_id", "id", "outcome", "pgh_context", "pgh_context_id", '
                        '"pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "updated_at", "version") '
                        'VALUES (NEW."check_row_id", NEW."client_id", NEW."created_at", '
                        'NEW."criterion_id", NEW."id", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."reason", NEW."updated_at", '
                        'NEW."version"); RETURN NULL;'
                    ),
                    hash="dc243794b985a4b64c714e6ab3b39329e045ebcc",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_64581",
                    table="annotation_amendment",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="checkevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_19b897_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="checkevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="d4503cd406a1a646a14122f9d716dbeda43e2f31",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_df000",
                    table="annotation_checkevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="checkevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="0bf57d6580439cbd107d0ec03501e8e2eb38fef8",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_e3e86",
                    table="annotation_checkevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="annotation_comment_says_something"
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(fields=["criterion"], name="annotation_by_criterion"),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.UniqueConstraint(
                fields=("assignment", "criterion", "round"), name="annotation_decision_once"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decision",
            trigger=pgtrigger.compiler.Trigger(
                name="never_deleted",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                    hash="b7fdc67cf4f6a7722405c2523954e626891c3066",
                    operation="DELETE",
                    pgid="pgtrigger_never_deleted_81d94",
                    table="annotation_decision",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decision",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_decisionevent" ("assignment_id", "borderline", '
                        '"client_id", "created_at", "criterion_id", "evidence", "id", "note", "outcome", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"round", "updated_at", "version") VALUES (NEW."assignment_id", NEW."borderline", '
                        'NEW."client_id", NEW."created_at", NEW."criterion_id", NEW."evidence", NEW."id", '
                        'NEW."note", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."round", NEW."updated_at", '
                        'NEW."version"); RETURN NULL;'
                    ),
                    hash="be68d44f1280ce6001b6f80de2206511ad7a78e3",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_f943c",
                    table="annotation_decision",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decision",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_decisionevent" ("assignment_id", "borderline", '
                        '"client_id", "created_at", "criterion_id", "evidence", "id", "note", "outcome", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"round", "updated_at", "version") VALUES (NEW."assignment_id", NEW."borderline", '
                        'NEW."client_id", NEW."created_at", NEW."criterion_id", NEW."evidence", NEW."id", '
                        'NEW."note", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."round", NEW."updated_at", '
                        'NEW."version"); RETURN NULL;'
                    ),
                    hash="321d371b90700eec8121acad5cfc0e3e34c25248",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_8701b",
                    table="annotation_decision",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="decisionevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_e859bd_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decisionevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="35f2d7420dd7643224d675ccfab34a1568ad8e3f",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_1710c",
                    table="annotation_decisionevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decisionevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="9da0d6430acc7ba8ac873633fd55ce16affb9259",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_5db96",
                    table="annotation_decisionevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="expertgroup",
            constraint=models.UniqueConstraint(fields=("benchmark", "name"), name="annotation_group_name_once"),
        ),
        migrations.AddIndex(
            model_name="batchevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_f80d8b_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="batchevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="6bda2f5925c2f245fb8382555f5a727d6449ee13",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_f99cc",
                    table="annotation_batchevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="batchevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="7f54cf0add1e4ff6a467c87d4529344b80479800",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_a8cc3",
                    table="annotation_batchevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(("check_fraction__gte", 0), ("check_fraction__lte", 1)),
                name="annotation_batch_fraction",
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(("annotators_per_item__gte", 1)), name="annotation_batch_annotators"
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("closed_at__isnull", False), ("status", "closed")),
                    models.Q(models.Q(("status", "closed"), _negated=True), ("closed_at", None)),
                    _connector="OR",
                ),
                name="annotation_batch_closed_at",
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.UniqueConstraint(
                condition=models.Q(("plan_digest", ""), _negated=True),
                fields=("group", "kind", "seed", "plan_digest"),
                name="annotation_batch_of_preview_once",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="batch",
            trigger=pgtrigger.compiler.Trigger(
                name="end_open_work",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (NEW.\"status\" = 'closed' AND NOT (OLD.\"status\" = 'closed'))",
                    func=(
                        "\n"
                        "                    UPDATE annotation_assignment SET batch_closed = true\n"
                        "                        WHERE batch_id = NEW.id AND status NOT IN ('accepted', "
                        "'released');\n"
                        "                    RETURN NULL;\n"
                        "                "
                    ),
                    hash="97edefb20c2806695f43101abff24b53b9d0380b",
                    operation='UPDATE OF "status"',
                    pgid="pgtrigger_end_open_work_6e130",
                    table="annotation_batch",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="batch",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_batchevent" ("annotators_per_item", "check_fraction", '
                        '"check_policy", "closed_at", "created_at", "created_by_id", "due_date", "frame", '
                        '"gold_per_annotator", "group_id", "id", "imported", "kind", "lease_hours", '
                        '"order", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", '
                        '"pgh_obj_id", "plan_digest", "public_id", "seed", "specialty_match", "status", '
                        '"strategy", "title") VALUES (NEW."annotators_per_item", NEW."check_fraction", '
                        'NEW."check_policy", NEW."closed_at", NEW."created_at", NEW."created_by_id", '
                        'NEW."due_date", NEW."frame", NEW."gold_per_annotator", NEW."group_id", NEW."id", '
                        'NEW."imported", NEW."kind", NEW."lease_hours", NEW."order", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."plan_digest", NEW."public_id", '
                        'NEW."seed", NEW."specialty_match", NEW."status", NEW."strategy", NEW."title"); '
                        "RETURN NULL;"
                    ),
                    hash="1653733ab6c687f4b6e472f7dd1372d2f6e57174",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_c744d",
                    table="annotation_batch",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="batch",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_batchevent" ("annotators_per_item", "check_fraction", '
                        '"check_policy", "closed_at", "created_at", "created_by_id", "due_date", "frame", '
                        '"gold_per_annotator", "group_id", "id", "imported", "kind", "lease_hours", '
                        '"order", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", '
                        '"pgh_obj_id", "plan_digest", "public_id", "seed", "specialty_match", "status", '
                        '"strategy", "title") VALUES (NEW."annotators_per_item", NEW."check_fraction", '
                        'NEW."check_policy", NEW."closed_at", NEW."created_at", NEW."created_by_id", '
                        'NEW."due_date", NEW."frame", NEW."gold_per_annotator", NEW."group_id", NEW."id", '
                        'NEW."imported", NEW."kind", NEW."lease_hours", NEW."order", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."plan_digest", NEW."public_id", '
                        'NEW."seed", NEW."specialty_match", NEW."status", NEW."strategy", NEW."title"); '
                        "RETURN NULL;"
                    ),
                    hash="8fcc8408e050f6e830517dc0097cc6c9b1d6f09c",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_3c88f",
                    table="annotation_batch",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="adjudicationevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_65c19d_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="adjudicationevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="8b41e9507488eabd2eaa45be3e568233f443117f",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_8ed94",
                    table="annotation_adjudicationevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="adjudicationevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="1bfc869fa8c6c998962c4ee1f88baa885b288080",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_e0806",
                    table="annotation_adjudicationevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.UniqueConstraint(
                fields=("response", "rubric", "group", "other_group"),
                name="annotation_adjudication_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("other_group", None), models.Q(("other_group", models.F("group")), _negated=True), _connector="OR"
                ),
                name="annotation_two_groups",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="adjudication",
            trigger=pgtrigger.compiler.Trigger(
                name="one_part_each",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE the_group bigint;",
                    func=(
                        "\n"
                        "                    IF NEW.adjudicator_id IS NOT NULL THEN\n"
                        "                        the_group := CASE WHEN NEW.other_group_id IS NULL THEN "
                        "NEW.group_id END;\n"
                        "                        \n"
                        "        IF EXISTS (SELECT 1 FROM rubrics_response r WHERE r.id = NEW.response_id "
                        "AND r.author_id = NEW.adjudicator_id) THEN\n"
                        "            RAISE EXCEPTION 'Nobody grades, checks or adjudicates a response of "
                        "their own'\n"
                        "                USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'annotation_not_the_author';\n"
                        "        END IF;\n"
                        "        INSERT INTO annotation_involvement (response_id, user_id, part, "
                        "group_id)\n"
                        "            VALUES (NEW.response_id, NEW.adjudicator_id, 'adjudicator', "
                        "the_group) ON CONFLICT (response_id, user_id) DO NOTHING;\n"
                        "        IF NOT EXISTS (\n"
                        "            SELECT 1 FROM annotation_involvement i WHERE i.response_id = "
                        "NEW.response_id AND i.user_id = NEW.adjudicator_id\n"
                        "               AND i.part = 'adjudicator' AND i.group_id IS NOT DISTINCT FROM "
                        "the_group\n"
                        "        ) THEN\n"
                        "            RAISE EXCEPTION 'This person already has another part for this "
                        "response'\n"
                        "                USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'annotation_one_part_per_response';\n"
                        "        END IF;\n"
                        "    \n"
                        "                    END IF;\n"
                        "                    RETURN NEW;\n"
                        "                "
                    ),
                    hash="c2c9039770b2389d64e68d360e7f2978fa01ca76",
                    operation='INSERT OR UPDATE OF "adjudicator_id", "response_id"',
                    pgid="pgtrigger_one_part_each_47725",
                    table="annotation_adjudication",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="adjudication",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_adjudicationevent" ("adjudicator_id", "agreement", '
                        '"created_at", "criteria", "finished_at", "group_id", "id", "other_group_id", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"public_id", "response_id", "rubric_id", "status") VALUES (NEW."adjudicator_id", '
                        'NEW."agreement", NEW."created_at", NEW."criteria", NEW."finished_at", '
                        'NEW."group_id", NEW."id", NEW."other_group_id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."public_id", NEW."response_id", '
                        'NEW."rubric_id", NEW."status"); RETURN NULL;'
                    ),
                    hash="eb03e81eb9742588432d50c2f16b152014c4a2db",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_a80f8",
                    table="annotation_adjudication",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="adjudication",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_adjudicationevent" ("adjudicator_id", "agreement", '
                        '"created_at", "criteria", "finished_at", "group_id", "id", "other_group_id", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"public_id", "response_id", "rubric_id", "status") VALUES (NEW."adjudicator_id", '
                        'NEW."agreement", NEW."created_at", NEW."criteria", NEW."finished_at", '
                        'NEW."group_id", NEW."id", NEW."other_group_id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."public_id", NEW."response_id", '
                        'NEW."rubric_id", NEW."status"); RETURN NULL;'
                    ),
                    hash="b1aeb0ed3509b4ee27eea8e3512195200c495e44",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_36ccb",
                    table="annotation_adjudication",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="involvement",
            constraint=models.UniqueConstraint(fields=("response", "user"), name="annotation_one_part_per_response"),
        ),
        migrations.AddIndex(
            model_name="keyeddecisionevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_645024_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="keyeddecisionevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="9e29842821688ca3c8b484719651799db9ee421f",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_b8a4b",
                    table="annotation_keyeddecisionevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="keyeddecisionevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="be31799751228b3cf917e1e70ddb7f029348bc06",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_6e679",
                    table="annotation_keyeddecisionevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="keyeddecision",
            constraint=models.UniqueConstraint(fields=("keyed", "criterion"), name="annotation_keyed_decision_once"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="keyeddecision",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_keyeddecisionevent" ("criterion_id", "explanation", "id", '
                        '"keyed_id", "outcome", "pgh_context", "pgh_context_id", "pgh_created_at", '
                        '"pgh_label", "pgh_obj_id") VALUES (NEW."criterion_id", NEW."explanation", '
                        'NEW."id", NEW."keyed_id", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        "NULL)::UUID, NOW(), 'insert', NEW.\"id\"); RETURN NULL;"
                    ),
                    hash="a080e21a269bd70fa74a3ad260287a52da975ba0",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_15854",
                    table="annotation_keyeddecision",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="keyeddecision",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_keyeddecisionevent" ("criterion_id", "explanation", "id", '
                        '"keyed_id", "outcome", "pgh_context", "pgh_context_id", "pgh_created_at", '
                        '"pgh_label", "pgh_obj_id") VALUES (NEW."criterion_id", NEW."explanation", '
                        'NEW."id", NEW."keyed_id", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        "NULL)::UUID, NOW(), 'update', NEW.\"id\"); RETURN NULL;"
                    ),
                    hash="3730ddf2dc990f41966c803d78d00fb3ea943881",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_88393",
                    table="annotation_keyeddecision",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="labelquestion",
            constraint=models.UniqueConstraint(fields=("benchmark", "name"), name="annotation_question_name_once"),
        ),
        migrations.AddConstraint(
            model_name="labelquestion",
            constraint=models.CheckConstraint(
                condition=models.Q(("threshold__gte", 0.5), ("threshold__lte", 1)), name="annotation_question_threshold"
            ),
        ),
        migrations.AddIndex(
            model_name="labeltask",
            index=models.Index(fields=["annotator", "status", "position"], name="annotation_label_queue"),
        ),
        migrations.AddConstraint(
            model_name="labeltask",
            constraint=models.UniqueConstraint(fields=("batch", "case", "annotator"), name="annotation_labeltask_once"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="labeltask",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_labeltaskevent" ("annotator_id", "batch_id", "case_id", '
                        '"id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", '
                        '"pgh_obj_id", "position", "public_id", "released_at", "started_at", "status", '
                        '"submitted_at") VALUES (NEW."annotator_id", NEW."batch_id", NEW."case_id", '
                        "NEW.\"id\", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), "
                        "''), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), "
                        "''), NULL)::UUID, NOW(), 'insert', NEW.\"id\", NEW.\"position\", "
                        'NEW."public_id", NEW."released_at", NEW."started_at", NEW."status", '
                        'NEW."submitted_at"); RETURN NULL;'
                    ),
                    hash="c4f1cbadb499527986f6ee61480bdab214fafded",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_e6f5e",
                    table="annotation_labeltask",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="labeltask",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_labeltaskevent" ("annotator_id", "batch_id", "case_id", '
                        '"id", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", '
                        '"pgh_obj_id", "position", "public_id", "released_at", "started_at", "status", '
                        '"submitted_at") VALUES (NEW."annotator_id", NEW."batch_id", NEW."case_id", '
                        "NEW.\"id\", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), "
                        "''), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), "
                        "''), NULL)::UUID, NOW(), 'update', NEW.\"id\", NEW.\"position\", "
                        'NEW."public_id", NEW."released_at", NEW."started_at", NEW."status", '
                        'NEW."submitted_at"); RETURN NULL;'
                    ),
                    hash="77bca2bf8bf6dac07e5633fa336dfbe98d202a21",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_aacbf",
                    table="annotation_labeltask",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="labelanswerevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_0c857b_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="labelanswerevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="352d5fac6f15a87fbb0e736f3223facc8e4109ac",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_331ae",
                    table="annotation_labelanswerevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="labelanswerevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="81b0be88ee67bc8e8e1aee823d7c151edf11d7bf",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_b255e",
                    table="annotation_labelanswerevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="labelanswer",
            constraint=models.UniqueConstraint(fields=("task", "question"), name="annotation_labelanswer_once"),
        ),
        migrations.AddConstraint(
            model_name="labelanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(("certainty", None), ("certainty__lte", 100), _connector="OR"),
                name="annotation_labelanswer_certainty",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="labelanswer",
            trigger=pgtrigger.compiler.Trigger(
                name="never_deleted",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                    hash="b9c6e79e92bf89100c43259e72333df2774e8c51",
                    operation="DELETE",
                    pgid="pgtrigger_never_deleted_17358",
                    table="annotation_labelanswer",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="labelanswer",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_labelanswerevent" ("certainty", "client_id", '
                        '"created_at", "id", "note", "pgh_context", "pgh_context_id", "pgh_created_at", '
                        '"pgh_label", "pgh_obj_id", "question_id", "task_id", "updated_at", "value", '
                        '"version") VALUES (NEW."certainty", NEW."client_id", NEW."created_at", NEW."id", '
                        "NEW.\"note\", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', "
                        "TRUE), ''), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', "
                        "TRUE), ''), NULL)::UUID, NOW(), 'insert', NEW.\"id\", NEW.\"question_id\", "
                        'NEW."task_id", NEW."updated_at", NEW."value", NEW."version"); RETURN NULL;'
                    ),
                    hash="a64f6d302c62985fa80232adc4dadb3fa1f333da",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_b2c4e",
                    table="annotation_labelanswer",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="labelanswer",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_labelanswerevent" ("certainty", "client_id", '
                        '"created_at", "id", "note", "pgh_context", "pgh_context_id", "pgh_created_at", '
                        '"pgh_label", "pgh_obj_id", "question_id", "task_id", "updated_at", "value", '
                        '"version") VALUES (NEW."certainty", NEW."client_id", NEW."created_at", NEW."id", '
                        "NEW.\"note\", COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', "
                        "TRUE), ''), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', "
                        "TRUE), ''), NULL)::UUID, NOW(), 'update', NEW.\"id\", NEW.\"question_id\", "
                        'NEW."task_id", NEW."updated_at", NEW."value", NEW."version"); RETURN NULL;'
                    ),
                    hash="496f7f9ecdfe5dabcc3905f31fa8978436e0364b",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_056d6",
                    table="annotation_labelanswer",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="attention",
            constraint=models.UniqueConstraint(
                fields=("user", "assignment", "adjudication", "label_task"),
                name="annotation_attention_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="attention",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("adjudication", None), ("assignment__isnull", False), ("label_task", None)),
                    models.Q(("adjudication__isnull", False), ("assignment", None), ("label_task", None)),
                    models.Q(("adjudication", None), ("assignment", None), ("label_task__isnull", False)),
                    _connector="OR",
                ),
                name="annotation_attention_of_one_thing",
            ),
        ),
        migrations.AddIndex(
            model_name="labeltaskevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_67c5aa_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="labeltaskevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="fd03760f9b6db80117d5ed78f5c56537de2d83b4",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_9d078",
                    table="annotation_labeltaskevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="labeltaskevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="0c055f9184c9dbd45fa15e2889f429326d03c2df",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_b0043",
                    table="annotation_labeltaskevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("group", "user", "role"), name="annotation_membership_once"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="independent",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE benchmark bigint;",
                    func=(
                        "\n"
                        "                    SELECT g.benchmark_id INTO benchmark FROM "
                        "annotation_expertgroup g WHERE g.id = NEW.group_id;\n"
                        "                    PERFORM pg_advisory_xact_lock(1001, benchmark::int);\n"
                        "                    IF EXISTS (\n"
                        "                        SELECT 1 FROM rubrics_benchmarkrole r\n"
                        "                        WHERE r.user_id = NEW.user_id AND r.benchmark_id = "
                        "benchmark\n"
                        "                    ) THEN\n"
                        "                        RAISE EXCEPTION 'Who runs the benchmark cannot be a "
                        "member of its expert groups'\n"
                        "                            USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'annotation_membership_not_staff';\n"
                        "                    END IF;\n"
                        "                    IF NEW.active AND EXISTS (\n"
                        "                        SELECT 1 FROM annotation_membership m JOIN "
                        "annotation_expertgroup g ON g.id = m.group_id\n"
                        "                        WHERE m.user_id = NEW.user_id AND m.active AND "
                        "g.benchmark_id = benchmark\n"
                        "                          AND m.group_id <> NEW.group_id\n"
                        "                    ) THEN\n"
                        "                        RAISE EXCEPTION 'A physician belongs to one expert group "
                        "of a benchmark'\n"
                        "                            USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'annotation_membership_one_group';\n"
                        "                    END IF;\n"
                        "                    RETURN NEW;\n"
                        "                "
                    ),
                    hash="abc1bb6dcd6780850ddb1727fa5ebe36d3aa4937",
                    operation="INSERT OR UPDATE",
                    pgid="pgtrigger_independent_503ba",
                    table="annotation_membership",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="never_deleted",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;",
                    hash="cf54938d33da74ba1e215d091e45401bdc687574",
                    operation="DELETE",
                    pgid="pgtrigger_never_deleted_b86b2",
                    table="annotation_membership",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_membershipevent" ("active", "capacity", "created_at", '
                        '"gold_since", "group_id", "id", "pgh_context", "pgh_context_id", '
                        '"pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id", "withheld_at", '
                        '"withheld_reason") VALUES (NEW."active", NEW."capacity", NEW."created_at", '
                        'NEW."gold_since", NEW."group_id", NEW."id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."role", NEW."user_id", '
                        'NEW."withheld_at", NEW."withheld_reason"); RETURN NULL;'
                    ),
                    hash="3efea365304c6032c389bf9b75107f12066815a1",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_dd9f4",
                    table="annotation_membership",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_membershipevent" ("active", "capacity", "created_at", '
                        '"gold_since", "group_id", "id", "pgh_context", "pgh_context_id", '
                        '"pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id", "withheld_at", '
                        '"withheld_reason") VALUES (NEW."active", NEW."capacity", NEW."created_at", '
                        'NEW."gold_since", NEW."group_id", NEW."id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."role", NEW."user_id", '
                        'NEW."withheld_at", NEW."withheld_reason"); RETURN NULL;'
                    ),
                    hash="5dfa6ded66ccc03f808de5e781f0a0b66567e0d3",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_f622e",
                    table="annotation_membership",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="membershipevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_76f150_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membershipevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="fcb916b542f01837325f1d4c3fc29ec00de26e68",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_75a95",
                    table="annotation_membershipevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membershipevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="b654b526babea3b5c07810a963bec7bc69494d36",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_9a94b",
                    table="annotation_membershipevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="physician",
            constraint=models.UniqueConstraint(fields=("benchmark", "user"), name="annotation_physician_user_once"),
        ),
        migrations.AddConstraint(
            model_name="physician",
            constraint=models.UniqueConstraint(
                fields=("benchmark", "pseudonym"), name="annotation_physician_pseudonym_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationattempt",
            constraint=models.UniqueConstraint(
                fields=("group", "user", "number"), name="annotation_attempt_number_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationattempt",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "open")), fields=("group", "user"), name="annotation_one_open_attempt"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="qualificationattempt",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_qualificationattemptevent" ("batch_id", "finished_at", '
                        '"group_id", "id", "mf1", "number", "pairs", "pass_mark", "pgh_context", '
                        '"pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "public_id", '
                        '"started_at", "status", "user_id") VALUES (NEW."batch_id", NEW."finished_at", '
                        'NEW."group_id", NEW."id", NEW."mf1", NEW."number", NEW."pairs", NEW."pass_mark", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."public_id", NEW."started_at", '
                        'NEW."status", NEW."user_id"); RETURN NULL;'
                    ),
                    hash="9c0d1012e0e84f04748bfce3abd5c17cd66b739a",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_f58f8",
                    table="annotation_qualificationattempt",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="qualificationattempt",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_qualificationattemptevent" ("batch_id", "finished_at", '
                        '"group_id", "id", "mf1", "number", "pairs", "pass_mark", "pgh_context", '
                        '"pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "public_id", '
                        '"started_at", "status", "user_id") VALUES (NEW."batch_id", NEW."finished_at", '
                        'NEW."group_id", NEW."id", NEW."mf1", NEW."number", NEW."pairs", NEW."pass_mark", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."public_id", NEW."started_at", '
                        'NEW."status", NEW."user_id"); RETURN NULL;'
                    ),
                    hash="cf31f41509834f9eef56be5fe77158624d113dc6",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_0f772",
                    table="annotation_qualificationattempt",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="qualificationattemptevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_e45a6e_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="qualificationattemptevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="c436718ff3411ea4dca3fa299224550f2d8b9015",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_70729",
                    table="annotation_qualificationattemptevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="qualificationattemptevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="dee629bc48e6790ed9b64eede494a192ad2b90a0",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_420a0",
                    table="annotation_qualificationattemptevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("pass_mark__gte", 0), ("pass_mark__lte", 1)), name="annotation_pass_mark"
            ),
        ),
        migrations.AddConstraint(
            model_name="qualificationrule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("gold_mark", None), models.Q(("gold_mark__gte", 0), ("gold_mark__lte", 1)), _connector="OR"
                ),
                name="annotation_gold_mark",
            ),
        ),
        migrations.AddConstraint(
            model_name="ruling",
            constraint=models.UniqueConstraint(fields=("adjudication", "criterion"), name="annotation_ruling_once"),
        ),
        migrations.AddConstraint(
            model_name="ruling",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("outcome", "faulty"), _negated=True),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="annotation_faulty_has_a_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="ruling",
            constraint=models.CheckConstraint(
                condition=models.Q(("final_at", None), models.Q(("outcome", ""), _negated=True), _connector="OR"),
                name="annotation_final_ruling_has_an_outcome",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ruling",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_rulingevent" ("adjudication_id", "client_id", '
                        '"created_at", "criterion_id", "final_at", "id", "outcome", "pgh_context", '
                        '"pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", '
                        '"updated_at", "version") VALUES (NEW."adjudication_id", NEW."client_id", '
                        'NEW."created_at", NEW."criterion_id", NEW."final_at", NEW."id", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."reason", NEW."updated_at", '
                        'NEW."version"); RETURN NULL;'
                    ),
                    hash="859f9da4c795f355e332b5b07f599521d38837f7",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_5cef8",
                    table="annotation_ruling",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ruling",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_rulingevent" ("adjudication_id", "client_id", '
                        '"created_at", "criterion_id", "final_at", "id", "outcome", "pgh_context", '
                        '"pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", '
                        '"updated_at", "version") VALUES (NEW."adjudication_id", NEW."client_id", '
                        'NEW."created_at", NEW."criterion_id", NEW."final_at", NEW."id", NEW."outcome", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."reason", NEW."updated_at", '
                        'NEW."version"); RETURN NULL;'
                    ),
                    hash="7a8085f2e4f649f1736ff6c8b84f080b8956e55c",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_e8e26",
                    table="annotation_ruling",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="rulingevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_16bff8_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rulingevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="e21054ead70fc4447ee697979ad9b476686944ab",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_dc5af",
                    table="annotation_rulingevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rulingevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="b76df6420856dab5285d261bbe5ee6c15a4d6e8f",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_49ad1",
                    table="annotation_rulingevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="slot",
            constraint=models.UniqueConstraint(fields=("item", "number"), name="annotation_slot_once"),
        ),
        migrations.AddIndex(
            model_name="assignmentevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_b0f77c_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="assignmentevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="07aa744ff0009f6185261e3d673c5d6b797732bf",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_9a9e8",
                    table="annotation_assignmentevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="assignmentevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="febd5767347dddb52467dfc8d33c8f83a332d6b8",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_c72b5",
                    table="annotation_assignmentevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(fields=["annotator", "status", "position"], name="annotation_queue"),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(fields=["response", "status"], name="annotation_by_response"),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("status", "submitted")), fields=["batch"], name="annotation_waiting_check"
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "released"), _negated=True),
                fields=("slot",),
                name="annotation_slot_taken_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                fields=("batch", "response", "rubric", "annotator"), name="annotation_assignment_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("batch_closed", False),
                    ("status__in", ["not_started", "draft", "returned", "submitted", "in_check"]),
                ),
                fields=("annotator", "response", "rubric", "criteria"),
                name="annotation_live_work_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("checker", None), models.Q(("checker", models.F("annotator")), _negated=True), _connector="OR"
                ),
                name="annotation_checker_not_annotator",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="assignment",
            trigger=pgtrigger.compiler.Trigger(
                name="one_part_each",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    declare="DECLARE the_group bigint;",
                    func=(
                        "\n"
                        "                    SELECT b.group_id, b.status = 'closed' INTO the_group, "
                        "NEW.batch_closed\n"
                        "                        FROM annotation_batch b WHERE b.id = NEW.batch_id;\n"
                        "                    \n"
                        "        IF EXISTS (SELECT 1 FROM rubrics_response r WHERE r.id = NEW.response_id "
                        "AND r.author_id = NEW.annotator_id) THEN\n"
                        "            RAISE EXCEPTION 'Nobody grades, checks or adjudicates a response of "
                        "their own'\n"
                        "                USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'annotation_not_the_author';\n"
                        "        END IF;\n"
                        "        INSERT INTO annotation_involvement (response_id, user_id, part, "
                        "group_id)\n"
                        "            VALUES (NEW.response_id, NEW.annotator_id, 'annotator', the_group) ON "
                        "CONFLICT (response_id, user_id) DO NOTHING;\n"
                        "        IF NOT EXISTS (\n"
                        "            SELECT 1 FROM annotation_involvement i WHERE i.response_id = "
                        "NEW.response_id AND i.user_id = NEW.annotator_id\n"
                        "               AND i.part = 'annotator' AND i.group_id IS NOT DISTINCT FROM "
                        "the_group\n"
                        "        ) THEN\n"
                        "            RAISE EXCEPTION 'This person already has another part for this "
                        "response'\n"
                        "                USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'annotation_one_part_per_response';\n"
                        "        END IF;\n"
                        "    \n"
                        "                    IF NEW.checker_id IS NOT NULL THEN\n"
                        "                        \n"
                        "        IF EXISTS (SELECT 1 FROM rubrics_response r WHERE r.id = NEW.response_id "
                        "AND r.author_id = NEW.checker_id) THEN\n"
                        "            RAISE EXCEPTION 'Nobody grades, checks or adjudicates a response of "
                        "their own'\n"
                        "                USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'annotation_not_the_author';\n"
                        "        END IF;\n"
                        "        INSERT INTO annotation_involvement (response_id, user_id, part, "
                        "group_id)\n"
                        "            VALUES (NEW.response_id, NEW.checker_id, 'checker', the_group) ON "
                        "CONFLICT (response_id, user_id) DO NOTHING;\n"
                        "        IF NOT EXISTS (\n"
                        "            SELECT 1 FROM annotation_involvement i WHERE i.response_id = "
                        "NEW.response_id AND i.user_id = NEW.checker_id\n"
                        "               AND i.part = 'checker' AND i.group_id IS NOT DISTINCT FROM "
                        "the_group\n"
                        "        ) THEN\n"
                        "            RAISE EXCEPTION 'This person already has another part for this "
                        "response'\n"
                        "                USING ERRCODE = 'check_violation', CONSTRAINT = "
                        "'annotation_one_part_per_response';\n"
                        "        END IF;\n"
                        "    \n"
                        "                    END IF;\n"
                        "                    RETURN NEW;\n"
                        "                "
                    ),
                    hash="d22fe845546ccd5c2e710e5ad24580ad1d762689",
                    operation='INSERT OR UPDATE OF "annotator_id", "checker_id", "response_id"',
                    pgid="pgtrigger_one_part_each_60882",
                    table="annotation_assignment",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="assignment",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_assignmentevent" ("accepted_at", "annotator_id", '
                        '"batch_closed", "batch_id", "case_id", "checker_id", "criteria", "id", '
                        '"lease_until", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", '
                        '"pgh_obj_id", "position", "public_id", "purpose", "released_at", "response_id", '
                        '"round", "rubric_id", "slot_id", "started_at", "status", "submitted_at", '
                        '"to_check") VALUES (NEW."accepted_at", NEW."annotator_id", NEW."batch_closed", '
                        'NEW."batch_id", NEW."case_id", NEW."checker_id", NEW."criteria", NEW."id", '
                        'NEW."lease_until", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."position", NEW."public_id", '
                        'NEW."purpose", NEW."released_at", NEW."response_id", NEW."round", '
                        'NEW."rubric_id", NEW."slot_id", NEW."started_at", NEW."status", '
                        'NEW."submitted_at", NEW."to_check"); RETURN NULL;'
                    ),
                    hash="87aef8d2985c5a6e0bf87551b62c0b1509b19c24",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_3b0aa",
                    table="annotation_assignment",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="assignment",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func=(
                        'INSERT INTO "annotation_assignmentevent" ("accepted_at", "annotator_id", '
                        '"batch_closed", "batch_id", "case_id", "checker_id", "criteria", "id", '
                        '"lease_until", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", '
                        '"pgh_obj_id", "position", "public_id", "purpose", "released_at", "response_id", '
                        '"round", "rubric_id", "slot_id", "started_at", "status", "submitted_at", '
                        '"to_check") VALUES (NEW."accepted_at", NEW."annotator_id", NEW."batch_closed", '
                        'NEW."batch_id", NEW."case_id", NEW."checker_id", NEW."criteria", NEW."id", '
                        'NEW."lease_until", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."position", NEW."public_id", '
                        'NEW."purpose", NEW."released_at", NEW."response_id", NEW."round", '
                        'NEW."rubric_id", NEW."slot_id", NEW."started_at", NEW."status", '
                        'NEW."submitted_at", NEW."to_check"); RETURN NULL;'
                    ),
                    hash="9c9f7cc0cc504d8394129272918a4ae84871835e",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_f04d8",
                    table="annotation_assignment",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="writingtask",
            index=models.Index(fields=["writer", "status", "position"], name="annotation_writing_queue"),
        ),
        migrations.AddConstraint(
            model_name="writingtask",
            constraint=models.UniqueConstraint(fields=("batch", "case", "writer"), name="annotation_writingtask_once"),
        ),
        migrations.AddConstraint(
            model_name="writingtask",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("response__isnull", False), ("status", "submitted")),
                    models.Q(models.Q(("status", "submitted"), _negated=True), ("response", None)),
                    _connector="OR",
                ),
                name="annotation_writing_response",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="writingtask",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "annotation_writingtaskevent" ("batch_id", "case_id", "pgh_context", '
                        '"pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "release_reason", '
                        '"response_id", "status", "writer_id") VALUES (NEW."batch_id", NEW."case_id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."release_reason", '
                        'NEW."response_id", NEW."status", NEW."writer_id"); RETURN NULL;'
                    ),
                    hash="6a1a7813250e1e8bcbf0973ec4d7f345c0bd27d5",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_ae0fa",
                    table="annotation_writingtask",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="writingtask",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition=(
                        'WHEN (OLD."batch_id" IS DISTINCT FROM (NEW."batch_id") OR OLD."case_id" IS '
                        'DISTINCT FROM (NEW."case_id") OR OLD."release_reason" IS DISTINCT FROM '
                        '(NEW."release_reason") OR OLD."response_id" IS DISTINCT FROM (NEW."response_id") '
                        'OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."writer_id" IS DISTINCT '
                        'FROM (NEW."writer_id"))'
                    ),
                    func=(
                        'INSERT INTO "annotation_writingtaskevent" ("batch_id", "case_id", "pgh_context", '
                        '"pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "release_reason", '
                        '"response_id", "status", "writer_id") VALUES (NEW."batch_id", NEW."case_id", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."release_reason", '
                        'NEW."response_id", NEW."status", NEW."writer_id"); RETURN NULL;'
                    ),
                    hash="99dde0760f8c7c220e93bd91c489b7c3c29017f9",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_5a655",
                    table="annotation_writingtask",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="writingtaskevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="annotation__pgh_cre_aea2a8_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="writingtaskevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="9f8fc7fe05d7ff163bc098f971ad0298bce5aa3c",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_03c91",
                    table="annotation_writingtaskevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="writingtaskevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="0b6e9b5f1706019fba48d046904f3cdbd86abf71",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_4e934",
                    table="annotation_writingtaskevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="writingterms",
            constraint=models.CheckConstraint(
                condition=models.Q(("mode__in", ["unaided", "aided"])), name="annotation_writing_mode"
            ),
        ),
    ]
