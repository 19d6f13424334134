"""A ruling knows since when it counts, also while its adjudication is open again."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

# The triggers are off meanwhile: no event says that somebody ruled anew, so no report takes it for a change.
MARK_FINAL = """
    UPDATE annotation_ruling r SET final_at = COALESCE(j.finished_at, r.updated_at) FROM annotation_adjudication j
    WHERE j.id = r.adjudication_id AND j.status = 'done' AND r.outcome <> ''
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0010_one_batch_a_preview'),
        ('rubrics', '0014_fewer_indexes_of_items'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='ruling',
            name='insert_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='ruling',
            name='update_update',
        ),
        migrations.AddField(
            model_name='ruling',
            name='final_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='rulingevent',
            name='final_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunSQL(MARK_FINAL, migrations.RunSQL.noop),
        pgtrigger.migrations.AddTrigger(
            model_name='ruling',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "annotation_rulingevent" ("adjudication_id", "client_id", "created_at", "criterion_id", "final_at", "id", "outcome", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "updated_at", "version") VALUES (NEW."adjudication_id", NEW."client_id", NEW."created_at", NEW."criterion_id", NEW."final_at", NEW."id", NEW."outcome", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', NEW."id", NEW."reason", NEW."updated_at", NEW."version"); RETURN NULL;', hash='859f9da4c795f355e332b5b07f599521d38837f7', operation='INSERT', pgid='pgtrigger_insert_insert_5cef8', table='annotation_ruling', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='ruling',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "annotation_rulingevent" ("adjudication_id", "client_id", "created_at", "criterion_id", "final_at", "id", "outcome", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "updated_at", "version") VALUES (NEW."adjudication_id", NEW."client_id", NEW."created_at", NEW."criterion_id", NEW."final_at", NEW."id", NEW."outcome", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."reason", NEW."updated_at", NEW."version"); RETURN NULL;', hash='7a8085f2e4f649f1736ff6c8b84f080b8956e55c', operation='UPDATE', pgid='pgtrigger_update_update_e8e26', table='annotation_ruling', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='ruling',
            constraint=models.CheckConstraint(condition=models.Q(('final_at', None), models.Q(('outcome', ''), _negated=True), _connector='OR'), name='annotation_final_ruling_has_an_outcome'),
        ),
    ]
