"""The consensus of two groups among several: how it is named, offered and described."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone, translation
from hypothesis import given
from hypothesis import strategies as st

from agreement.reports.sentences import rater_in_words
from agreement.selectors.rater_choices import display_name, rater_choices
from agreement.services import create_report
from agreement.services import run as run_report
from annotation.models import ExpertGroup
from consilium.core.errors import DomainError
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark
from scoring.judges.config import check_judge_name
from scoring.selectors.raters import UnknownRater, _pairs_in, groups_of_consensus, resolve_rater
from tests.factories import BenchmarkRoleFactory, ExpertGroupFactory, make_batch
from tests.scoring.conftest import decide
from tests.scoring.scores.test_scores_command import judged

M, N, U = Outcome.MET, Outcome.NOT_MET, Outcome.UNDECIDED
PLACE = ("case-0", "alpha")


def group_of(benchmark: Benchmark, name: str, *outcomes: str) -> ExpertGroup:
    decide(benchmark, name, {PLACE: list(outcomes)})
    return ExpertGroup.objects.get(benchmark=benchmark, name=name)


@pytest.fixture
def three(answered: Benchmark) -> Benchmark:
    """Groups A, B and C with decisions on one response; a fourth without any."""
    group_of(answered, "A", "met", "met", "not_met")
    group_of(answered, "B", "met", "not_met", "not_met")
    group_of(answered, "C", "not_met", "not_met", "not_met")
    ExpertGroupFactory(benchmark=answered, name="idle")
    return answered


def outcomes(benchmark: Benchmark, rater: str) -> list[int]:
    return resolve_rater(benchmark, rater).ratings().outcome.tolist()


def message(benchmark: Benchmark, rater: str) -> str:
    with pytest.raises(UnknownRater) as refused:
        resolve_rater(benchmark, rater)
    return str(refused.value)


@pytest.mark.slow
def test_two_groups_among_three_are_named(three: Benchmark) -> None:
    assert outcomes(three, "consensus:A+B") == [M, U, N]
    assert outcomes(three, "consensus:B+C") == [U, N, N]
    assert outcomes(three, "consensus: C + A ") == [U, U, N]
    # One rater, whichever of its groups comes first.
    assert resolve_rater(three, "consensus:C+A").label == "consensus:A+C"


@pytest.mark.slow
def test_without_names_it_is_of_the_two_groups_that_have_decisions(answered: Benchmark) -> None:
    group_of(answered, "A", "met", "met", "not_met")
    assert "Groups of this benchmark with decisions: 1. Choices: none." in message(answered, "consensus")
    group_of(answered, "B", "met", "not_met", "not_met")
    empty = ExpertGroupFactory(benchmark=answered, name="C", annotators=1)
    make_batch(empty)  # work that nobody has done is no decision
    assert (outcomes(answered, "consensus"), resolve_rater(answered, "consensus").label) == ([M, U, N], "consensus")
    assert outcomes(answered, "consensus:A+B") == [M, U, N]
    group_of(answered, "D", "met", "met", "met")
    error = message(answered, "consensus")
    assert "Groups of this benchmark with decisions: 3." in error
    assert "Choices: consensus:A+B, consensus:A+D, consensus:B+D." in error


@pytest.mark.slow
def test_what_names_no_two_groups_is_refused_with_those_there_are(three: Benchmark) -> None:
    for rater in ("consensus:A+X", "consensus:A", "consensus:A+B+C", "consensus:+"):
        error = message(three, rater)
        assert "does not name two expert groups" in error
        assert "Groups: A, B, C, idle." in error
    assert "two different groups" in message(three, "consensus:A+A")
    with pytest.raises(DomainError):
        check_judge_name("consensus:A+B")
    with pytest.raises(DomainError):
        check_judge_name("consensus:mine")


@pytest.mark.slow
def test_names_of_groups_may_hold_plus_signs_and_colons(answered: Benchmark) -> None:
    group_of(answered, "ICU+ER", "met", "met", "not_met")
    group_of(answered, "site: 2", "met", "not_met", "not_met")
    group_of(answered, "ward", "not_met", "not_met", "not_met")
    assert outcomes(answered, "consensus:ICU+ER+site: 2") == [M, U, N]
    assert outcomes(answered, "consensus:ward+ICU+ER") == [U, U, N]
    assert groups_of_consensus(answered, "consensus:ICU+ER+ward") == ["ICU+ER", "ward"]
    group_of(answered, "ER+ward", "met", "met", "met")
    group_of(answered, "ICU", "met", "met", "met")
    error = message(answered, "consensus:ICU+ER+ward")
    assert "can be read in several ways" in error
    assert "“ICU” and “ER+ward”; “ICU+ER” and “ward”" in error


@pytest.mark.slow
def test_a_consensus_and_groups_with_plus_signs_sit_in_a_jury(answered: Benchmark) -> None:
    group_of(answered, "A", "met", "met", "not_met")
    group_of(answered, "B+b", "met", "not_met", "not_met")
    group_of(answered, "C", "not_met", "not_met", "not_met")
    judged(answered, {PLACE: ["met", "met", "met"]}, "J")
    jury = resolve_rater(answered, "jury:consensus:A+B+b+J+group:B+b")
    assert jury.members == ("consensus:A+B+b", "J", "group:B+b@checked")
    # met thrice; undecided, met and not met: nobody prevails; not met, met, not met.
    assert jury.ratings().outcome.tolist() == [M, U, N]
    assert resolve_rater(answered, "jury:J+group:B+b@checked+group:A@unanimous").rule == "unanimous"


@pytest.mark.slow
def test_menus_and_the_api_offer_every_pair(three: Benchmark, client: Client) -> None:
    labels = {offer.rater: offer.label for offer in rater_choices(three) if offer.kind == "consensus"}
    assert labels == {
        "consensus:A+B": "Consensus of A and B",
        "consensus:A+C": "Consensus of A and C",
        "consensus:B+C": "Consensus of B and C",
    }
    client.force_login(BenchmarkRoleFactory(benchmark=three, role="admin").user)
    rows = client.get("/api/v1/benchmarks/answered/raters/").json()
    assert {row["rater"] for row in rows if row["kind"] == "consensus"} == set(labels)
    for row in rows:
        assert resolve_rater(three, row["rater"]).label


def test_it_has_words_in_pages_and_methods() -> None:
    with translation.override("en"):
        assert display_name("consensus:A+B") == "consensus of A + B"
        assert display_name("consensus") == "consensus of both groups"
        assert display_name("jury:consensus:A+B+J") == "jury of consensus of A + B, J"
    assert rater_in_words("consensus:A+B") == "the consensus of the expert groups A and B"


@pytest.mark.slow
def test_reports_and_exports_take_it(three: Benchmark, tmp_path: Path) -> None:
    judged(three, {PLACE: ["met", "met", "not_met"]}, "J")
    admin = BenchmarkRoleFactory(benchmark=three, role="admin").user
    given = {"rater_a": "consensus:B+A", "rater_b": "J"}
    report = create_report(benchmark=three, kind="agreement", parameters=given, seed=0, by=admin, at=timezone.now())
    run_report(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert (report.status, report.parameters["rater_a"]) == ("done", "consensus:A+B")
    client = Client()
    client.force_login(admin)
    page = client.get(f"/b/answered/agreement/{report.public_id}/").content.decode()
    assert "consensus of A + B" in page
    out = tmp_path / "d.jsonl"
    call_command("export_decisions", benchmark="answered", rater="consensus:A+C", out=out, stdout=StringIO())
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["rater"] for row in rows} == {"consensus:A+C"}
    scores: dict[str, Any] = {"benchmark": "answered", "k": 1, "stdout": StringIO()}
    call_command("scores", rater="consensus:B+C", out=tmp_path, **scores)
    with (tmp_path / "scores.csv").open() as file:
        assert {row["rater"] for row in csv.DictReader(file)} == {"consensus:B+C"}
    with pytest.raises(CommandError, match="Choices: consensus:A\\+B"):
        call_command("scores", rater="consensus", out=tmp_path, **scores)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)  # the record has the time of the transaction
def test_a_report_rests_on_the_two_groups_alone(three: Benchmark, client: Client) -> None:
    judged(three, {PLACE: ["met", "met", "not_met"]}, "J")
    admin = BenchmarkRoleFactory(benchmark=three, role="admin").user
    given = {"rater_a": "consensus:A+B", "rater_b": "J"}
    report = create_report(benchmark=three, kind="agreement", parameters=given, seed=0, by=admin, at=timezone.now())
    run_report(report_id=report.pk, clock=timezone.now)
    client.force_login(admin)
    address = f"/api/v1/benchmarks/answered/reports/{report.public_id}/freshness/"
    decide(three, "C", {PLACE: ["met", "met", "met"]})
    untouched = client.get(address).json()
    assert (untouched["fresh"], untouched["changes"]) == (True, [])
    decide(three, "B", {PLACE: ["not_met", "not_met", "not_met"]})
    stale = client.get(address).json()
    assert stale["fresh"] is False
    assert "decisions_added" in {change["what"] for change in stale["changes"]}


names = st.text("AB+: @", min_size=1, max_size=6).map(str.strip).filter(bool)


@pytest.mark.slow
@given(st.sets(names, min_size=2, max_size=6))
def test_every_pair_is_found_among_the_readings_of_its_name(groups: set[str]) -> None:
    first, second = sorted(groups)[:2]
    readings = _pairs_in(f"{first}+{second}", groups)
    assert (first, second) in readings
    assert all(pair[0] in groups and pair[1] in groups for pair in readings)
