"""The draft of a rubric, and who wrote on it, stay as long as the rubric: they say whether two physicians saw it."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    """Adds triggers."""

    dependencies = [
        ('rubrics', '0010_case_search'),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name='rubriccontributor',
            trigger=pgtrigger.compiler.Trigger(name='stays_with_its_rubric', sql=pgtrigger.compiler.UpsertTriggerSql(constraint='CONSTRAINT', func="\n                IF (TG_OP = 'DELETE' OR NEW.rubric_id <> OLD.rubric_id)\n                   AND EXISTS (SELECT 1 FROM rubrics_rubric r WHERE r.id = OLD.rubric_id) THEN\n                    RAISE EXCEPTION 'The record of how a rubric was written stays with it'\n                        USING ERRCODE = 'check_violation', CONSTRAINT = 'rubrics_draft_stays';\n                END IF;\n                RETURN NULL;\n            ", hash='3c6227b70ee8a6d3e308ea5db0930e7f40e845f4', operation='DELETE OR UPDATE OF "rubric_id"', pgid='pgtrigger_stays_with_its_rubric_8eb5f', table='rubrics_rubriccontributor', timing='DEFERRABLE INITIALLY DEFERRED', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='rubriccontributor',
            trigger=pgtrigger.compiler.Trigger(name='no_truncate', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'The record of how rubrics were written cannot be truncated';", hash='61e2f46a1c9c56ce345a5c4d27f7637bb8f8e0c2', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_no_truncate_64e3c', table='rubrics_rubriccontributor', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='rubriccontributor',
            trigger=pgtrigger.compiler.Trigger(name='stays_the_same_person', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."user_id" IS DISTINCT FROM (NEW."user_id"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='a07b47417895983416a28f9b4fa04f507bc5ceab', operation='UPDATE', pgid='pgtrigger_stays_the_same_person_e80e9', table='rubrics_rubriccontributor', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='rubricdraft',
            trigger=pgtrigger.compiler.Trigger(name='stays_with_its_rubric', sql=pgtrigger.compiler.UpsertTriggerSql(constraint='CONSTRAINT', func="\n                IF (TG_OP = 'DELETE' OR NEW.rubric_id <> OLD.rubric_id)\n                   AND EXISTS (SELECT 1 FROM rubrics_rubric r WHERE r.id = OLD.rubric_id) THEN\n                    RAISE EXCEPTION 'The record of how a rubric was written stays with it'\n                        USING ERRCODE = 'check_violation', CONSTRAINT = 'rubrics_draft_stays';\n                END IF;\n                RETURN NULL;\n            ", hash='087c2d1fda2a4c0c2aaa42d697798669eeb3e490', operation='DELETE OR UPDATE OF "rubric_id"', pgid='pgtrigger_stays_with_its_rubric_4375c', table='rubrics_rubricdraft', timing='DEFERRABLE INITIALLY DEFERRED', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='rubricdraft',
            trigger=pgtrigger.compiler.Trigger(name='no_truncate', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'The record of how rubrics were written cannot be truncated';", hash='9a6b8b306723ba94eacf5123486f69ba68471f85', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_no_truncate_4631c', table='rubrics_rubricdraft', when='BEFORE')),
        ),
    ]
