"""Plans of studies of acuity: imported, signed once, exported, and whether reports keep to the one in force."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from agreement.acuity.measures import KEYS
from agreement.models import AcuityPlan
from agreement.planning.acuity_plan import WrongPlan, content_of, plan_digest, plan_of, read_plan
from agreement.planning.services import import_plan, sign_plan
from rubrics.models import AcuityScale, Benchmark, Candidate, Response
from scoring.models import GeneratedResponse, JudgeRun, PipelineRun, PipelineStep
from tests.agreement.acuity.stored import reported
from tests.agreement.acuity.test_acuity_of_judges import finished, judge_of, methods_of, page_of, run_of
from tests.agreement.acuity.test_acuity_of_runs import asking_run, reading
from tests.agreement.acuity.test_acuity_of_runs import run_of as choices_of
from tests.factories import CandidateFactory, ResponseFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

PLAN: dict[str, Any] = {
    "levels": ["SELF_CARE", "PRIMARY_CARE", "URGENT_CARE", "EMERGENCY"],
    "formats": ["qa"],
    "measures": ["cost_all", "under"],
    "penalties": {"r": 5, "gamma": 1},
    "ambiguous": {"rule": "dispersion", "threshold": 0.75},
}


def plan_with(**values: Any) -> dict[str, Any]:
    return {**PLAN, **values}


def signed(benchmark: Benchmark, **values: Any) -> AcuityPlan:
    plan, _created = import_plan(benchmark=benchmark, plan=plan_of(plan_with(**values)), by=None, at=timezone.now())
    return sign_plan(plan=plan, by=None, at=timezone.now())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"levels": ["SELF_CARE", "self-care"]}, "levels: Each level must have a different name."),
        ({"levels": "SELF_CARE"}, "levels: "),
        ({"levels": ["ONE"]}, "levels: "),
        ({"order": "up"}, "order: "),
        ({"formats": ["qa", "voice"]}, "formats.1: "),
        ({"measures": ["kappa"]}, "measures: There is no measure kappa. Available: accuracy, "),
        ({"penalties": {"r": 0}}, "penalties.r: "),
        ({"penalties": {"r": "5"}}, "penalties.r: "),
        ({"penalties": {"gamma": 1}}, "penalties.r: Field required"),
        ({"penalties": {"r": 5, "gamma": 11}}, "penalties.gamma: "),
        ({"ambiguous": {"rule": "mood"}}, "ambiguous.rule: "),
        ({"ambiguous": {"rule": "majority", "threshold": 2}}, "ambiguous: The threshold must be at most 1."),
        ({"judge": 7}, "judge: "),
        ({"jugde": "x"}, "jugde: "),
    ],
)
def test_what_is_wrong_is_named_by_its_field(values: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongPlan) as refused:
        plan_of(plan_with(**values))
    assert str(refused.value).startswith(message), refused.value


def test_what_is_no_json_is_refused() -> None:
    for content in (b"{", b"[]", b'{"levels": NaN}', b"\xff", b"x" * 200_000):
        with pytest.raises(WrongPlan):
            read_plan(content)


@given(
    st.permutations(["SELF_CARE", "primary care", "Urgent-Care", "emergency"]),
    st.sampled_from(["lowest-first", "highest-first"]),
    st.lists(st.sampled_from(KEYS), min_size=1),
    st.floats(0.1, 1000),
    st.floats(0, 10),
)
def test_a_plan_comes_back_from_its_file(
    levels: list[str], order: str, measures: list[str], r: float, g: float
) -> None:
    values = plan_with(levels=levels, order=order, measures=measures, penalties={"r": r, "gamma": g})
    plan = plan_of(values)
    again = read_plan(json.dumps(content_of(plan)))
    assert again == plan and plan_digest(content_of(again)) == plan_digest(content_of(plan))
    assert {*plan.ascending} == {"self-care", "primary-care", "urgent-care", "emergency"}
    assert (plan.ascending == tuple(plan.levels)) is (order == "lowest-first")


def test_a_plan_is_signed_once_and_never_changes(benchmark: Benchmark, client: Client, tmp_path: Path) -> None:
    page = f"/b/{benchmark.slug}/planning/acuity/"
    assert "No plan yet" in client.get(page).content.decode()
    wrong = SimpleUploadedFile("acuity_plan.json", json.dumps(plan_with(penalties={"r": -1})).encode())
    refused = client.post(page, {"file": wrong})
    assert (refused.status_code, "penalties.r: " in refused.content.decode()) == (422, True)
    for _time in range(2):  # the same file again is the same plan
        file = SimpleUploadedFile("acuity_plan.json", json.dumps(PLAN).encode())
        assert client.post(page, {"file": file}).status_code == 302
    plan = AcuityPlan.objects.get(benchmark=benchmark)
    assert (plan.number, plan.signed_at, plan.scale.name) == (1, None, "four")
    assert client.post(f"{page}1/sign").status_code == 302
    assert client.post(f"{page}1/sign").status_code == 409
    plan.refresh_from_db()
    assert plan.signed_at is not None and plan.signed_by is not None
    for change in ({"signed_as": "Somebody"}, {"content": {}}):
        with pytest.raises(DatabaseError), transaction.atomic():
            AcuityPlan.objects.filter(pk=plan.pk).update(**change)
    with pytest.raises(DatabaseError), transaction.atomic():
        plan.delete()

    exported = client.get(f"{page}1.json")
    assert plan_digest(json.loads(exported.content)) == plan.digest
    path = tmp_path / "plan.json"
    path.write_bytes(exported.content)
    call_command("acuity_plan", str(path), benchmark=benchmark.slug)
    assert AcuityPlan.objects.filter(benchmark=benchmark).count() == 1

    api = f"/api/v1/benchmarks/{benchmark.slug}/acuity/plans/"
    answer = client.post(api, plan_with(penalties={"r": 3}), content_type="application/json")
    assert (answer.status_code, answer.json()["number"], answer.json()["signed_at"]) == (201, 2, None)
    answer = client.post(api, plan_with(order="up"), content_type="application/json")
    assert (answer.status_code, answer.json()["detail"].startswith("order: ")) == (422, True)
    assert client.post(f"{api}1/sign/").status_code == 409
    assert client.post(f"{api}2/sign/").json()["signed_by"]
    assert [row["number"] for row in client.get(api).json()] == [2, 1]
    assert client.get(f"{api}2/").json()["content"]["penalties"] == {"r": 3.0, "gamma": 1.0}


def test_the_command_signs_and_names_the_field(benchmark: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan_with(levels=["LOW", "HIGH"])))
    with pytest.raises(CommandError, match=r"plan.json: levels: no scale of this benchmark .*: low, high"):
        call_command("acuity_plan", str(path), benchmark=benchmark.slug)
    path.write_text(json.dumps(plan_with(levels=PLAN["levels"][::-1], order="highest-first")))
    user = UserFactory(email="signer@example.org")
    call_command("acuity_plan", str(path), benchmark=benchmark.slug, sign=True, by="signer@example.org")
    plan = AcuityPlan.objects.get(benchmark=benchmark)
    assert (plan.signed_by, plan.scale.name, plan.content["order"]) == (user, "four", "highest-first")
    with pytest.raises(CommandError, match="has already been signed"):
        call_command("acuity_plan", str(path), benchmark=benchmark.slug, sign=True)


def test_a_report_says_whether_it_keeps_to_the_plan(scale: AcuityScale, benchmark: Benchmark, client: Client) -> None:
    assert "plan" not in reported(benchmark).result["facts"]
    signed(benchmark)
    kept = reported(benchmark)
    facts = kept.result["facts"]["plan"]
    # Readings of files have no run that could begin.
    assert (facts["number"], facts["differs"], facts["before_runs"]) == (1, [], None)
    assert "This report follows the plan." in page_of(client, kept)
    assert any("this report keeps to it" in text for text in methods_of(client, kept))
    assert kept.input_digest == reported(benchmark).input_digest

    other = reported(benchmark, ratio=3, gamma=0.5)
    differs = [(row["field"], row["plan"], row["report"]) for row in other.result["facts"]["plan"]["differs"]]
    assert differs == [("penalties.r", "5", "3"), ("penalties.gamma", "1", "0.5")]
    assert "penalties.r: 5 in the plan, 3 here" in page_of(client, other)
    assert any("departs from it (penalties.r: 5, here 3; " in text for text in methods_of(client, other))


def test_runs_and_judges_are_held_against_the_plan(scale: AcuityScale, benchmark: Benchmark, client: Client) -> None:
    signed(benchmark, formats=["qa", "chat"], judge="levels", ambiguous={"rule": "entropy", "threshold": 0.7})
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    choices_of(scale, candidate, {("c00", 0): reading(0)})
    run_of(judge_of(scale, "levels"), candidate, [i % 4 for i in range(12)], finished_at=timezone.now())
    plan = reported(benchmark).result["facts"]["plan"]
    assert plan["before_runs"] is True
    assert plan["differs"] == [{"field": "ambiguous", "plan": "entropy:0.7", "report": "dispersion:0.75"}]

    run_of(judge_of(scale, "another"), candidate, [0] * 12, finished_at=timezone.now() + timedelta(minutes=1))
    fields = [row["field"] for row in reported(benchmark).result["facts"]["plan"]["differs"]]
    assert fields == ["ambiguous", "judge"]
    signed(benchmark, formats=["qa"], judge="another")
    late = reported(benchmark)
    plan = late.result["facts"]["plan"]
    assert (plan["number"], plan["before_runs"]) == (2, False)
    assert plan["differs"] == [{"field": "formats", "plan": "qa", "report": "qa, chat"}]
    assert "Runs used in this report began before the plan was signed." in page_of(client, late)
    for kind in ("acuity_formats", "acuity_judge"):
        report = finished(benchmark, kind)
        assert report.result["facts"]["plan"]["number"] == 2
        assert "Plan 2 of the study was signed on" in page_of(client, report)


def test_a_run_that_generated_what_a_judge_read_is_behind_the_report(scale: AcuityScale, benchmark: Benchmark) -> None:
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    generating = asking_run(scale, candidate, "responses")
    unread = asking_run(scale, CandidateFactory(benchmark=benchmark, name="Q"), "responses")
    signed(benchmark, formats=["qa", "chat"], judge="levels")
    run = run_of(judge_of(scale, "levels"), candidate, [i % 4 for i in range(12)], finished_at=timezone.now())
    JudgeRun.objects.filter(pk=run.pk).update(created_at=timezone.now())
    # No response of a run that was generated before is behind it yet.
    assert reported(benchmark).result["facts"]["plan"]["before_runs"] is True
    assert finished(benchmark, "acuity_judge").result["facts"]["plan"]["before_runs"] is True
    case = run.items.order_by("pk")[0].response.case
    generated(unread, ResponseFactory(case=case, candidate=unread.candidate, setting="chat"))
    assert reported(benchmark).result["facts"]["plan"]["before_runs"] is True
    generated(generating, run.items.order_by("pk")[0].response)
    assert reported(benchmark).result["facts"]["plan"]["before_runs"] is False
    assert finished(benchmark, "acuity_judge").result["facts"]["plan"]["before_runs"] is False


def generated(run: PipelineRun, response: Response) -> None:
    step = PipelineStep.objects.create(run=run, case=response.case, stage="response", state="done", output={})
    GeneratedResponse.objects.create(step=step, response=response)


def test_a_plan_on_another_scale_is_of_no_concern(scale: AcuityScale, benchmark: Benchmark) -> None:
    signed(benchmark, levels=["SELF_CARE", "NON_EMERGENCY", "EMERGENCY"])
    assert Candidate.objects.filter(benchmark=benchmark).exists()
    assert "plan" not in reported(benchmark).result["facts"]
