"""A benchmark with a gold set whose criteria hold several statements, and runs that split them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.utils import timezone

from consilium.llm.rules.names import MODEL
from scoring.pipelines.working import work_on_run
from tests.validation.coverage.coverage_world import QUICK, CoverageWorld, Texts, case_of, make_world
from validation.models import PointsCorrection, RubricSet, SplittingRun
from validation.splitting.content import Statement
from validation.splitting.services import PointsInput, create_run, save_points

AXIS = "accuracy"
GOLD: dict[str, Texts] = {
    "a": [("Names the dose; names the interval. Advises a check after a week.", 7, AXIS), ("Guesses.", -4, AXIS)],
    "b": [("Asks for the age; asks for allergies", 3, ""), ("建议就医；询问年龄。说明风险！", 5, AXIS)],
}
# As the rule of the endpoint cuts them, by hand: the number of the criterion and the text.
SPLIT = {
    "a": [(1, "Names the dose"), (1, "names the interval."), (1, "Advises a check after a week."), (2, "Guesses.")],
    "b": [(1, "Asks for the age"), (1, "asks for allergies"), (2, "建议就医"), (2, "询问年龄。"), (2, "说明风险！")],
}


def splitting_world(slug: str = "ward", **sets: dict[str, Texts]) -> CoverageWorld:
    """Two cases with a gold set, and a set to measure."""
    measured: dict[str, Texts] = {"a": [("Names the dose", 5, AXIS)], "b": [("Asks for allergies", 2, AXIS)]}
    return make_world(slug, {"gold": GOLD, "A": measured, **sets})


def begin(world: CoverageWorld, url: str, *, model: str = MODEL, **config: Any) -> SplittingRun:
    return create_run(
        benchmark=world.benchmark,
        gold=world.sets["gold"],
        config={"endpoint": url, "model": model, **QUICK, **config},
        by=world.admin,
        at=timezone.now(),
    )


def work(run: Any) -> SplittingRun:
    """What a worker does, until the run needs none."""
    while work_on_run(run.pk, clock=timezone.now):
        pass
    return SplittingRun.objects.get(pk=run.pk)


def split(world: CoverageWorld, url: str, **more: Any) -> SplittingRun:
    """A run, worked to its end."""
    return work(begin(world, url, **more))


def correct(
    world: CoverageWorld, run: SplittingRun, key: str, points: Sequence[tuple[int, str]], version: int = 0, **more: Any
) -> PointsCorrection:
    """Points of a case, corrected by the first physician."""
    change = PointsInput([Statement(*point) for point in points], version, more.pop("client_id", uuid4()))
    by = more.pop("by", world.physicians[0])
    return save_points(run=run, case=case_of(world, key), change=change, by=by, at=timezone.now())


def items_by_case(rubric_set: RubricSet) -> dict[str, list[tuple[int, str, int, str]]]:
    """Number of the criterion in the source, text, points and axis of each item."""
    rows: dict[str, list[tuple[int, str, int, str]]] = {}
    for item in rubric_set.items.select_related("case", "source_item").order_by("case_id", "position"):
        rows.setdefault(item.case.key, []).append((item.source_item.position, item.text, item.points, item.axis))
    return rows
