"""The names of rows in a file of published values: each row of a table has its own."""

from __future__ import annotations

from collections import Counter

import pytest

from agreement.replication.papers import PAPERS
from agreement.replication.published import PublishedValue, compared, row_name
from agreement.reports.tables import Row, Table
from rubrics.models import Candidate
from tests.agreement.replication.made import make_artefacts
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


def test_rows_of_several_physicians_have_names_of_their_own() -> None:
    outcomes = make_artefacts(with_two_physicians().benchmark, "healthbench", "physicians-overall", "physicians-paired")
    for key, outcome in outcomes.items():
        assert {row["candidate"] for row in outcome.rows} == {"Li", "Wang"}, key
        assert twice(outcome.names) == [], key
    assert "Li / unaided /  /" in outcomes["physicians-overall"].names


def test_rows_of_slices_sizes_and_sources_have_names_of_their_own() -> None:
    for paper, key, first, other in (
        ("healthbench", "meta-each-physician", {"slice": "all"}, {"slice": "cluster:hedging"}),
        ("clinconsensus", "distribution", {"n_criteria": 9}, {"n_criteria": 12}),
        ("acuity", "uncertainty", {"source": "samples"}, {"source": "logprobs"}),
        ("acuity", "spread", {"source": "samples"}, {"source": "logprobs"}),
    ):
        artefact = PAPERS[paper].artefact(key)
        assert artefact is not None
        assert first.keys() <= {*artefact.columns}
        rest = dict.fromkeys((artefact.by, *artefact.columns), 1)
        assert row_name(artefact, rest | first) != row_name(artefact, rest | other), key


def values_beside(rows: list[list[object]]) -> Row:
    """What is said of a published value of o3 beside such rows."""
    table = Table(("candidate", "rubric_score"), rows, ("candidate",))
    value = PublishedValue("overall", "o3", "rubric_score", 0.6, "")
    (row,) = compared(PAPERS["healthbench"], [value], {"overall": (table, "R1")})
    return row


def test_a_name_of_several_rows_is_compared_with_none_of_them() -> None:
    beside = values_beside([["o3", 0.5], ["other", 0.1]])
    assert (beside["ours"], beside["report"], beside["note"]) == (0.5, "R1", "")
    assert beside["difference"] == pytest.approx(-0.1)
    beside = values_beside([["o3", 0.5], ["o3", 0.5]])
    assert (beside["ours"], beside["difference"], beside["report"]) == (None, None, "R1")
    assert beside["note"] == "several rows of this name here"
    assert values_beside([["o3", None]])["note"] == "no value here"
    assert values_beside([["other", 0.5]])["note"] == "no row of this name here"
