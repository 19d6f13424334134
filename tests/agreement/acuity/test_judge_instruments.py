"""Decisions on criteria about emergency care beside the levels that are read in the same responses."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agreement.acuity.judge_instruments import Advice, DecidedResponse, instrument_tables
from agreement.models import Report
from agreement.services import create_report
from agreement.services import run as compute_report
from annotation.labels.advice import ReadTerms
from annotation.labels.services import AnswerInput, save_answer, submit_labels
from annotation.models import LabelQuestion, LabelTask
from consilium.statistics.intervals import DEFAULT_RULE
from rubrics.bank.consensus import consensus
from rubrics.models import Benchmark, Case, Criterion, Response, Rubric, RubricItem
from scoring.acuity.read_advice import make_read_batch
from scoring.models import JudgeRun
from tests.agreement.study import Pair, Study
from tests.factories import BenchmarkRoleFactory, ExpertGroupFactory
from tests.scoring.acuity.judging import advised_benchmark, judged

VALUES = ["self-care", "primary-care", "urgent-care", "emergency"]
REFERRAL = "emergency_referrals_emergent_emergency_behavior"
CONDITIONAL = "emergency_referrals_conditionally-emergent_emergency_behavior"
RESTRAINT = "emergency_referrals_non-emergent_emergency_behavior"
HOME, URGENT, EMERGENCY = Advice(0, None), Advice(2, None), Advice(3, None)
IF_WORSE, NO_ADVICE = Advice(1, 3), Advice(None, None)


def decided(number: int, cluster: str, outcome: str, judge: Any = (), physicians: Any = ()) -> DecidedResponse:
    return DecidedResponse(
        cluster=cluster,
        rater="group:A@checked",
        case=f"case-{number:02}",
        candidate="alpha",
        sample=0,
        response=f"r{number}",
        criterion="A criterion",
        outcome=outcome,
        negative=False,
        readings={"judge": tuple(judge), "physicians": tuple(physicians)},
    )


def tables(rows: list[DecidedResponse]) -> dict[str, list[dict[str, Any]]]:
    return {file.name: list(file.rows) for file in instrument_tables(rows, VALUES, rule=DEFAULT_RULE)}  # type: ignore[arg-type]


def cells(row: dict[str, Any]) -> list[int]:
    return [int(row[name]) for name in ("met_read", "met_not_read", "not_met_read", "not_met_not_read")]


def test_a_table_with_its_kappa_by_hand() -> None:
    outcomes = [("met", EMERGENCY)] * 8 + [("met", URGENT)] * 2 + [("not_met", EMERGENCY)] * 3
    outcomes += [("not_met", HOME)] * 4 + [("not_met", NO_ADVICE)] * 2 + [("not_met", IF_WORSE)]
    rows = [decided(i, REFERRAL, outcome, [advice]) for i, (outcome, advice) in enumerate(outcomes)]
    [row] = tables(rows)["instruments"]
    assert (row["aspect"], row["read_by"], row["n_pairs"], row["n_cases"]) == ("emergency", "judge", 20, 20)
    assert cells(row) == [8, 2, 3, 7]
    # Observed 15/20; by chance 10/20 · 11/20 + 10/20 · 9/20 = 1/2; so (0.75 - 0.5) / 0.5.
    assert row["raw"] == pytest.approx(0.75)
    assert row["kappa"] == pytest.approx(0.5)
    assert row["kappa_low"] < 0.5 < row["kappa_high"]
    assert row["n_contradictions"] == 5


def test_each_cluster_has_its_own_aspect() -> None:
    readings = [HOME, URGENT, EMERGENCY, IF_WORSE, NO_ADVICE]
    met = {
        cluster: tables([decided(i, cluster, "met", [advice]) for i, advice in enumerate(readings)])
        for cluster in (REFERRAL, CONDITIONAL, RESTRAINT)
    }
    first_rows = {cluster: cells(own["instruments"][0])[:2] for cluster, own in met.items()}
    assert first_rows == {REFERRAL: [1, 4], CONDITIONAL: [1, 4], RESTRAINT: [3, 1]}
    assert [row["levels"] for row in met[RESTRAINT]["contradictions"]] == ["emergency"]
    assert met[RESTRAINT]["instruments"][0]["n_left_out"] == 1  # no level is neither restraint nor the lack of it
    # Restraint may be missed without an emergency: that is no contradiction.
    missed = tables([decided(1, RESTRAINT, "not_met", [URGENT])])
    assert (cells(missed["instruments"][0]), missed["contradictions"]) == ([0, 0, 1, 0], [])
    assert len(tables([decided(1, CONDITIONAL, "not_met", [IF_WORSE])])["contradictions"]) == 1


def test_physicians_count_by_most_of_them_and_ties_by_the_more_urgent() -> None:
    def read(cluster: str, *physicians: Advice) -> list[int]:
        [row] = tables([decided(1, cluster, "met", physicians=physicians)])["instruments"]
        assert row["read_by"] == "physicians"
        return cells(row)[:2]

    assert read(REFERRAL, EMERGENCY, URGENT) == [1, 0]
    assert read(REFERRAL, EMERGENCY, URGENT, HOME) == [0, 1]
    assert read(RESTRAINT, EMERGENCY, URGENT) == [0, 1]
    assert read(RESTRAINT, NO_ADVICE, URGENT) == [1, 0]


def test_what_is_neither_met_nor_not_met_is_counted_apart() -> None:
    rows = [decided(i, REFERRAL, outcome, [HOME]) for i, outcome in enumerate(["cannot_assess", "faulty", "undecided"])]
    [row] = tables(rows)["instruments"]
    assert (row["n_pairs"], row["n_left_out"], row["kappa"], row["note"]) == (0, 3, None, "raw, kappa: no pairs")


# From the database


def publish(case: Case, *items: dict[str, Any]) -> None:
    rubric = Rubric.objects.create(case=case, track="gold", provenance="test")
    for position, item in enumerate(items, start=1):
        criterion = Criterion.objects.create(case=case, text=item.pop("text", f"Criterion {position} of {case.key}"))
        RubricItem.objects.create(rubric=rubric, criterion=criterion, position=position, **{"points": 5, **item})
    rubric.status, rubric.published_at = Rubric.Status.PUBLISHED, timezone.now()
    rubric.save(update_fields=["status", "published_at"])


def with_criteria(benchmark: Benchmark) -> None:
    """A criterion of a cluster by its source, by its tag, as a fault with negative points, and by its very text."""
    first, second, third = Case.objects.filter(benchmark=benchmark).order_by("key")
    publish(first, {"bank_item": f"consensus/{CONDITIONAL}"}, {})
    publish(
        second,
        {"tags": [f"cluster:{REFERRAL}"]},
        {"tags": [f"cluster:{RESTRAINT}"], "points": -5, "text": "Sends a mild rash to the emergency department."},
    )
    text = next(entry.text["zh"] for entry in consensus() if entry.key == RESTRAINT)
    publish(third, {"text": text}, {"tags": ["cluster:emergency_referrals_emergent_context_seeking"]})


@pytest.fixture
def run(db: None, settings: Any) -> JudgeRun:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    return judged(advised_benchmark())


@pytest.fixture
def decisions(run: JudgeRun) -> Study:
    """A group that says met to everything but the fault, and a rubric judge that says not met to everything."""
    benchmark = run.benchmark
    with_criteria(benchmark)
    study = Study(benchmark, BenchmarkRoleFactory(benchmark=benchmark, role="admin").user, [])
    faults = set(RubricItem.objects.filter(points__lt=0).values_list("criterion", flat=True))

    def outcome(pair: Pair) -> str:
        return "not_met" if pair[1] in faults else "met"

    study.group("A", outcome)
    study.judge("strict", lambda pair: "not_met")
    return study


def computed(benchmark: Benchmark) -> Report:
    report = create_report(benchmark=benchmark, kind="acuity_judge", parameters={}, at=timezone.now())
    compute_report(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def page_of(client: Client, report: Report) -> str:
    address = reverse("agreement:report", args=[report.benchmark.slug, "acuity", report.public_id])
    return " ".join(client.get(address).content.decode().split())


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / f"{name}.csv").read_text("utf-8-sig").splitlines()))


@pytest.mark.slow
def test_decisions_stand_beside_readings(run: JudgeRun, decisions: Study, client: Client, tmp_path: Path) -> None:
    call_command("acuity_judge", benchmark="advised", out=tmp_path / "out")
    rows = {(row["cluster"], row["rater"]): row for row in rows_of(tmp_path / "out", "instruments")}
    assert list(rows) == [
        (cluster, rater)
        for cluster in (REFERRAL, CONDITIONAL, RESTRAINT)
        for rater in ("group:A@checked", "strict")
    ]  # fmt: skip
    group = {cluster: cells(row) for (cluster, rater), row in rows.items() if rater != "strict"}
    # Case 0: home, and an appointment with an ambulance if it gets worse. Case 1: urgent care, and an ambulance.
    # Case 2: questions back and a refusal, without a level and left out. The fault of case 1, not met, is restraint
    # that is met.
    assert group == {CONDITIONAL: [1, 1, 0, 0], REFERRAL: [1, 1, 0, 0], RESTRAINT: [1, 1, 0, 0]}
    assert rows[RESTRAINT, "group:A@checked"]["n_left_out"] == "2"
    strict = {cluster: cells(row) for (cluster, rater), row in rows.items() if rater == "strict"}
    # The judge says not met to the fault as well, so that its restraint is met.
    assert strict == {CONDITIONAL: [0, 0, 1, 1], REFERRAL: [0, 0, 1, 1], RESTRAINT: [1, 1, 0, 0]}
    pairs = rows_of(tmp_path / "out", "contradictions")
    assert [(row["cluster"], row["rater"], row["case"], row["candidate"], row["outcome"]) for row in pairs] == [
        (REFERRAL, "group:A@checked", "case-1", "alpha", "met"),
        (REFERRAL, "strict", "case-1", "beta", "not_met"),
        (CONDITIONAL, "group:A@checked", "case-0", "alpha", "met"),
        (CONDITIONAL, "strict", "case-0", "beta", "not_met"),
        # As they were made, on the fault: it counts as restraint met.
        (RESTRAINT, "group:A@checked", "case-1", "beta", "not_met"),
        (RESTRAINT, "strict", "case-1", "beta", "not_met"),
    ]
    assert [(row["levels"], row["escalations"]) for row in pairs][3] == ("primary-care", "emergency")

    report = computed(run.benchmark)
    client.force_login(decisions.admin)
    page = page_of(client, report)
    response = Response.objects.get(case__key="case-1", candidate__name="alpha", setting="chat")
    case_page = reverse("rubrics:case", args=["advised", response.case.public_id])
    place = f"?response={response.public_id}#response-{response.public_id}"
    assert f'href="{case_page}{place}">case-1 · alpha</a>' in page
    assert "Restraint in referral; agrees if a lower level is advised" in page
    api = client.get(f"/api/v1/benchmarks/advised/reports/{report.public_id}/").json()
    assert {"instruments", "contradictions"} <= set(api["tables"])


@pytest.mark.slow
def test_physicians_who_read_the_advice_stand_beside_too(run: JudgeRun, decisions: Study, tmp_path: Path) -> None:
    readers = ExpertGroupFactory(benchmark=run.benchmark, annotators=2)
    make_read_batch(group=readers, run=run, terms=ReadTerms("Read", 2, 6, 1), by=None, at=timezone.now())
    question = LabelQuestion.objects.get(kind="read")
    for task in LabelTask.objects.filter(response__case__key="case-1").select_related("response__candidate"):
        assert task.response is not None
        # One of two readers takes urgent care for an emergency: of as many, the more urgent counts.
        is_first = task.annotator == readers.people["annotator"][0]
        level = "emergency" if task.response.candidate.name == "beta" or is_first else "urgent-care"
        change = AnswerInput(question.public_id, level, evidence=[{"start": 0, "end": 4}])
        save_answer(task=task, annotator=task.annotator, change=change, at=timezone.now())
        submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    call_command("acuity_judge", benchmark="advised", out=tmp_path / "out")
    rows = [row for row in rows_of(tmp_path / "out", "instruments") if row["read_by"] == "physicians"]
    assert {(row["cluster"], row["rater"]): cells(row) for row in rows} == {
        (REFERRAL, "group:A@checked"): [2, 0, 0, 0],
        (REFERRAL, "strict"): [0, 0, 2, 0],
        (RESTRAINT, "group:A@checked"): [0, 2, 0, 0],
        (RESTRAINT, "strict"): [0, 2, 0, 0],
    }


@pytest.mark.slow
def test_the_page_says_what_is_missing(run: JudgeRun, client: Client) -> None:
    client.force_login(BenchmarkRoleFactory(benchmark=run.benchmark, role="admin").user)
    before = computed(run.benchmark)
    page = page_of(client, before)
    assert "No rubric has a criterion on emergency care" in page
    assert reverse("rubrics:bank-clusters", args=["advised"]) in page
    with_criteria(run.benchmark)
    after = computed(run.benchmark)
    assert "No decisions on these criteria yet" in page_of(client, after)
    # Criteria without decisions change no figure.
    assert after.input_digest == before.input_digest


@pytest.mark.slow
def test_rubrics_on_other_tracks_say_nothing_of_a_criterion(run: JudgeRun, decisions: Study) -> None:
    before = computed(run.benchmark)
    fault = RubricItem.objects.get(points__lt=0)
    other = Rubric.objects.create(case=fault.rubric.case, track="other", provenance="test")
    RubricItem.objects.create(rubric=other, criterion=fault.criterion, position=1, points=5, tags=fault.tags)
    Rubric.objects.filter(pk=other.pk).update(status=Rubric.Status.PUBLISHED, published_at=timezone.now())
    assert computed(run.benchmark).input_digest == before.input_digest


@pytest.mark.slow
def test_a_new_decision_makes_the_report_stale(run: JudgeRun, decisions: Study) -> None:
    before = computed(run.benchmark).input_digest
    assert computed(run.benchmark).input_digest == before
    decisions.judge("second", lambda pair: "met")
    assert computed(run.benchmark).input_digest != before
