"""Whose codes the tables of failures are made of."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from agreement.models import Report
from agreement.replication import gaps
from agreement.replication.choosing import Choices, Options, failures, failures_coverage
from agreement.replication.gaps import Lacking
from agreement.replication.making import make
from agreement.replication.papers import PAPERS
from annotation.models import Physician
from tests.agreement.failures.test_failures_by_judges import code_by_judge
from tests.annotation.codes.coding_world import CodingWorld, build_coding
from tests.factories import BenchmarkFactory
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
CASES = "abcdef"


def raters(world: CodingWorld) -> tuple[str, str]:
    (given,) = failures(Choices(world.benchmark, Options()))
    assert given["graded_by"] == ""
    return given["rater_a"], given["rater_b"]


def label(world: CodingWorld, place: int, group: int = 0) -> str:
    person = world.task("a alpha", group, place).annotator
    return f"physician:{Physician.objects.get(benchmark=world.benchmark, user=person).pseudonym}"


def code_all(world: CodingWorld, *groups: int) -> None:
    for at, name in enumerate(world.responses):
        for group in groups:
            world.say(name, ["wrong-dose"] if at % 2 else [], ["wrong-dose"] if at % 3 else [], group=group)


def outcomes_of(world: CodingWorld) -> dict[str, dict[str, Any]]:
    choices = Choices(world.benchmark, Options())
    outcomes = make(PAPERS["clinconsensus"], choices, clock=timezone.now, replication=None)
    return {outcome["artefact"]: outcome for outcome in outcomes}


def test_two_groups_are_taken_where_both_coded() -> None:
    world = build_coding(cases=CASES, groups=2)
    code_all(world, 0, 1)
    first, second = sorted(f"group:{group.name}" for group in world.groups)
    assert raters(world) == (first, second)


def test_of_one_group_the_two_physicians_with_the_most_responses_in_common() -> None:
    world = build_coding(cases=CASES)
    code_all(world, 0)
    assert set(raters(world)) == {label(world, 0), label(world, 1)}
    outcomes = outcomes_of(world)
    assert outcomes["failures"]["state"] in ("made", "in part")
    assert outcomes["failures-agreement"]["state"] in ("made", "in part")
    (gap,) = outcomes["failures-coverage"]["gaps"]  # nobody has decided on criteria
    assert gap == gaps.RATER.as_json()
    artefact = PAPERS["clinconsensus"].artefact("failures-agreement")
    assert artefact is not None
    assert "physicians" not in str(artefact.title)
    assert Report.objects.get(kind="failures").parameters["counted"] == "final"


def test_one_physician_stands_beside_a_judge(loopback: Loopback) -> None:  # noqa: F811
    world = build_coding(cases=CASES)
    for at, name in enumerate(world.responses):
        world.say(name, ["wrong-dose"] if at % 2 else [])
    with pytest.raises(Lacking) as lacking:
        failures(Choices(world.benchmark, Options()))
    assert lacking.value.gap == gaps.CODED
    code_by_judge(world, loopback)
    assert raters(world) == ("final", "judge:grader")
    with pytest.raises(Lacking) as lacking:
        failures_coverage(Choices(world.benchmark, Options()))
    assert lacking.value.gap == gaps.RATER


def test_without_a_code_book_nobody_has_coded() -> None:
    with pytest.raises(Lacking) as lacking:
        failures(Choices(BenchmarkFactory(), Options()))
    assert lacking.value.gap == gaps.CODED
