"""Points that authors correct, and the set that they are frozen as."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.models import Case
from scoring.models import PipelineStep
from tests.results import result_of
from tests.validation.coverage.coverage_world import CoverageWorld, case_of
from tests.validation.splitting.splitting_world import (
    AXIS,
    SPLIT,
    correct,
    items_by_case,
    splitting_world,
)
from validation.models import PointsCorrection, RubricSet, RubricSetItem, SplittingRun
from validation.sets.content import SetCriterion, digest_of
from validation.sets.storing import SetName
from validation.splitting.services import freeze

pytestmark = pytest.mark.django_db

A = SPLIT["a"]


def answered_run(world: CoverageWorld, **outputs: object) -> SplittingRun:
    """A run that has ended, with these outputs by case; made of rows, so that no endpoint is needed."""
    gold = world.sets["gold"]
    criteria: dict[str, list[list[object]]] = {}
    for item in gold.items.select_related("case").order_by("case_id", "position"):
        criteria.setdefault(item.case.key, []).append([item.text, item.points, item.axis])
    run = SplittingRun.objects.create(
        kind="splitting", benchmark=world.benchmark, status="finished", created_at=timezone.now(),
        terms={"gold": gold.name, "gold_id": gold.public_id, "model": "m", "cases": 2},
        config={
            "endpoint": "http://127.0.0.1:1/v1", "model": "m",
            "gold": {"name": gold.name, "id": gold.public_id, "digest": gold.digest},
            "cases": [{"key": key, "criteria": own} for key, own in criteria.items()],
        },
    )  # fmt: skip
    for key in criteria:
        output = outputs.get(key, {"points": [list(point) for point in SPLIT[key]]})
        PipelineStep.objects.create(
            run=run, case=case_of(world, key), stage="split_points", state="done" if output else "failed",
            output=output, error_kind="" if output else "timeout",
        )  # fmt: skip
    return run


def frozen(run: SplittingRun, name: str = "points") -> RubricSet:
    return freeze(run=run, name=SetName(name), by=None, at=timezone.now())


def test_a_frozen_set_keeps_points_and_axis_and_names_the_criterion_of_each_point() -> None:
    world = splitting_world()
    run = answered_run(world)
    row = frozen(run)
    given = {"a": {1: (7, AXIS), 2: (-4, AXIS)}, "b": {1: (3, ""), 2: (5, AXIS)}}
    expected = {key: [(n, text, *given[key][n]) for n, text in own] for key, own in SPLIT.items()}
    assert items_by_case(row) == expected
    assert (row.origin, row.track, row.source, row.split_run_id) == ("split", "", world.sets["gold"], run.pk)
    assert (row.case_count, row.item_count, row.unsplit_count, row.corrected_count) == (2, 9, 0, 0)
    assert row.digest == digest_of({
        key: [SetCriterion(text, points, axis) for _n, text, points, axis in own] for key, own in expected.items()
    })  # fmt: skip
    assert row.digest != world.sets["gold"].digest
    with pytest.raises(DomainError, match="already"):
        frozen(run)


def test_what_was_not_split_stays_as_it_is_and_is_counted() -> None:
    world = splitting_world()
    whole = {
        "points": [[1, "Asks for the age; asks for allergies"], [2, "建议就医；询问年龄。说明风险！"]],
        "fault": "not_json",
    }
    row = frozen(answered_run(world, b=whole))
    assert (row.item_count, row.unsplit_count) == (6, 1)
    assert [text for _n, text, *_rest in items_by_case(row)["b"]] == [text for _n, text in whole["points"]]
    assert frozen(answered_run(world, b=None), "of a timeout").digest == row.digest


def test_an_excluded_case_is_not_in_the_set() -> None:
    world = splitting_world()
    run = answered_run(world)
    Case.objects.filter(key="b").update(excluded_at=timezone.now(), exclusion_reason="Twice.")
    row = frozen(run)
    assert (row.case_count, row.item_count) == (1, 4)
    assert [(step["condition"], step["together"]) for step in row.frame["funnel"]] == [("included", 1), ("set", 1)]


def test_a_correction_takes_the_place_of_the_answer_and_splits_by_hand_what_was_not() -> None:
    world = splitting_world()
    run = answered_run(world, b=None)
    correct(world, run, "b", [(2, "建议就医"), (1, "  Asks for the age "), (1, "Asks for allergies")])
    row = frozen(run)
    assert items_by_case(row)["b"] == [
        (1, "Asks for the age", 3, ""), (1, "Asks for allergies", 3, ""), (2, "建议就医", 5, AXIS),
    ]  # fmt: skip
    assert (row.unsplit_count, row.corrected_count) == (0, 1)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([(1, "x")], "Criterion 2 has no point"),
        ([], "Criterion 1 has no point"),
        ([(1, "x"), (2, "y"), (3, "z")], "numbered 1 to 2"),
        ([(0, "x"), (1, "x"), (2, "y")], "numbered 1 to 2"),
        ([(1, "x"), (2, " ")], "criterion 2 has no text"),
        ([(1, "x" * 20_001), (2, "y")], "longer than 20000"),
        ([(1, "x")] * 500 + [(2, "y")], "at most 500 points"),
    ],
)
def test_points_that_are_not_those_of_the_criteria_are_refused(points: list[tuple[int, str]], message: str) -> None:
    world = splitting_world()
    run = answered_run(world)
    with pytest.raises(DomainError, match=message):
        correct(world, run, "a", points)
    assert not PointsCorrection.objects.exists()


def test_a_live_run_is_neither_corrected_nor_frozen() -> None:
    world = splitting_world()
    run = answered_run(world)
    SplittingRun.objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    with pytest.raises(DomainError, match="not ended"):
        correct(world, run, "a", A)
    with pytest.raises(DomainError, match="not ended"):
        frozen(run)


@pytest.mark.slow
def test_a_repeated_save_changes_nothing_and_a_stale_one_overwrites_nothing(client: Client) -> None:
    world = splitting_world()
    run = answered_run(world)
    client.force_login(world.physicians[0])
    url = f"/b/ward/point-splitting/{run.public_id}/points/{case_of(world, 'a').public_id}/save/"

    def send(text: str, version: int, client_id: str, **more: object) -> tuple[int, dict[str, object]]:
        points = [{"criterion": 1, "text": text}, {"criterion": 2, "text": "Guesses."}]
        body = json.dumps({"points": points, "version": version, "client_id": client_id, **more})
        answer = client.post(url, body, content_type="application/json")
        return answer.status_code, answer.json() if answer.status_code not in (200, 409) else result_of(answer)

    first = str(uuid4())
    assert send("one", 0, first)[0] == 200
    status, result = send("one", 0, first)  # its answer was lost
    assert (status, result["status"], result["version"]) == (200, "saved", 1)
    status, result = send("two", 0, str(uuid4()))  # from an older tab
    assert (status, result["status"]) == (409, "stale")
    assert result["current"] == {
        "version": 1,
        "points": [{"criterion": 1, "text": "one"}, {"criterion": 2, "text": "Guesses."}],
        "client_id": first,
    }
    assert send("three", 1, str(uuid4()))[0] == 200
    assert send(" ", 2, str(uuid4()))[0] == 422
    assert send("x", 2, str(uuid4()), points=[{"criterion": "1", "text": "x"}])[0] == 400
    assert send("x", 2, str(uuid4()), points={})[0] == 422  # no point at all
    assert send("x", 2, "no id")[0] == 400
    assert send("\ud800", 2, str(uuid4()))[0] == 400
    row = PointsCorrection.objects.get()
    assert (row.points, row.version, row.saved_by) == ([[1, "three"], [2, "Guesses."]], 2, world.physicians[0])


def constraint_of(error: IntegrityError) -> str:
    return str(error.__cause__.diag.constraint_name)  # type: ignore[union-attr]


def split_set(world: CoverageWorld, run: SplittingRun, rows: list[dict[str, object]]) -> RubricSet:
    """A split set of these rows, written without the service."""
    row = RubricSet.objects.create(
        benchmark=world.benchmark, name="by hand", origin="split", source=world.sets["gold"], split_run=run, digest="0",
        case_count=1, item_count=len(rows), created_at=timezone.now(),
    )  # fmt: skip
    RubricSetItem.objects.bulk_create(
        RubricSetItem(rubric_set=row, position=n, **{"case": case_of(world, "a"), "text": "x", **own})
        for n, own in enumerate(rows, 1)
    )
    row.finished_at = row.created_at
    row.save(update_fields=["finished_at"])
    return row


def test_the_database_holds_what_a_split_set_promises() -> None:
    world = splitting_world()
    run = answered_run(world)
    first, second = world.sets["gold"].items.filter(case__key="a").order_by("position")
    of_b = world.sets["gold"].items.filter(case__key="b")[0]
    foreign = world.sets["A"].items.filter(case__key="a").get()
    good = [{"points": 7, "axis": AXIS, "source_item": first}, {"points": -4, "axis": AXIS, "source_item": second}]
    bad: list[list[dict[str, object]]] = [
        good[:1],  # a criterion is lost
        [{**good[0], "points": 6}, good[1]],
        [{**good[0], "axis": ""}, good[1]],
        [{**good[0], "source_item": None}, good[1]],
        [*good, {"points": 3, "axis": "", "source_item": of_b}],  # of another case
        [*good, {"points": 5, "axis": AXIS, "source_item": foreign}],  # of another set
    ]
    for rows in bad:
        with pytest.raises(IntegrityError) as error, transaction.atomic():
            split_set(world, run, rows)
        assert constraint_of(error.value) == "validation_set_points_of_source"
    assert split_set(world, run, [good[0], *good]).finished_at is not None
    with pytest.raises(IntegrityError) as error, transaction.atomic():
        RubricSet.objects.create(
            benchmark=world.benchmark, name="no source", origin="split", digest="0", case_count=1, item_count=1,
            created_at=timezone.now(),
        )  # fmt: skip
    assert constraint_of(error.value) == "validation_set_split_of_origin"


def test_corrected_points_are_of_a_case_of_their_run() -> None:
    world = splitting_world()
    other = splitting_world("other")
    run = answered_run(world)
    with pytest.raises(IntegrityError) as error, transaction.atomic():
        PointsCorrection.objects.create(
            run=run, case=Case.objects.filter(benchmark=other.benchmark)[0], points=[], version=1,
            saved_by=world.admin, saved_at=timezone.now(),
        )  # fmt: skip
    assert constraint_of(error.value) == "validation_pointscorrection_case"
