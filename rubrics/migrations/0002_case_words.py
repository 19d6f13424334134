"""The column that a search of cases reads: the texts of the case in lower case, computed when the case is saved.

It is not a field of the model, so that no other query carries it. Taking the texts out of JSON for each search took
most of its time.
"""

from django.db import migrations

# "C" compares bytes; lower() uses the collation of the database. EXTERNAL: not compressed, since decompressing took
# longer than the search. Most cases have more text than PostgreSQL keeps in a row by default, and reading it from
# elsewhere took a third of a search, so text that fits on a page of the database stays in the row. The setting comes
# first because PostgreSQL reads it when it fills the column.
FORWARD = """
    ALTER TABLE rubrics_case SET (toast_tuple_target = 8160);
    ALTER TABLE rubrics_case ADD COLUMN words text STORAGE EXTERNAL COLLATE "C" GENERATED ALWAYS AS (
        lower(key || E'\\n' || (jsonb_path_query_array(conversation, '$[*].content')::text))
    ) STORED;
"""
BACKWARD = """
    ALTER TABLE rubrics_case DROP COLUMN words;
    ALTER TABLE rubrics_case RESET (toast_tuple_target);
"""


class Migration(migrations.Migration):
    """Adds the column and nothing else."""

    replaces = [("rubrics", "0009_case_words"), ("rubrics", "0010_case_search")]
    dependencies = [("rubrics", "0001_squashed")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
