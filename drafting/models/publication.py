"""What drafting demands of rubrics and their reviews, as triggers on their tables.

No page, endpoint, command or statement publishes a rubric with a drafted criterion on which no physician decided, nor
lets whoever took a suggestion approve the rubric that it stands in.
"""

from __future__ import annotations

import pgtrigger

from rubrics.models import Rubric, RubricReview

_WORDS = r"normalize(btrim(regexp_replace({text}, '\s+', ' ', 'g')))"  # `drafting.suggestions.state.words_of`


def _same(text: str, other: str) -> str:
    return f"{_WORDS.format(text=text)} = {_WORDS.format(text=other)}"


# A criterion ``k`` of an item ``i`` of rubric ``r`` has the words of a suggestion on which nobody decided, and no
# earlier version of the case has that criterion.
_UNDECIDED_WORDS = f"""
    SELECT 1 FROM drafting_suggestion s
    JOIN rubrics_rubricitem i ON i.rubric_id = r.id
    JOIN rubrics_criterion k ON k.id = i.criterion_id
    WHERE s.case_id = r.case_id AND s.state IN ('open', 'withdrawn') AND {_same("k.text", "s.text")}
      AND NOT EXISTS (
          SELECT 1 FROM drafting_suggestion d
          WHERE d.case_id = s.case_id AND d.state IN ('accepted', 'edited', 'rejected') AND {_same("d.text", "s.text")}
      )
      AND NOT EXISTS (
          SELECT 1 FROM rubrics_rubricitem e JOIN rubrics_rubric v ON v.id = e.rubric_id
          WHERE e.criterion_id = k.id AND v.id <> r.id AND v.status IN ('published', 'superseded')
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
                declare=[("r", "rubrics_rubric%ROWTYPE")],
                func=f"""
                    r := NEW;
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
                    ) OR EXISTS ({_UNDECIDED_WORDS}) THEN
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
                    IF EXISTS (
                        SELECT 1 FROM new_rows r
                        WHERE r.status IN ('published', 'superseded') AND (
                            EXISTS (
                                SELECT 1 FROM rubrics_rubricitem i
                                JOIN drafting_suggestion s ON s.public_id = i.suggestion
                                WHERE i.rubric_id = r.id AND i.suggestion <> '' AND s.published_in_id IS NULL
                            ) OR EXISTS ({_UNDECIDED_WORDS})
                        )
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
