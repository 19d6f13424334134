"""Scores of responses: HealthBench's formula, the counting rules, and that negative criteria stay in their place."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.cacs import cacs_at_k
from consilium.statistics.calibration import calibrate
from consilium.statistics.estimate import Undefined
from consilium.statistics.outcomes import Outcome
from consilium.statistics.pass_at_k import pass_at_k
from consilium.statistics.rubric_accuracy import rubric_accuracy
from scoring.scores.points import BrokenVerdict, CannotAssess, CountingRules, score_responses, score_slices

MET, NOT, INVALID, MISSING = Outcome.MET, Outcome.NOT_MET, Outcome.INVALID, Outcome.MISSING
CANNOT, UNDECIDED, FAULTY = Outcome.CANNOT_ASSESS, Outcome.UNDECIDED, Outcome.FAULTY


def score_rubric(points, outcomes, rules=CountingRules()):  # noqa: B008
    return score_responses([0] * len(points), points, outcomes, 1, rules)


def test_healthbench_score_by_hand():
    # 10 points and 5 points possible; 10 met, -4 met: 6 of 15.
    scores = score_rubric([10, 5, -4, -8], [MET, NOT, MET, NOT])
    assert scores.score[0] == pytest.approx(6 / 15)
    assert (scores.points_met[0], scores.points_possible[0]) == (6, 15)
    assert (scores.hits[0], scores.n_positive[0], scores.n_criteria[0]) == (1, 2, 4)
    assert score_rubric([5, -10], [NOT, MET]).score[0] == -2  # not clipped here


def test_no_positive_points_no_score():
    scores = score_rubric([-3, -2], [NOT, MET])
    assert not scores.has_score[0]
    assert np.isnan(scores.score[0])
    assert not scores.has_hits[0]


@pytest.mark.parametrize("broken", [INVALID, MISSING])
def test_broken_verdicts_count_against_the_candidate(broken):
    rubric = [6, 4, -5, -1]
    assert score_rubric(rubric, [MET, broken, broken, NOT]).score[0] == pytest.approx((6 - 5) / 10)
    in_favour = CountingRules(broken_verdict=BrokenVerdict.IN_FAVOUR)
    assert score_rubric(rubric, [MET, broken, broken, NOT], in_favour).score[0] == pytest.approx(10 / 10)
    left_out = CountingRules(broken_verdict=BrokenVerdict.LEFT_OUT)
    scores = score_rubric(rubric, [NOT, broken, broken, MET], left_out)
    assert scores.score[0] == pytest.approx(-1 / 6)
    assert (scores.n_positive[0], scores.n_criteria[0]) == (1, 2)
    assert scores.n_invalid[0] + scores.n_missing[0] == 2


def test_cannot_assess_takes_the_score_unless_a_rule_gives_one():
    rubric = [6, 4, -5]
    scores = score_rubric(rubric, [MET, CANNOT, NOT])
    assert (bool(scores.has_score[0]), bool(scores.has_hits[0]), int(scores.n_cannot[0])) == (False, False, 1)
    for rule, score in (("against", 0.6), ("in_favour", 1.0), ("left_out", 1.0)):
        ruled = score_rubric(rubric, [MET, CANNOT, NOT], CountingRules(cannot_assess=CannotAssess(rule)))
        assert ruled.score[0] == pytest.approx(score), rule
    # On a negative criterion it takes the rubric score, but not the hits, which never look there.
    scores = score_rubric(rubric, [MET, NOT, CANNOT])
    assert (bool(scores.has_score[0]), bool(scores.has_hits[0]), int(scores.hits[0])) == (False, True, 1)


@pytest.mark.django_db
def test_codes_are_those_of_the_database():
    from annotation.models import Outcome as DecisionOutcome
    from annotation.models import RulingOutcome
    from annotation.models.outcomes import outcome_code_sql
    from scoring.models import Verdict

    columns = (DecisionOutcome, RulingOutcome, Verdict.Outcome)
    stored = {choice.value: choice.code for choices in columns for choice in choices}
    assert stored == {"met": MET, "not_met": NOT, "cannot_assess": CANNOT, "invalid": INVALID, "faulty": FAULTY}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT w, {outcome_code_sql('w')} FROM unnest(%s::text[]) AS w", [[*stored, "other"]])
        assert dict(cursor.fetchall()) == {**stored, "other": UNDECIDED}


def test_codes_and_words_stay_as_files_and_reports_have_them():
    assert [(outcome.value, outcome.word) for outcome in Outcome] == [
        (0, "not_met"),
        (1, "met"),
        (2, "cannot_assess"),
        (3, "invalid"),
        (4, "undecided"),
        (5, "faulty"),
        (6, "missing"),
    ]


def test_undecided_and_faulty_criteria():
    scores = score_rubric([6, 4, -5], [MET, UNDECIDED, NOT])
    assert (bool(scores.has_score[0]), int(scores.n_undecided[0])) == (False, 1)
    # The faulty criterion is no longer part of the rubric: 6 of 6, with N = 1.
    scores = score_rubric([6, 4, -5], [MET, FAULTY, NOT])
    assert scores.score[0] == 1
    assert (scores.hits[0], scores.n_positive[0], scores.n_faulty[0], scores.n_cannot[0]) == (1, 1, 1, 0)


rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(-10, 10).filter(bool), st.sampled_from(list(Outcome))),
    min_size=1,
    max_size=60,
)
all_rules = st.builds(CountingRules, st.sampled_from(list(BrokenVerdict)), st.sampled_from(list(CannotAssess)))


@pytest.mark.slow
@given(rows, all_rules)
def test_equals_a_plain_loop(criteria, rules):
    scores = score_responses(*zip(*criteria, strict=True), 5, rules)
    for response in range(5):
        earned = possible = hits = positive = 0
        blocked = blocked_hits = False
        for who, points, outcome in criteria:
            if who != response:
                continue
            met = outcome == MET
            if outcome == FAULTY:
                continue
            if outcome != NOT and outcome != MET:
                rule = rules.cannot_assess if outcome in (CANNOT, UNDECIDED) else rules.broken_verdict
                if rule == "left_out":
                    continue
                if rule == "no_score":
                    blocked, blocked_hits = True, blocked_hits or points > 0
                met = (points > 0) == (rule == "in_favour") if rule != "no_score" else False
            earned += points * met
            possible += max(points, 0)
            positive += points > 0
            hits += met and points > 0
        assert scores.n_positive[response] == positive
        assert scores.has_score[response] == (possible > 0 and not blocked)
        assert scores.has_hits[response] == (positive > 0 and not blocked_hits)
        if scores.has_score[response]:
            assert scores.score[response] == pytest.approx(earned / possible)
        if scores.has_hits[response]:
            assert scores.hits[response] == hits


@pytest.mark.slow
@given(rows, all_rules, st.data())
def test_negative_criteria_never_touch_hits(criteria, rules, data):
    """Whatever the outcomes of negative criteria, and however many: Rubric Accuracy, Pass, CACS and k stay."""
    positive = [row for row in criteria if row[1] > 0]
    others = data.draw(
        st.lists(st.tuples(st.integers(0, 4), st.integers(-10, -1), st.sampled_from(list(Outcome))), max_size=30)
    )

    def figures(chosen):
        columns = list(zip(*chosen, strict=True)) or [(), (), ()]
        scores = score_responses(*columns, 5, rules)
        s, n = scores.hits[scores.has_hits], scores.n_positive[scores.has_hits]
        return rubric_accuracy(s, n), pass_at_k(s, n, 2), cacs_at_k(s, n, 2), calibrate(s, n)

    assert figures(positive) == figures(positive + others)


@pytest.mark.slow
@given(rows)
def test_breaking_a_verdict_never_pays(criteria):
    columns = [list(column) for column in zip(*criteria, strict=True)]
    before = score_responses(*columns, 5)
    columns[2] = [INVALID if outcome in (MET, NOT) else outcome for outcome in columns[2]]
    after = score_responses(*columns, 5)
    scored = before.has_score
    assert (after.score[scored] <= before.score[scored]).all()
    assert (after.hits <= before.hits).all()


@pytest.mark.slow
@given(rows, st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(criteria, random):
    shuffled = list(criteria)
    random.shuffle(shuffled)
    one_way, other = (score_responses(*zip(*chosen, strict=True), 5) for chosen in (criteria, shuffled))
    assert np.array_equal(one_way.score, other.score, equal_nan=True)
    assert np.array_equal(one_way.hits, other.hits)


def test_slices_by_criterion_tag():
    # Response 0: axis a has 4 met and -2 met, axis b has 6 not met. Response 1: axis a only a negative criterion.
    response, points, outcome = [0, 0, 0, 1, 1], [4, -2, 6, -3, 5], [MET, MET, NOT, NOT, MET]
    slices = score_slices([0, 1, 2, 3, 4], [0, 0, 1, 0, 1], 2, response, points, outcome, 2)
    scores = slices.score.reshape(2, 2)
    assert scores[0, 0] == pytest.approx(0.5)
    assert np.isnan(scores[0, 1])  # no positive points on this axis
    assert scores[1].tolist() == [0.0, 1.0]


def test_refuses_nonsense():
    with pytest.raises(ValueError, match="never 0"):
        score_rubric([0], [MET])
    with pytest.raises(ValueError, match="unknown outcome"):
        score_rubric([1], [9])
    with pytest.raises(ValueError, match="outside"):
        score_responses([3], [1], [1], 2)
    with pytest.raises(ValueError, match="one entry per criterion"):
        score_responses([0], [1, 2], [1], 1)


def test_nothing_to_score():
    scores = score_responses([], [], [], 3)
    assert not scores.has_score.any()
    assert scores.hits.tolist() == [0, 0, 0]
    assert rubric_accuracy(scores.hits[scores.has_hits], scores.n_positive[scores.has_hits]) == Undefined(
        "no positive criteria"
    )


def test_rules_say_their_names():
    assert str(CountingRules()) == "invalid and missing: against; cannot assess: no_score"
