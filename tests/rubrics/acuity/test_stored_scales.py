"""Scales and label schemes in the database: a change is a new version, and no version ever changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, transaction
from django.utils.translation import override

from consilium.core.errors import DomainError
from rubrics.acuity.scales import FOUR, THREE, Scale
from rubrics.acuity.schemes import How, Mapped, Scheme
from rubrics.acuity.services import get_or_make_scale, get_or_make_scheme, make_scale, make_scheme
from rubrics.acuity.shown import shown_levels, shown_mapping
from rubrics.acuity.stored import scale_of, scheme_of
from rubrics.models import AcuityScale, Benchmark, LabelRule, LabelScheme
from tests.factories import BenchmarkFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="bench")


def test_a_starter_is_stored_as_it_is(benchmark: Benchmark) -> None:
    scale = get_or_make_scale(benchmark=benchmark, name="three", by=None, at=AT)
    assert (str(scale), scale_of(scale)) == ("three", THREE)
    assert get_or_make_scale(benchmark=benchmark, name="three", by=None, at=AT) == scale
    scheme = get_or_make_scheme(scale=scale, name="em-ne-sc", by=None, at=AT)
    assert scheme_of(scheme).mapped("EM") == Mapped(How.DIRECT, 2, 2)
    assert get_or_make_scheme(scale=scale, name="em-ne-sc", by=None, at=AT) == scheme
    # Read back, direct still takes labels in any spelling.
    direct = scheme_of(get_or_make_scheme(scale=scale, name="direct", by=None, at=AT))
    assert direct.mapped("SELF_CARE | non-emergency") == Mapped(How.BOUNDARY, 0, 1)


def test_a_change_is_a_new_version(benchmark: Benchmark) -> None:
    scale = make_scale(benchmark=benchmark, scale=FOUR, by=None, at=AT)
    other = replace(FOUR, levels=FOUR.levels[:3])
    newer = make_scale(benchmark=benchmark, scale=other, by=None, at=AT)
    assert (str(newer), newer.version) == ("four 2", 2)
    assert make_scale(benchmark=benchmark, scale=other, by=None, at=AT) == newer
    assert make_scale(benchmark=benchmark, scale=FOUR, by=None, at=AT).version == 3
    rules = {"red": Mapped(How.DIRECT, 3, 3)}
    first = make_scheme(scale=scale, scheme=Scheme("own", FOUR, rules), by=None, at=AT)
    assert make_scheme(scale=scale, scheme=Scheme("own", FOUR, rules), by=None, at=AT) == first
    wider = rules | {"grey": Mapped(How.PANEL)}
    assert make_scheme(scale=scale, scheme=Scheme("own", FOUR, wider), by=None, at=AT).version == 2
    assert get_or_make_scheme(scale=scale, name="own", by=None, at=AT).version == 2


def test_no_version_changes(benchmark: Benchmark) -> None:
    scale = get_or_make_scale(benchmark=benchmark, name="four", by=None, at=AT)
    get_or_make_scheme(scale=scale, name="letters", by=None, at=AT)
    rows = (AcuityScale.objects.get(), LabelScheme.objects.get(), LabelRule.objects.first())
    for row in rows:
        assert row is not None
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            row.save()
        with pytest.raises(DatabaseError, match="Cannot update or delete"), transaction.atomic():
            type(row).objects.filter(pk=row.pk)._raw_delete("default")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (replace(FOUR, name="with blanks"), "letters"),
        (replace(FOUR, name="n" * 61), "at most 60 characters"),
        (Scale("own", (replace(FOUR.levels[0], value="v" * 61), *FOUR.levels[1:])), "at most 60 characters"),
        (Scale("own", (replace(FOUR.levels[0], definition_en="d" * 501), *FOUR.levels[1:])), "at most 500 characters"),
    ],
)
def test_what_no_scale_can_hold(benchmark: Benchmark, scale: Scale, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        make_scale(benchmark=benchmark, scale=scale, by=None, at=AT)


def test_unknown_names_are_refused(benchmark: Benchmark) -> None:
    with pytest.raises(DomainError, match=r"There is no scale “nine”. Available: five, four, three\."):
        get_or_make_scale(benchmark=benchmark, name="nine", by=None, at=AT)
    scale = get_or_make_scale(benchmark=benchmark, name="three", by=None, at=AT)
    with pytest.raises(DomainError, match="There is no label scheme “own”"):
        get_or_make_scheme(scale=scale, name="own", by=None, at=AT)
    with pytest.raises(DomainError, match="has no rules for the scale “three”"):
        get_or_make_scheme(scale=scale, name="portal-1-6", by=None, at=AT)


def test_levels_have_a_letter_and_words_in_the_language_of_the_reader() -> None:
    assert [(level.place, level.letter, level.label) for level in shown_levels(THREE)] == [
        (0, "A", "Self-care"),
        (1, "B", "Non-emergency"),
        (2, "C", "Emergency"),
    ]
    with override("zh-hans"):
        assert shown_levels(THREE)[2].label == "急诊"
    assert shown_mapping(FOUR, 1, 1) == "B · Primary care"
    assert shown_mapping(FOUR, 2, 3) == "C | D"
    assert shown_mapping(FOUR, None, None) == ""
