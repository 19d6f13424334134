"""A published rubric says how many criteria it has; events of cases and rubrics are made by the statement."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

# While no trigger records it: what is counted has not changed.
COUNT = """
    UPDATE rubrics_rubric r
    SET criterion_count = (SELECT count(*) FROM rubrics_rubricitem i WHERE i.rubric_id = r.id)
    WHERE r.status IN ('published', 'superseded');
"""


class Migration(migrations.Migration):
    """Adds a column and triggers."""

    dependencies = [
        ('rubrics', '0012_fewer_indexes'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='case',
            name='insert_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='rubric',
            name='insert_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='rubric',
            name='update_update',
        ),
        migrations.AddField(
            model_name='rubric',
            name='criterion_count',
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='rubricevent',
            name='criterion_count',
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.RunSQL(COUNT, migrations.RunSQL.noop),
        pgtrigger.migrations.AddTrigger(
            model_name='case',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "rubrics_caselabelsevent" ("benchmark_id", "difficulty", "excluded_at", "label_tags", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "register", "tags") SELECT new_values."benchmark_id", new_values."difficulty", new_values."excluded_at", new_values."label_tags", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', new_values."id", new_values."register", new_values."tags" FROM ( SELECT new_values.* FROM new_values  ) AS new_values; RETURN NULL;', hash='0c2b14a52be1abb6c77501b5592b84742fe5b827', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_insert_e2c85', referencing='REFERENCING NEW TABLE AS new_values ', table='rubrics_case', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='rubric',
            trigger=pgtrigger.compiler.Trigger(name='counted_when_published', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (NEW."status" IN (\'published\', \'superseded\'))', func="\n                    IF OLD.status IN ('published', 'superseded') THEN\n                        NEW.criterion_count := OLD.criterion_count;\n                    ELSE\n                        NEW.criterion_count := NULL;\n                    END IF;\n                    IF NEW.criterion_count IS NULL THEN\n                        NEW.criterion_count := (SELECT count(*) FROM rubrics_rubricitem i WHERE i.rubric_id = NEW.id);\n                    END IF;\n                    RETURN NEW;\n                ", hash='b69c51ebfeb281a6184273b092b2e6921cfd1117', operation='UPDATE', pgid='pgtrigger_counted_when_published_264c8', table='rubrics_rubric', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='rubric',
            trigger=pgtrigger.compiler.Trigger(name='counted_where_it_arrives', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (NEW."criterion_count" IS NULL AND NEW."status" IN (\'published\', \'superseded\'))', func='\n                    NEW.criterion_count := (SELECT count(*) FROM rubrics_rubricitem i WHERE i.rubric_id = NEW.id);\n                    RETURN NEW;\n                ', hash='9d82097f4af572584d9b0d21646b4a07a46f090e', operation='INSERT', pgid='pgtrigger_counted_where_it_arrives_5a597', table='rubrics_rubric', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='rubric',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "rubrics_rubricevent" ("based_on_id", "case_id", "created_at", "created_by_id", "criterion_count", "id", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provenance", "published_at", "status", "track", "version") SELECT new_values."based_on_id", new_values."case_id", new_values."created_at", new_values."created_by_id", new_values."criterion_count", new_values."id", new_values."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'insert\', new_values."id", new_values."provenance", new_values."published_at", new_values."status", new_values."track", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values; RETURN NULL;', hash='23cf6b999b29c81969751d15af31d7b547cecdb6', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_insert_6728d', referencing='REFERENCING NEW TABLE AS new_values ', table='rubrics_rubric', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='rubric',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "rubrics_rubricevent" ("based_on_id", "case_id", "created_at", "created_by_id", "criterion_count", "id", "note", "pgh_context", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "provenance", "published_at", "status", "track", "version") VALUES (NEW."based_on_id", NEW."case_id", NEW."created_at", NEW."created_by_id", NEW."criterion_count", NEW."id", NEW."note", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_id\', TRUE), \'\'), NULL)::UUID, NOW(), \'update\', NEW."id", NEW."provenance", NEW."published_at", NEW."status", NEW."track", NEW."version"); RETURN NULL;', hash='73fad222494518474b02aeb4bd1e0f4b9321c4d2', operation='UPDATE', pgid='pgtrigger_update_update_ab844', table='rubrics_rubric', when='AFTER')),
        ),
    ]
