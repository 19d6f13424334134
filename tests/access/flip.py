"""The same world with all that is blinded the other way round; what a blinded role may see keeps its place."""

from __future__ import annotations

from django.db import connection

from tests.access.world import World

# Each on its own; no trigger and no event, as if it had always been so.
EVERYWHERE = (
    # Each response goes to the other candidate, and with it another name, key and metadata. Were the candidates to
    # change names as well, each response would have its former name.
    "UPDATE rubrics_response SET sample = sample + 1000 WHERE candidate_id = %(former)s",
    "UPDATE rubrics_response SET candidate_id = %(former)s WHERE candidate_id = %(latter)s",
    "UPDATE rubrics_response SET candidate_id = %(latter)s, sample = sample - 1000 WHERE sample >= 1000",
    """UPDATE scoring_verdict SET outcome = CASE outcome WHEN 'met' THEN 'not_met' ELSE 'met' END,
       explanation = 'other'""",
    "UPDATE scoring_judge SET name = 'aa ' || id || name",
    "UPDATE scoring_screenedcase SET score = 1 - score, flagged = NOT flagged",
)
DECISIONS = """UPDATE annotation_decision d SET outcome = CASE outcome WHEN 'met' THEN 'not_met' ELSE 'met' END,
    note = CASE note WHEN '' THEN '' ELSE 'other' END
    FROM annotation_assignment a WHERE d.assignment_id = a.id AND a.annotator_id = ANY(%(people)s)"""
# Whose decisions each role must not meet in any form.
PEOPLE = {
    "annotator": ["second_annotator", "group_b_annotator"],
    "second_annotator": ["annotator", "group_b_annotator"],
    "checker": ["group_b_annotator"],
    "adjudicator": ["group_b_annotator"],
    "group_b_annotator": ["annotator", "second_annotator"],
    "outsider": ["annotator", "second_annotator", "group_b_annotator"],
    "left": ["annotator", "second_annotator", "group_b_annotator"],
    "author": ["annotator", "second_annotator", "group_b_annotator"],
    "auditor": ["annotator", "second_annotator", "group_b_annotator"],
}


def flip(world: World, role: str) -> None:
    """Turn round what ``role`` must not know."""
    former, latter = world.benchmark.candidates.order_by("pk").values_list("pk", flat=True)[:2]
    people = [user.pk for name in PEOPLE[role] if (user := world.users[name]) is not None]
    values = {"former": former, "latter": latter, "people": people}
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in (*EVERYWHERE, DECISIONS):
            cursor.execute(statement, values)
            assert cursor.rowcount, f"nothing to turn round: {statement}"
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
