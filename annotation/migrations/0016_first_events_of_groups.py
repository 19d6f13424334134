"""Expert groups that existed before they were audited (0015) get a first event: their state now, ``existing``."""

from django.db import migrations

FIRST_EVENTS = """
INSERT INTO annotation_expertgroupevent
    (benchmark_id, created_at, id, name, public_id, pgh_created_at, pgh_label, pgh_obj_id)
SELECT benchmark_id, created_at, id, name, public_id, now(), 'existing', id FROM annotation_expertgroup AS expert_group
WHERE NOT EXISTS (SELECT FROM annotation_expertgroupevent AS event WHERE event.pgh_obj_id = expert_group.id)
ORDER BY id
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0015_audited_groups")]

    operations = [migrations.RunSQL(FIRST_EVENTS, migrations.RunSQL.noop)]
