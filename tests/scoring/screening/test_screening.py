"""Stage 1: scores by hand, nothing excluded by itself, a person's decision that can be undone until it is closed."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.test import Client

from rubrics.models import Benchmark, Candidate, Case
from scoring.models import JudgeRun, JudgeRunItem, ScreenedCase, Verdict
from scoring.screening.compute import aggregated
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    JudgeFactory,
    JudgeRunFactory,
    ResponseFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


def test_means_are_clipped_as_healthbench_does() -> None:
    scores = {"a": [1.0, 0.0], "b": [-0.7]}
    assert aggregated(scores, "mean") == (pytest.approx(0.1), {"a": 0.5, "b": 0.0})
    assert aggregated(scores, "max") == (0.5, {"a": 0.5, "b": 0.0})
    assert aggregated({"a": [-1.0], "b": [-0.5]}, "mean")[0] == 0.0


@pytest.fixture
def bench() -> Benchmark:
    """Four cases of two criteria (3 and 1 points), two models, and a judge that says met as ``SAID`` has it."""
    admin = UserFactory()
    benchmark: Benchmark = BenchmarkFactory(slug="bench", admin=admin)
    models = [CandidateFactory(benchmark=benchmark, name=name, kind=Candidate.Kind.MODEL) for name in ("m1", "m2")]
    run: JudgeRun = JudgeRunFactory(judge=JudgeFactory(benchmark=benchmark, name="strict"), status="finished")
    #       case: criteria met by m1, by m2; None: no response
    answers_by_case = {"easy": ("mm", "mn"), "edge": ("mm", "nn"), "hard": ("nm", "nn"), "alone": ("mm", None)}
    for key, answers in answers_by_case.items():
        case = CaseFactory(benchmark=benchmark, key=key, rubric=[3, 1])
        rubric = case.rubrics.get()
        for model, answer in zip(models, answers, strict=True):
            if answer is None:
                continue
            response = ResponseFactory(case=case, candidate=model)
            JudgeRunItem.objects.create(run=run, response=response, rubric=rubric)
            for item, letter in zip(rubric.items.order_by("position"), answer, strict=True):
                outcome = {"m": "met", "n": "not_met"}[letter]
                Verdict.objects.create(
                    run=run, response=response, criterion=item.criterion, outcome=outcome, created_at=run.created_at
                )
    return benchmark


@pytest.fixture
def client(bench: Benchmark) -> Client:
    client = Client()
    client.force_login(bench.roles.get().user)
    return client


ASKED = {"title": "One", "rater": "strict", "candidates": ["m1", "m2"], "threshold": "0.5", "aggregate": "mean"}


def begin(client: Client) -> str:
    answered = client.post("/b/bench/screening/new/", {**ASKED, "at_least": "2"})
    assert answered.status_code == 302, answered.content.decode()
    return str(answered["Location"])


@pytest.mark.slow
def test_a_screening_flags_and_a_person_decides(client: Client, bench: Benchmark) -> None:
    place = begin(client)
    rows = {row.case.key: row for row in ScreenedCase.objects.select_related("case")}
    # easy: (4/4 + 3/4) / 2; edge: (4/4 + 0) / 2, at the threshold; hard: (1/4 + 0) / 2; alone: one of two needed
    assert {key: row.score for key, row in rows.items()} == {"easy": 0.875, "edge": 0.5, "hard": 0.125, "alone": None}
    assert {key for key, row in rows.items() if row.flagged} == {"easy", "edge"}
    assert rows["alone"].note == "1 of the 2 candidates needed have a score"
    assert rows["easy"].scores == {"m1": 1.0, "m2": 0.75}
    assert Case.objects.included().count() == 4

    def send(case: str, decision: str, reason: str = "", **headers: str) -> int:
        data = {"case": rows[case].case.public_id, "decision": decision, "reason": reason}
        return client.post(f"{place}decide/", data, headers=headers).status_code

    send("easy", "exclude")  # a reason is asked
    assert Case.objects.included().count() == 4
    assert send("easy", "exclude", "every model solves it", **{"HX-Request": "true"}) == 200
    left_out = Case.objects.get(key="easy")
    assert (left_out.exclusion, left_out.exclusion_reason) == ("screening", "every model solves it")
    send("easy", "keep")  # decided by now
    send("edge", "keep", "a classic that must stay")
    table = b"".join(client.get(f"{place}cases.csv").streaming_content).decode()
    rows_by_case = {row["case"]: row for row in csv.DictReader(io.StringIO(table))}
    assert (rows_by_case["easy"]["decision"], rows_by_case["easy"]["reason"]) == ("exclude", "every model solves it")
    assert (rows_by_case["edge"]["decision"], rows_by_case["hard"]["decision"]) == ("keep", "")
    assert rows_by_case["easy"]["score:m2"] == "0.75" and rows_by_case["alone"]["score"] == ""

    send("easy", "undo")
    assert Case.objects.included().count() == 4
    send("easy", "exclude", "after all")
    client.post(f"{place}close/")
    send("easy", "undo")
    assert Case.objects.get(key="easy").exclusion == "screening"
    page = client.get(f"{place}?show=all").content.decode()
    assert "after all" in page and 'value="undo"' not in page
    listed = " ".join(client.get("/b/bench/screening/").content.decode().split())
    assert re.search(r"scored by [^<,]+, 2 candidates; flagged from a score of 0\.50", listed)
    # A new screening no longer offers the case.
    begin(client)
    assert ScreenedCase.objects.filter(screening__status="open").count() == 3


@pytest.mark.slow
def test_several_are_decided_on_together_or_not_at_all(client: Client, bench: Benchmark) -> None:
    place = begin(client)
    ids = {row.case.key: row.case.public_id for row in ScreenedCase.objects.select_related("case")}
    client.post(f"{place}decide/", {"case": ids["edge"], "decision": "keep"})
    client.post(f"{place}decide/", {"case": [ids["easy"], ids["edge"]], "decision": "exclude", "reason": "easy"})
    assert Case.objects.included().count() == 4
    client.post(f"{place}decide/", {"case": [ids["easy"], ids["hard"]], "decision": "exclude", "reason": "easy"})
    assert set(Case.objects.included().values_list("key", flat=True)) == {"edge", "alone"}


@pytest.mark.slow
def test_refusals_say_what_is_missing_and_the_api_does_the_same(client: Client, bench: Benchmark) -> None:
    refused = client.post("/b/bench/screening/new/", {**ASKED, "candidates": ["m1"], "at_least": "2"})
    assert refused.status_code == 422
    assert "Choose at least 2 candidates" in refused.content.decode()
    url = "/api/v1/benchmarks/bench/screenings/"
    payload = {"title": "By program", "rater": "strict", "candidates": ["m1", "m2"], "aggregate": "max"}
    assert client.post(url, {**payload, "status": "closed"}, content_type="application/json").status_code == 400
    screening = client.post(url, payload, content_type="application/json").json()
    assert (screening["screened"], screening["flagged"], screening["undecided"], screening["undefined"]) == (3, 2, 2, 1)
    shown = client.get(f"{url}{screening['id']}/cases/?show=flagged").json()["results"]
    assert [row["key"] for row in shown] == ["easy", "edge"]
    decided = {"cases": [shown[0]["case"]], "decision": "exclude"}
    refused = client.post(f"{url}{screening['id']}/decisions/", decided, content_type="application/json")
    assert refused.status_code == 422
    client.post(f"{url}{screening['id']}/decisions/", {**decided, "reason": "x"}, content_type="application/json")
    assert client.post(f"{url}{screening['id']}/close/").json()["excluded"] == 1


@pytest.mark.slow
def test_without_a_score_the_page_leads_to_a_judge(client: Client, bench: Benchmark) -> None:
    # A run that is not finished is no rater.
    JudgeRun.objects.update(status="cancelled")
    assert "Start a judge run" in client.get("/b/bench/screening/").content.decode()
