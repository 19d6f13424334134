"""What a search of cases looks through, kept ready: taking texts out of JSON for each search took most of its time."""

from django.db import migrations

# Not a field of the model: no query but a search should carry it. "C" compares bytes; lower() is of the database's own
# collation. EXTERNAL: not compressed, since undoing that took longer than the search.
FORWARD = """
    ALTER TABLE rubrics_case ADD COLUMN words text STORAGE EXTERNAL COLLATE "C" GENERATED ALWAYS AS (
        lower(key || E'\\n' || (jsonb_path_query_array(conversation, '$[*].content')::text))
    ) STORED;
"""


class Migration(migrations.Migration):
    """Adds the column and nothing else."""

    dependencies = [("rubrics", "0008_audit_comment_when_done")]

    operations = [migrations.RunSQL(FORWARD, "ALTER TABLE rubrics_case DROP COLUMN words;")]
