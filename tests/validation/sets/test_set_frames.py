"""Which cases a set holds: conditions of a frame, alone and together."""

from __future__ import annotations

import pytest
from django.utils import timezone

from consilium.core.errors import Conflict, DomainError
from rubrics.generic import generic_criteria
from rubrics.models import Benchmark, Rubric, RubricItem
from tests.factories import CaseFactory, publish_rubric
from validation.models import RubricSet
from validation.sets.frames import frame_of
from validation.sets.selectors import funnel
from validation.sets.services import make_set
from validation.sets.storing import SetName

pytestmark = pytest.mark.django_db


def make(benchmark: Benchmark, name: str = "set", track: str = "gold", **conditions: object) -> RubricSet:
    return make_set(
        benchmark=benchmark,
        name=SetName(name),
        track=track,
        frame=frame_of(**conditions),  # type: ignore[arg-type]
        by=None,
        at=timezone.now(),
    )


def keys(row: RubricSet) -> list[str]:
    return list(row.items.order_by("case_id").values_list("case__key", flat=True).distinct())


def test_each_condition_is_counted_alone_and_together(benchmark: Benchmark) -> None:
    """Criteria: a 2, b 3, c 4, all of one axis. Excluded and unpublished cases count in nothing."""
    CaseFactory(benchmark=benchmark, key="d", rubric=0, tags=["theme:urgency"])
    CaseFactory(benchmark=benchmark, key="e", excluded_at=timezone.now(), exclusion_reason="double")
    row = make(benchmark, criteria="3-4", axes="1", language="zh", tags=["theme:urgency"])
    assert [tuple(step.values()) for step in row.frame["funnel"]] == [
        ("included", "", 4, 4),
        ("track", "gold", 3, 3),
        ("criteria", "3-4", 2, 2),
        ("axes", "1", 3, 2),
        ("language", "zh", 1, 1),
        ("tag", "theme:urgency", 2, 1),
    ]
    assert keys(row) == ["c"]
    assert (row.origin, row.track, row.case_count, row.item_count) == ("gold", "gold", 1, 4)


def test_the_number_of_axes_is_that_of_different_axes(benchmark: Benchmark) -> None:
    case = CaseFactory(benchmark=benchmark, key="d", rubric=0)
    rubric = Rubric.objects.create(case=case)
    for position, tags in enumerate((["axis:safety"], ["axis:safety", "level:x"], ["axis:accuracy"], []), start=1):
        criterion = case.criteria.create(text=f"Criterion {position}")
        RubricItem.objects.create(rubric=rubric, criterion=criterion, position=position, points=1, tags=tags)
    rubric.status = Rubric.Status.PUBLISHED
    rubric.save()
    row = make(benchmark, axes="2")
    assert keys(row) == ["d"]
    axes = row.items.order_by("position").values_list("axis", flat=True)
    assert list(axes) == ["safety", "safety", "accuracy", ""]


def test_tags_that_physicians_agreed_on_count(benchmark: Benchmark) -> None:
    benchmark.cases.filter(key="a").update(label_tags=["checked"])
    assert keys(make(benchmark, tags=["checked"])) == ["a"]


def test_a_set_keeps_what_was_published_when_it_was_made(benchmark: Benchmark) -> None:
    row = make(benchmark)
    before = list(row.items.values_list("text", "points"))
    case = benchmark.cases.get(key="a")
    Rubric.objects.filter(case=case).update(status="superseded")
    Rubric.objects.create(case=case, version=2, status="draft")
    assert list(row.items.values_list("text", "points")) == before
    assert all(row.items.values_list("criterion", flat=True))
    assert keys(make(benchmark, name="later")) == ["b", "c"]


def test_a_set_of_another_track_has_its_criteria_and_the_frame_asks_the_gold_rubric(benchmark: Benchmark) -> None:
    for key in "ab":
        publish_rubric(benchmark.cases.get(key=key), [7], texts=[f"Second of {key}"], track="second")
    row = make(benchmark, track="second", criteria="3")
    assert list(row.items.values_list("case__key", "text", "points")) == [("b", "Second of b", 7)]
    assert (row.origin, row.track) == ("track", "second")


def test_the_generic_set_has_the_language_of_each_case(benchmark: Benchmark) -> None:
    CaseFactory(benchmark=benchmark, key="d", rubric=0, language="zh-hans")
    row = make(benchmark, track="")
    assert (row.origin, row.case_count, row.item_count) == ("generic", 4, 24)
    for key, language in (("a", "en"), ("b", "en"), ("c", "zh"), ("d", "zh")):
        texts = row.items.filter(case__key=key).order_by("position").values_list("text", "points", "axis")
        assert list(texts) == [(each.text, each.points, each.axis) for each in generic_criteria(language)]


def test_both_languages_of_the_generic_criteria_say_the_same() -> None:
    english, chinese = generic_criteria("en"), generic_criteria("zh")
    assert [(each.points, each.axis) for each in english] == [(each.points, each.axis) for each in chinese]
    assert len(english) == 6
    assert sum(each.points < 0 for each in english) == 1


def test_the_digest_does_not_depend_on_ids_or_the_order_of_import(benchmark: Benchmark) -> None:
    from tests.factories import BenchmarkFactory

    first = make(benchmark)
    other = BenchmarkFactory()
    for key, points in (("c", [4, 4, 4, 4]), ("b", [1, 2, 3]), ("a", [5, -3])):
        CaseFactory(benchmark=other, key=key, rubric=points)
    second = make(other)
    assert second.digest == first.digest
    assert make(benchmark, name="fewer", criteria="2-3").digest != first.digest


def test_a_case_without_a_gold_rubric_has_no_number_of_axes(benchmark: Benchmark) -> None:
    CaseFactory(benchmark=benchmark, key="d", rubric=0)
    assert keys(make(benchmark, track="", axes="0-9")) == ["a", "b", "c"]


def test_a_name_is_taken_once(benchmark: Benchmark) -> None:
    make(benchmark)
    with pytest.raises(Conflict, match="There is already a rubric set called “set”"):
        make(benchmark, name=" set ")
    assert RubricSet.objects.count() == 1


def test_an_empty_frame_makes_no_set(benchmark: Benchmark) -> None:
    with pytest.raises(DomainError, match="No case is in the frame"):
        make(benchmark, criteria="9")
    with pytest.raises(DomainError, match="No case is in the frame"):
        make(benchmark, track="none")
    assert not RubricSet.objects.exists()


@pytest.mark.parametrize("text", ["8–10", " 8 - 10 ", "8-10"])
def test_a_range(text: str) -> None:
    assert str(frame_of(criteria=text).criteria) == "8-10"


@pytest.mark.parametrize("text", ["x", "10-8", "-1", "8-", "1e3", "8-10-12", "٣", "99999"])
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(DomainError):
        frame_of(axes=text)


def test_a_case_with_a_rubric_on_two_tracks_is_counted_once(benchmark: Benchmark) -> None:
    publish_rubric(benchmark.cases.get(key="a"), [7], texts=["Second"], track="second")
    assert [len(funnel(benchmark, frame_of(), track=track).cases) for track in ("gold", "second", "")] == [3, 1, 3]
