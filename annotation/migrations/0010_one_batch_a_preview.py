"""A preview becomes one batch, and nobody has the same work twice at a time."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.core.management.base import CommandError
from django.db import migrations, models

SHOWN = 5


def end_open_work(apps, schema_editor):
    """Mark the work that was left open in closed batches, as a trigger does from now on."""
    schema_editor.execute(
        "UPDATE annotation_assignment a SET batch_closed = true FROM annotation_batch b "
        "WHERE b.id = a.batch_id AND b.status = 'closed' AND a.status NOT IN ('accepted', 'released')"
    )


def refuse_double_work(apps, schema_editor):
    """Say which work one annotator has twice, before the constraint refuses it in words of the database."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT c.key, array_agg(b.title || ' (' || b.public_id || ')' ORDER BY b.id)
            FROM annotation_assignment a
            JOIN annotation_batch b ON b.id = a.batch_id
            JOIN rubrics_case c ON c.id = a.case_id
            WHERE NOT a.batch_closed AND a.status NOT IN ('accepted', 'released')
            GROUP BY a.annotator_id, a.response_id, a.rubric_id, a.criteria, c.key
            HAVING count(*) > 1
            ORDER BY c.key
            """
        )
        rows = cursor.fetchall()
    if not rows:
        return
    shown = "; ".join(f"a response to case {key} in the batches {', '.join(titles)}" for key, titles in rows[:SHOWN])
    more = f"; and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    raise CommandError(
        f"One annotator has the same work twice at a time, in {len(rows)} cases: {shown}{more}. "
        "Nothing was changed. Start the version before this one, close the batches that were made once too often, "
        "and update again."
    )


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0009_writing_record'),
        ('rubrics', '0014_fewer_indexes_of_items'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='assignment',
            name='one_part_each',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='assignment',
            name='insert_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='assignment',
            name='update_update',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='batch',
            name='insert_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='batch',
            name='update_update',
        ),
        migrations.AddField(
            model_name='assignment',
            name='batch_closed',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='assignmentevent',
            name='batch_closed',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.RunPython(end_open_work, migrations.RunPython.noop),
        migrations.RunPython(refuse_double_work, migrations.RunPython.noop),
        migrations.AddField(
            model_name='batch',
            name='plan_digest',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        migrations.AddField(
            model_name='batchevent',
            name='plan_digest',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='assignment',
            trigger=pgtrigger.compiler.Trigger(name='one_part_each', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE the_group bigint;', func="\n                    SELECT b.group_id, b.status = 'closed' INTO the_group, NEW.batch_closed\n                        FROM annotation_batch b WHERE b.id = NEW.batch_id;\n                    \n        IF EXISTS (SELECT 1 FROM rubrics_response r WHERE r.id = NEW.response_id AND r.author_id = NEW.annotator_id) THEN\n            RAISE EXCEPTION 'Nobody grades, checks or adjudicates a response of their own'\n                USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_not_the_author';\n        END IF;\n        INSERT INTO annotation_involvement (response_id, user_id, part, group_id)\n            VALUES (NEW.response_id, NEW.annotator_id, 'annotator', the_group) ON CONFLICT (response_id, user_id) DO NOTHING;\n        IF NOT EXISTS (\n            SELECT 1 FROM annotation_involvement i WHERE i.response_id = NEW.response_id AND i.user_id = NEW.annotator_id\n               AND i.part = 'annotator' AND i.group_id IS NOT DISTINCT FROM the_group\n        ) THEN\n            RAISE EXCEPTION 'This person already has another part for this response'\n                USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_one_part_per_response';\n        END IF;\n    \n                    IF NEW.checker_id IS NOT NULL THEN\n                        \n        IF EXISTS (SELECT 1 FROM rubrics_response r WHERE r.id = NEW.response_id AND r.author_id = NEW.checker_id) THEN\n            RAISE EXCEPTION 'Nobody grades, checks or adjudicates a response of their own'\n                USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_not_the_author';\n        END IF;\n        INSERT INTO annotation_involvement (response_id, user_id, part, group_id)\n            VALUES (NEW.response_id, NEW.checker_id, 'checker', the_group) ON CONFLICT (response_id, user_id) DO NOTHING;\n        IF NOT EXISTS (\n            SELECT 1 FROM annotation_involvement i WHERE i.response_id = NEW.response_id AND i.user_id = NEW.checker_id\n               AND i.part = 'checker' AND i.group_id IS NOT DISTINCT FROM the_group\n        ) THEN\n            RAISE EXCEPTION 'This person already has another part for this response'\n                USING ERRCODE = 'check_violation', CONSTRAINT = 'annotation_one_part_per_response';\n        END IF;\n    \n                    END IF;\n                    RETURN NEW;\n                ", hash='d22fe845546ccd5c2e710e5ad24580ad1d762689', operation='INSERT OR UPDATE OF "annotator_id", "checker_id", "response_id"', pgid='pgtrigger_one_part_each_60882', table='annotation_assignment', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='assignment',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "annotation_assignmentevent" ("accepted_at", "annotator_id", "batch_closed", "batch_id", "case_id", "checker_id", "criteria", "id", "lease_until", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "public_id", "purpose", "released_at", "response_id", "round", "rubric_id", "slot_id", "started_at", "status", "submitted_at", "to_check") VALUES (NEW."accepted_at", NEW."annotator_id", NEW."batch_closed", NEW."batch_id", NEW."case_id", NEW."checker_id", NEW."criteria", NEW."id", NEW."lease_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."position", NEW."public_id", NEW."purpose", NEW."released_at", NEW."response_id", NEW."round", NEW."rubric_id", NEW."slot_id", NEW."started_at", NEW."status", NEW."submitted_at", NEW."to_check"); RETURN NULL;', hash='87aef8d2985c5a6e0bf87551b62c0b1509b19c24', operation='INSERT', pgid='pgtrigger_insert_insert_3b0aa', table='annotation_assignment', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='assignment',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "annotation_assignmentevent" ("accepted_at", "annotator_id", "batch_closed", "batch_id", "case_id", "checker_id", "criteria", "id", "lease_until", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "public_id", "purpose", "released_at", "response_id", "round", "rubric_id", "slot_id", "started_at", "status", "submitted_at", "to_check") VALUES (NEW."accepted_at", NEW."annotator_id", NEW."batch_closed", NEW."batch_id", NEW."case_id", NEW."checker_id", NEW."criteria", NEW."id", NEW."lease_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."position", NEW."public_id", NEW."purpose", NEW."released_at", NEW."response_id", NEW."round", NEW."rubric_id", NEW."slot_id", NEW."started_at", NEW."status", NEW."submitted_at", NEW."to_check"); RETURN NULL;', hash='9c9f7cc0cc504d8394129272918a4ae84871835e', operation='UPDATE', pgid='pgtrigger_update_update_f04d8', table='annotation_assignment', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='batch',
            trigger=pgtrigger.compiler.Trigger(name='end_open_work', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (NEW."status" = \'closed\' AND NOT (OLD."status" = \'closed\'))', func="\n                    UPDATE annotation_assignment SET batch_closed = true\n                        WHERE batch_id = NEW.id AND status NOT IN ('accepted', 'released');\n                    RETURN NULL;\n                ", hash='97edefb20c2806695f43101abff24b53b9d0380b', operation='UPDATE OF "status"', pgid='pgtrigger_end_open_work_6e130', table='annotation_batch', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='batch',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "annotation_batchevent" ("annotators_per_item", "check_fraction", "check_policy", "closed_at", "created_at", "created_by_id", "due_date", "frame", "gold_per_annotator", "group_id", "id", "imported", "kind", "lease_hours", "order", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_digest", "public_id", "seed", "specialty_match", "status", "strategy", "title") VALUES (NEW."annotators_per_item", NEW."check_fraction", NEW."check_policy", NEW."closed_at", NEW."created_at", NEW."created_by_id", NEW."due_date", NEW."frame", NEW."gold_per_annotator", NEW."group_id", NEW."id", NEW."imported", NEW."kind", NEW."lease_hours", NEW."order", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."plan_digest", NEW."public_id", NEW."seed", NEW."specialty_match", NEW."status", NEW."strategy", NEW."title"); RETURN NULL;', hash='1653733ab6c687f4b6e472f7dd1372d2f6e57174', operation='INSERT', pgid='pgtrigger_insert_insert_c744d', table='annotation_batch', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='batch',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "annotation_batchevent" ("annotators_per_item", "check_fraction", "check_policy", "closed_at", "created_at", "created_by_id", "due_date", "frame", "gold_per_annotator", "group_id", "id", "imported", "kind", "lease_hours", "order", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plan_digest", "public_id", "seed", "specialty_match", "status", "strategy", "title") VALUES (NEW."annotators_per_item", NEW."check_fraction", NEW."check_policy", NEW."closed_at", NEW."created_at", NEW."created_by_id", NEW."due_date", NEW."frame", NEW."gold_per_annotator", NEW."group_id", NEW."id", NEW."imported", NEW."kind", NEW."lease_hours", NEW."order", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."plan_digest", NEW."public_id", NEW."seed", NEW."specialty_match", NEW."status", NEW."strategy", NEW."title"); RETURN NULL;', hash='8fcc8408e050f6e830517dc0097cc6c9b1d6f09c', operation='UPDATE', pgid='pgtrigger_update_update_3c88f', table='annotation_batch', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('batch_closed', False), ('status__in', ['not_started', 'draft', 'returned', 'submitted', 'in_check'])), fields=('annotator', 'response', 'rubric', 'criteria'), name='annotation_live_work_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.UniqueConstraint(condition=models.Q(('plan_digest', ''), _negated=True), fields=('group', 'kind', 'seed', 'plan_digest'), name='annotation_batch_of_preview_once'),
        ),
    ]
