"""The names of rows in a file of published values: each row of a table has its own."""

from __future__ import annotations

from collections import Counter

import pytest

from rubrics.models import Candidate
from tests.agreement.replication.made import made
from tests.agreement.study import Study, coin, make_study
from tests.factories import CandidateFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def twice(names: list[str]) -> list[str]:
    return [name for name, n in Counter(names).items() if n > 1]


def with_two_physicians() -> Study:
    """Two physicians, of whom each wrote a response to every case unaided and another beside that of a model."""
    study = make_study(cases=11, points=(1, 1), candidates=("model",))
    cases = list(study.benchmark.cases.order_by("pk"))
    for name in ("Li", "Wang"):
        physician = CandidateFactory(benchmark=study.benchmark, name=name, kind=Candidate.Kind.PHYSICIAN)
        for case in cases:
            ResponseFactory(case=case, candidate=physician, sample=0, writing_mode="unaided")
            ResponseFactory(
                case=case, candidate=physician, sample=1, writing_mode="aided", metadata={"references": ["model"]}
            )
    study.judge("J", coin(1, "met", "not_met"))
    return study


def test_rows_of_several_physicians_are_told_apart() -> None:
    outcomes = made(with_two_physicians().benchmark, "healthbench", "physicians-overall", "physicians-paired")
    for key, outcome in outcomes.items():
        assert {row["candidate"] for row in outcome.rows} == {"Li", "Wang"}, key
        assert twice(outcome.names) == [], key
    assert "Li / unaided /  / " in outcomes["physicians-overall"].names
