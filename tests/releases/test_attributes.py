"""Attributes of candidates in a release: only with what names candidates, and the same when they come back in."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from releases.verification import verify
from rubrics.models import CandidateAttributes
from tests.factories import CandidateFactory
from tests.releases.releasing import built, command, imported
from tests.releases.study import Study, study_with_secrets

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def study() -> Study:
    study = study_with_secrets()
    CandidateAttributes.objects.create(
        candidate=study.benchmark.candidates.get(name="some model"), family="=Orchid", developer="Example, Inc.",
        base_model="orchid-2", effort="high", release_date=date(2025, 4, 16), size_total=235, size_active="22.5",
        open_weights=False, price_in="0.15", price_out=0, currency="EUR", price_date=date(2025, 6, 1),
    )  # fmt: skip
    CandidateAttributes.objects.create(
        candidate=CandidateFactory(benchmark=study.benchmark, name="other model"), family="Fern"
    )
    return study


def test_they_come_back_in_as_they_were(study: Study, tmp_path: Path) -> None:
    built(study.benchmark, tmp_path / "a", responses=True, candidates=("some model",))
    line = 'some model,\'=Orchid,"Example, Inc.",orchid-2,high,2025-04-16,235,22.5,false,0.15,0,EUR,2025-06-01'
    assert (tmp_path / "a" / "candidates.csv").read_text().splitlines()[1:] == [line]
    assert not verify(tmp_path / "a").problems
    assert "`candidates.csv`" in (tmp_path / "a" / "DATA_CARD.md").read_text()
    again = imported("again", (tmp_path / "a" / "cases" / "healthbench.jsonl").read_bytes())
    command("import_responses", str(tmp_path / "a" / "responses.jsonl"), "--benchmark", "again")
    command("import_candidates", str(tmp_path / "a" / "candidates.csv"), "--benchmark", "again")
    built(again, tmp_path / "b", responses=True)
    assert (tmp_path / "b" / "candidates.csv").read_bytes() == (tmp_path / "a" / "candidates.csv").read_bytes()


def test_a_release_that_names_no_candidate_has_none(study: Study, tmp_path: Path) -> None:
    built(study.benchmark, tmp_path)
    assert not (tmp_path / "candidates.csv").exists()
    assert not any(b"Orchid" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_release_with_decisions_has_those_of_every_candidate(study: Study, tmp_path: Path) -> None:
    built(study.benchmark, tmp_path, decisions=True)
    names = [line.partition(",")[0] for line in (tmp_path / "candidates.csv").read_text().splitlines()]
    assert names == ["candidate", "other model", "some model"]


def test_a_row_that_was_taken_out_is_noticed(study: Study, tmp_path: Path) -> None:
    built(study.benchmark, tmp_path, responses=True)
    path = tmp_path / "candidates.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert any("candidates.csv: 1 rows; release.json says 2" in problem for problem in verify(tmp_path).problems)
