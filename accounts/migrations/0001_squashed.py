"""The tables of people, groups, invitations and notices, with their triggers."""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import consilium.core.identifiers


class Migration(migrations.Migration):
    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_notices"),
        ("accounts", "0003_authoring"),
        ("accounts", "0004_rubric_notices"),
        ("accounts", "0005_invitation_link"),
        ("accounts", "0006_addresses_in_small_letters"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text=(
                            "Designates whether this user should be treated as active. Unselect this instead "
                            "of deleting accounts."
                        ),
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                ("name", models.CharField(blank=True, max_length=200, verbose_name="name")),
                ("time_zone", models.CharField(default="UTC", max_length=64, verbose_name="time zone")),
                ("language", models.CharField(default="en", max_length=10, verbose_name="language")),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text=(
                            "The groups this user belongs to. A user will get all permissions granted to each "
                            "of their groups."
                        ),
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "public_id",
                    models.CharField(
                        default=consilium.core.identifiers.new_public_id, editable=False, max_length=16, unique=True
                    ),
                ),
                ("scope", models.CharField(max_length=80)),
                ("title", models.CharField(max_length=200)),
                ("part", models.CharField(max_length=15)),
                ("token_hash", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                ("link_shown_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "invited_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "link_shown_to",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="InvitationEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("pgh_context_id", models.UUIDField(null=True)),
                ("scope", models.CharField(max_length=80)),
                ("part", models.CharField(max_length=15)),
                ("created_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                ("link_shown_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "invited_by",
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
                    "link_shown_to",
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
                        to="accounts.invitation",
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
            name="Notification",
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
                            ("new_work", "New work"),
                            ("returned", "Returned work"),
                            ("due", "Due dates"),
                            ("comment", "Comments"),
                            ("held_back", "Work held back"),
                            ("invitation", "Being added to a benchmark"),
                            ("rubric", "Rubrics you write or review"),
                        ],
                        max_length=15,
                    ),
                ),
                ("benchmark_title", models.CharField(max_length=200)),
                ("url", models.CharField(max_length=500)),
                ("values", models.JSONField(default=dict)),
                ("key", models.CharField(blank=True, max_length=100)),
                ("created_at", models.DateTimeField()),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("mailed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="NotificationSetting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("new_work", "New work"),
                            ("returned", "Returned work"),
                            ("due", "Due dates"),
                            ("comment", "Comments"),
                            ("held_back", "Work held back"),
                            ("invitation", "Being added to a benchmark"),
                            ("rubric", "Rubrics you write or review"),
                        ],
                        max_length=15,
                    ),
                ),
                (
                    "delivery",
                    models.CharField(
                        choices=[
                            ("product", "Only here"),
                            ("digest", "In a daily mail"),
                            ("at_once", "By mail at once"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notification_settings",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PhysicianProfile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("specialty", models.CharField(blank=True, max_length=100, verbose_name="specialty")),
                ("licence_country", models.CharField(blank=True, max_length=2, verbose_name="country of licence")),
                (
                    "years_in_practice",
                    models.PositiveSmallIntegerField(blank=True, null=True, verbose_name="years in practice"),
                ),
                (
                    "seniority",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("trainee", "In training"),
                            ("specialist", "Specialist"),
                            ("senior", "Senior or consultant"),
                            ("other", "Other"),
                        ],
                        max_length=12,
                        verbose_name="seniority",
                    ),
                ),
                ("acknowledge", models.BooleanField(default=False, verbose_name="name me in acknowledgements")),
                ("acknowledged_as", models.CharField(blank=True, max_length=200, verbose_name="name to print")),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="physician_profile",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("email"),
                condition=models.Q(("email", ""), _negated=True),
                name="accounts_user_email_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.UniqueConstraint(fields=("user", "scope"), name="accounts_invitation_once"),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(("sent_at", None), ("link_shown_at", None), _connector="OR"),
                name="accounts_invitation_one_way",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invitation",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=(
                        'INSERT INTO "accounts_invitationevent" ("accepted_at", "created_at", '
                        '"expires_at", "invited_by_id", "link_shown_at", "link_shown_to_id", "part", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"scope", "sent_at", "user_id", "withdrawn_at") VALUES (NEW."accepted_at", '
                        'NEW."created_at", NEW."expires_at", NEW."invited_by_id", NEW."link_shown_at", '
                        'NEW."link_shown_to_id", NEW."part", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."scope", NEW."sent_at", '
                        'NEW."user_id", NEW."withdrawn_at"); RETURN NULL;'
                    ),
                    hash="aafbaff2d92c606fe17901a1d902a9d091869a30",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_8c354",
                    table="accounts_invitation",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invitation",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition=(
                        'WHEN (OLD."accepted_at" IS DISTINCT FROM (NEW."accepted_at") OR OLD."created_at" '
                        'IS DISTINCT FROM (NEW."created_at") OR OLD."expires_at" IS DISTINCT FROM '
                        '(NEW."expires_at") OR OLD."invited_by_id" IS DISTINCT FROM (NEW."invited_by_id") '
                        'OR OLD."link_shown_at" IS DISTINCT FROM (NEW."link_shown_at") OR '
                        'OLD."link_shown_to_id" IS DISTINCT FROM (NEW."link_shown_to_id") OR OLD."part" IS '
                        'DISTINCT FROM (NEW."part") OR OLD."scope" IS DISTINCT FROM (NEW."scope") OR '
                        'OLD."sent_at" IS DISTINCT FROM (NEW."sent_at") OR OLD."user_id" IS DISTINCT FROM '
                        '(NEW."user_id") OR OLD."withdrawn_at" IS DISTINCT FROM (NEW."withdrawn_at"))'
                    ),
                    func=(
                        'INSERT INTO "accounts_invitationevent" ("accepted_at", "created_at", '
                        '"expires_at", "invited_by_id", "link_shown_at", "link_shown_to_id", "part", '
                        '"pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", '
                        '"scope", "sent_at", "user_id", "withdrawn_at") VALUES (NEW."accepted_at", '
                        'NEW."created_at", NEW."expires_at", NEW."invited_by_id", NEW."link_shown_at", '
                        'NEW."link_shown_to_id", NEW."part", '
                        "COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_metadata', TRUE), ''), "
                        "NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING('pghistory.context_id', TRUE), ''), "
                        'NULL)::UUID, NOW(), \'update\', NEW."id", NEW."scope", NEW."sent_at", '
                        'NEW."user_id", NEW."withdrawn_at"); RETURN NULL;'
                    ),
                    hash="3b33aaf0b853c450ebe32284050cf2aa266a7b4c",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_4e12d",
                    table="accounts_invitation",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="invitationevent",
            index=django.contrib.postgres.indexes.BrinIndex(
                fields=["pgh_created_at"], name="accounts_in_pgh_cre_2734d5_brin"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invitationevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
                    hash="5c789ce4d1adb6d8ae81ea5c2d51b069b2d54a3d",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_887c2",
                    table="accounts_invitationevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invitationevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func=("RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;"),
                    hash="daf23d962af867f3cb4eedb3f026a1b651002cd3",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_b4566",
                    table="accounts_invitationevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(fields=["user", "-created_at"], name="accounts_notices"),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(condition=models.Q(("read_at", None)), fields=["user"], name="accounts_unread"),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("mailed_at", None), ("read_at", None)),
                fields=["created_at"],
                name="accounts_unmailed",
            ),
        ),
        migrations.AddConstraint(
            model_name="notification",
            constraint=models.UniqueConstraint(
                condition=models.Q(("key", ""), _negated=True), fields=("user", "key"), name="accounts_told_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="notificationsetting",
            constraint=models.UniqueConstraint(fields=("user", "kind"), name="accounts_setting_once"),
        ),
    ]
