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
    """UPDATE rubrics_candidateattributes SET family = 'aa', developer = 'aa', base_model = 'aa', effort = 'aa',
       open_weights = NOT open_weights, release_date = '2020-01-01', size_total = 900, size_active = 800,
       price_in = 90, price_out = 80, currency = 'EUR', price_date = '2020-01-02'""",
    """UPDATE scoring_verdict SET outcome = CASE outcome WHEN 'met' THEN 'not_met' ELSE 'met' END,
       explanation = 'other'""",
    "UPDATE scoring_judge SET name = 'aa ' || id || name",
    "UPDATE scoring_screenedcase SET score = 1 - score, flagged = NOT flagged",
    # What candidates say of a case, judges of a response, and others of the case. The scale has four levels.
    """UPDATE scoring_acuityreading SET level = 3 - level, text = 'other',
       explanation = CASE explanation WHEN '' THEN '' ELSE 'other' END""",
    "UPDATE rubrics_sourcelabel SET label = 'other', low = 0, high = 0",
    """UPDATE annotation_referenceitem SET status = 'clear', low = 0, high = 0, source = 'direct', certainty = NULL,
       votes = '{}', later_votes = '{}', n_cannot_tell = 0""",
    # Near misses, and what models answered about them and about coverage.
    "UPDATE validation_nearmisspair SET kind = 'dose', key = 'aa other', change = 'other', why = 'other'",
    "UPDATE scoring_pipelinestep SET output = '{}' WHERE stage LIKE 'coverage%%' OR stage IN ('side_by_side', 'plan')",
)
# The votes and answers about cases; whoever votes in a second round sees what the first one said.
LABELS = """UPDATE annotation_labelanswer a SET
    value = CASE value WHEN 'self-care' THEN 'emergency' WHEN 'emergency' THEN 'self-care'
        WHEN 'calm' THEN 'urgent' WHEN 'urgent' THEN 'calm' ELSE value END,
    certainty = 90 - certainty, note = CASE note WHEN '' THEN '' ELSE 'other' END
    FROM annotation_labeltask t WHERE a.task_id = t.id AND t.annotator_id = ANY(%(people)s)
    AND t.case_id NOT IN (SELECT case_id FROM annotation_labeltask WHERE round = 2)"""
RULINGS = "UPDATE annotation_acuityruling SET low = 0, high = 0, reason = 'misread', note = 'other'"
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
    of_role = [DECISIONS]
    if world.users["second_annotator"].pk in people or world.users["annotator"].pk in people:
        of_role.append(LABELS)
    if role != "adjudicator":
        of_role.append(RULINGS)
    values = {"former": former, "latter": latter, "people": people}
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in (*EVERYWHERE, *of_role):
            cursor.execute(statement, values)
            assert cursor.rowcount, f"nothing to turn round: {statement}"
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
