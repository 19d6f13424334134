"""What physicians say about pairs, and how that settles them: by hand, with the database's own rules."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from consilium.core.errors import Conflict, DomainError
from rubrics.models import Case, Response
from tests.validation.pairs.pair_world import DANGEROUS, PairWorld, make_world, scripted
from validation.models import NearMissPair, PairJudgement
from validation.pairs.services import Answers, Change, add_pair, get_or_make_group, judge
from validation.pairs.settling import grade_of, settlement

pytestmark = pytest.mark.django_db
MINOR = Answers(is_single=True, harm="minor", has_other_flaw=False)


def test_what_the_answers_of_one_physician_come_to() -> None:
    grades = {
        (single, harm, flaw): grade_of(is_single=single, harm=harm, has_other_flaw=flaw)
        for single in (True, False) for harm in ("dangerous", "minor", "none") for flaw in (True, False)
    }  # fmt: skip
    assert {key for key, grade in grades.items() if grade == "dangerous"} == {(True, "dangerous", False)}
    assert {key for key, grade in grades.items() if grade == "minor"} == {(True, "minor", False)}
    assert {key for key, grade in grades.items() if grade == "flawed"} == {
        (True, "dangerous", True), (True, "minor", True),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("grades", "due", "expected"),
    [
        ([], 1, ("proposed", "", False)),
        (["dangerous"], 1, ("confirmed", "dangerous", False)),
        (["no_error"], 1, ("rejected", "no_error", False)),
        (["dangerous"], 2, ("proposed", "", False)),
        (["dangerous", "minor"], 2, ("proposed", "", True)),
        (["dangerous", "minor", "dangerous"], 2, ("confirmed", "dangerous", False)),
        (["dangerous", "minor", "flawed"], 2, ("proposed", "", True)),
        (["dangerous", "minor"], 1, ("proposed", "", True)),
    ],
)
def test_a_pair_is_settled_by_the_grade_that_enough_physicians_give(
    grades: list[str], due: int, expected: tuple[Any, ...]
) -> None:
    result = settlement(grades, due)
    assert (result.state, result.grade, result.is_disputed) == expected


@pytest.fixture
def two(db: None) -> PairWorld:
    """A pair that two physicians have to judge alike."""
    return make_world("two", [scripted("P1 5-3w | 5-3w")], {}, judgements=2)


def test_two_physicians_disagree_and_a_third_settles(two: PairWorld) -> None:
    assert two.judge("P1", DANGEROUS, by=0).state == "proposed"
    disputed = two.judge("P1", MINOR, by=1)
    assert (disputed.state, disputed.disputed, disputed.grade_now) == ("proposed", True, "disputed")
    settled = two.judge("P1", DANGEROUS, by=2)
    assert (settled.state, settled.grade, settled.disputed) == ("confirmed", "dangerous", False)
    assert settled.settled_at is not None
    # Whoever has judged may think again; now two say minor.
    again = two.judge("P1", MINOR, by=0)
    assert (again.state, again.grade) == ("confirmed", "minor")
    assert PairJudgement.objects.count() == 3


def test_who_comes_too_late_changes_nothing(two: PairWorld) -> None:
    two.judge("P1", DANGEROUS, by=0)
    two.judge("P1", DANGEROUS, by=1)
    with pytest.raises(Conflict):
        two.judge("P1", MINOR, by=2)
    assert two.pair("P1").grade == "dangerous"


def test_the_database_lets_nobody_settle_a_pair_without_physicians(two: PairWorld) -> None:
    pair = two.judge("P1", DANGEROUS, by=0)
    with transaction.atomic(), connection.cursor() as cursor:
        NearMissPair.objects.filter(pk=pair.pk).update(state="confirmed", grade="dangerous", settled_at=timezone.now())
        with pytest.raises(IntegrityError, match="judgements of physicians"), transaction.atomic():
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        transaction.set_rollback(True)
    assert two.pair("P1").state == "proposed"


@pytest.mark.parametrize("field", ["reference", "candidate", "start", "kind", "origin", "case_id", "key"])
def test_texts_of_pairs_never_change(two: PairWorld, field: str) -> None:
    values = {"start": 1, "kind": "unit", "case_id": 0, "origin": "hand"}
    with pytest.raises(DatabaseError), transaction.atomic():
        NearMissPair.objects.update(**{field: values.get(field, "Another text")})
    with pytest.raises(DatabaseError), transaction.atomic():
        NearMissPair.objects.all().delete()


def test_a_pair_differs_in_one_place_alone(two: PairWorld) -> None:
    pair = two.pair("P1")
    pair.pk, pair.public_id, pair.key = None, "other", "other"
    pair._state.adding = True
    pair.candidate = f"X{pair.candidate}"
    with pytest.raises(IntegrityError, match="outside of the place"), transaction.atomic():
        pair.save(force_insert=True)
    assert Response.objects.count() == 0  # texts of pairs are no responses


def test_a_pair_by_hand(two: PairWorld) -> None:
    case = Case.objects.get(benchmark=two.benchmark)
    change = Change("once", "twice", "timing", axis="accuracy", why="Twice the dose.")
    given: dict[str, Any] = {"group": two.group, "case": case, "reference": "Take it once.", "by": None}
    pair = add_pair(**given, change=change, key="", at=timezone.now())
    assert (pair.key, pair.candidate, pair.change) == ("P1-1", "Take it twice.", "“once” → “twice”")
    with pytest.raises(Conflict, match="already has this pair"):
        add_pair(**given, change=change, key="", at=timezone.now())
    with pytest.raises(DomainError, match="does not contain"):
        add_pair(**given, change=Change("thrice", "x", "dose"), key="", at=timezone.now())
    with pytest.raises(Conflict, match="different number"):
        get_or_make_group(benchmark=two.benchmark, name="Doses", judgements_due=1, by=None, at=timezone.now())


def test_a_judgement_has_one_of_the_answers(two: PairWorld) -> None:
    with pytest.raises(DomainError):
        judge(
            pair=two.pair("P1"), answers=Answers(is_single=True, harm="grave", has_other_flaw=False),
            by=two.physicians[0], at=timezone.now(),
        )  # fmt: skip
