"""What drafting demands of rubrics and their reviews, as triggers on their tables.

No page, endpoint, command or statement publishes a rubric with a drafted criterion on which no physician decided, nor
lets whoever took a suggestion approve the rubric that it stands in.
"""

from __future__ import annotations

import pgtrigger

from rubrics.models import Rubric, RubricReview

_WORDS = r"normalize(btrim(regexp_replace({text}, '\s+', ' ', 'g')))"  # `drafting.suggestions.state.words_of`
_PUBLISHED = "(SELECT NEW.id AS id, NEW.case_id AS case_id)"
_IMPORTED = "(SELECT id, case_id FROM new_rows WHERE status IN ('published', 'superseded'))"


def _undecided_words(rubrics: str) -> str:
    """A query of criteria of ``rubrics`` (``id``, ``case_id``) that have the words of a suggestion on which nobody
    decided, and that no earlier version of the case has.

    The suggestions come first, and each text is normalised once, whatever the planner believes of the tables: after an
    import that was rolled back it takes them for empty, and normalised each criterion once for every imported rubric.
    """
    return f"""
        WITH undecided AS MATERIALIZED (
            SELECT r.id AS rubric_id, s.case_id, {_WORDS.format(text="s.text")} AS words
            FROM {rubrics} r JOIN drafting_suggestion s ON s.case_id = r.case_id
            WHERE s.state IN ('open', 'withdrawn')
        ), written AS MATERIALIZED (
            SELECT i.rubric_id, i.criterion_id, {_WORDS.format(text="k.text")} AS words
            FROM (SELECT DISTINCT rubric_id FROM undecided) u
            JOIN rubrics_rubricitem i ON i.rubric_id = u.rubric_id
            JOIN rubrics_criterion k ON k.id = i.criterion_id
        )
        SELECT 1 FROM undecided u JOIN written w ON w.rubric_id = u.rubric_id AND w.words = u.words
        WHERE NOT EXISTS (
            SELECT 1 FROM drafting_suggestion d
            WHERE d.case_id = u.case_id AND d.state IN ('accepted', 'edited', 'rejected')
              AND {_WORDS.format(text="d.text")} = u.words
        ) AND NOT EXISTS (
            SELECT 1 FROM rubrics_rubricitem e JOIN rubrics_rubric v ON v.id = e.rubric_id
            WHERE e.criterion_id = w.criterion_id AND v.id <> u.rubric_id AND v.status IN ('published', 'superseded')
        )
    """


class DecidedRubric(Rubric):
    """A rubric whose drafted criteria were each decided on by a physician."""

    class Meta:
        proxy = True
        triggers = [
            pgtrigger.Trigger(
                name="suggestions_decided",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(new__status="published") & ~pgtrigger.Q(old__status="published"),
                func=f"""
                    IF EXISTS (
                        SELECT 1 FROM rubrics_rubricitem i
                        WHERE i.rubric_id = NEW.id AND i.suggestion <> ''
                          AND NOT EXISTS (
                              SELECT 1 FROM drafting_suggestion s
                              WHERE s.public_id = i.suggestion AND s.case_id = NEW.case_id
                                AND s.state IN ('accepted', 'edited')
                          )
                          AND NOT EXISTS (
                              SELECT 1 FROM rubrics_rubricitem e
                              JOIN rubrics_rubric v ON v.id = e.rubric_id
                              JOIN rubrics_case c ON c.id = NEW.case_id
                              WHERE v.case_id IN (c.id, c.supersedes_id) AND v.id <> NEW.id
                                AND v.status IN ('published', 'superseded') AND e.suggestion = i.suggestion
                          )
                    ) OR EXISTS ({_undecided_words(_PUBLISHED)}) THEN
                        RAISE EXCEPTION 'A drafted criterion is published when a physician has taken it'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'drafting_criterion_taken';
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM rubrics_rubricitem i JOIN drafting_suggestion s ON s.public_id = i.suggestion
                        WHERE i.rubric_id = NEW.id AND s.published_in_id IS NULL
                    ) AND NOT EXISTS (
                        SELECT 1 FROM rubrics_rubricreview v
                        JOIN rubrics_rubricdraft d ON d.rubric_id = v.rubric_id AND d.digest = v.digest
                        WHERE v.rubric_id = NEW.id AND v.outcome = 'approved'
                          AND NOT EXISTS (
                              SELECT 1 FROM rubrics_rubriccontributor c
                              WHERE c.rubric_id = NEW.id AND c.user_id = v.reviewer_id
                          )
                          AND NOT EXISTS (
                              SELECT 1 FROM rubrics_rubricitem i
                              JOIN drafting_suggestion s ON s.public_id = i.suggestion
                              WHERE i.rubric_id = NEW.id AND s.published_in_id IS NULL
                                AND s.decided_by_id = v.reviewer_id
                          )
                    ) THEN
                        RAISE EXCEPTION 'Who took a suggestion does not approve the rubric that it stands in'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'drafting_second_physician';
                    END IF;
                    RETURN NEW;
                """,
            ),
            # Imported rubrics arrive published. What was drafted here is published here before it is imported again.
            pgtrigger.Trigger(
                name="imported_suggestions_decided",
                level=pgtrigger.Statement,
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                referencing=pgtrigger.Referencing(new="new_rows"),
                func=f"""
                    IF EXISTS (SELECT 1 FROM drafting_suggestion) AND (
                        EXISTS (
                            SELECT 1 FROM {_IMPORTED} r
                            JOIN rubrics_rubricitem i ON i.rubric_id = r.id
                            JOIN drafting_suggestion s ON s.public_id = i.suggestion
                            WHERE i.suggestion <> '' AND s.published_in_id IS NULL
                        ) OR EXISTS ({_undecided_words(_IMPORTED)})
                    ) THEN
                        RAISE EXCEPTION 'A drafted criterion is published when a physician has taken it'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'drafting_criterion_taken';
                    END IF;
                    RETURN NULL;
                """,
            ),
        ]


class SecondReview(RubricReview):
    """A review by somebody who took none of the suggestions in the draft."""

    class Meta:
        proxy = True
        triggers = [
            pgtrigger.Trigger(
                name="taker_does_not_approve",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                condition=pgtrigger.Q(new__outcome="approved"),
                func="""
                    IF EXISTS (
                        SELECT 1 FROM rubrics_rubricdraft d
                        CROSS JOIN LATERAL jsonb_array_elements(d.content->'items') AS item
                        JOIN drafting_suggestion s ON s.public_id = item->>'suggestion'
                        WHERE d.rubric_id = NEW.rubric_id AND s.decided_by_id = NEW.reviewer_id
                          AND s.state IN ('accepted', 'edited') AND s.published_in_id IS NULL
                    ) THEN
                        RAISE EXCEPTION 'Who took a suggestion does not approve the rubric that it stands in'
                            USING ERRCODE = 'check_violation', CONSTRAINT = 'drafting_second_physician';
                    END IF;
                    RETURN NEW;
                """,
            )
        ]
