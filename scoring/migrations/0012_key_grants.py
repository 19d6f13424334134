import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Keys that existing settings name, by benchmark: a judge's own benchmark and those that it ran on, runs, and recipes.
# Runs that were made elsewhere name keys of another server. What stays ungranted can be granted by the operator.
GRANT_KEYS_IN_USE = r"""
    INSERT INTO scoring_keygrant (name, benchmark_id, granted_at)
    SELECT DISTINCT k #>> '{}', u.benchmark_id, now()
    FROM (
        SELECT benchmark_id, config AS settings FROM scoring_judge
        UNION ALL SELECT benchmark_id, snapshot FROM scoring_judgerun WHERE NOT imported
        UNION ALL SELECT benchmark_id, config FROM scoring_pipelinerun WHERE NOT imported AND NOT replay
        UNION ALL SELECT benchmark_id, content FROM drafting_draftingrecipe
    ) AS u, jsonb_path_query(u.settings, '$.**.key_env') AS k
    WHERE jsonb_typeof(k) = 'string' AND k #>> '{}' ~ '^([A-Z][A-Z0-9_]*_API_KEY|JUDGE_KEY(_[A-Z0-9_]+)?)$'
"""


class Migration(migrations.Migration):
    dependencies = [
        ("drafting", "0005_imported_suggestions"),
        ("rubrics", "0013_answers_to_audits"),
        ("scoring", "0011_endpoint_trials"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="KeyGrant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                (
                    "benchmark",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="key_grants",
                        to="rubrics.benchmark",
                    ),
                ),
                (
                    "granted_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("granted_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["name", "benchmark__slug"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("name", "benchmark"), name="scoring_keygrant_once", nulls_distinct=False
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("name__regex", "^([A-Z][A-Z0-9_]*_API_KEY|JUDGE_KEY(_[A-Z0-9_]+)?)$")),
                        name="scoring_keygrant_name",
                    ),
                ],
            },
        ),
        migrations.RunSQL(GRANT_KEYS_IN_USE, migrations.RunSQL.noop),
    ]
