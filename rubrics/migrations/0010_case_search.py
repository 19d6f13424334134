"""A search reads its words beside the case, and the languages of a benchmark are found without reading its cases."""

from django.db import migrations, models

# Most cases have more words than PostgreSQL keeps in a row by itself, and looking each of them up elsewhere took a
# third of a search. Up to what fits on a page of the database they stay in the row; the column is made anew to get there.
FORWARD = """
    ALTER TABLE rubrics_case DROP COLUMN words;
    ALTER TABLE rubrics_case SET (toast_tuple_target = 8160);
    ALTER TABLE rubrics_case ADD COLUMN words text STORAGE EXTERNAL COLLATE "C" GENERATED ALWAYS AS (
        lower(key || E'\\n' || (jsonb_path_query_array(conversation, '$[*].content')::text))
    ) STORED;
"""


class Migration(migrations.Migration):
    """Moves a column and adds an index."""

    dependencies = [("rubrics", "0009_case_words")]

    operations = [
        migrations.RunSQL(FORWARD, "ALTER TABLE rubrics_case RESET (toast_tuple_target);"),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(fields=["benchmark", "language"], name="rubrics_case_languages"),
        ),
    ]
