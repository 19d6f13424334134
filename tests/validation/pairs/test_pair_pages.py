"""Pages and API of pairs, of their queue and of runs on them, as those who may use them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from agreement import services as report_services
from agreement.models import Report
from agreement.reports.stored import table_of
from rubrics.models import ImportJob
from tests.scoring.conftest import Loopback
from tests.validation.pairs.pair_world import NINE, PairWorld, make_world, scripted, work, worked_example
from validation.models import MakingRun, NearMissPair, PairJudgement, TrialRun

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def file_of(answer: Any) -> str:
    """The content of a file that is sent in pieces."""
    return b"".join(answer.streaming_content).decode()


@pytest.fixture
def world(db: None) -> PairWorld:
    pairs = [scripted("P1 5-3w | 5-3w"), scripted("P2 4-4s | 4-4s", "unit")]
    return make_world(
        "ward", pairs, {"A": {pair["case"]: NINE for pair in pairs}}, reference_answer="Take 5 mg once a day."
    )


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(f"/b/ward/{path}")
    assert answer.status_code == status, path
    return answer.content.decode()


def test_the_list_and_a_pair(world: PairWorld) -> None:
    client = signed_in(world.admin)
    text = page(client, "pairs/")
    assert "P1" in text and "“once” → “slip”" in text
    assert "P1" not in page(client, "pairs/?kind=unit").partition("</form>")[2]
    assert "No pairs match these filters" in page(client, "pairs/?status=dangerous")
    own = page(client, f"pairs/{world.pair('P1').public_id}/")
    marked = re.findall(r'<mark\s+class="pair-mark"\s*>([^<]*)</mark>', own)
    assert "once" in marked and "slip" in marked
    assert "No one has judged this pair yet" in own
    world.judge("P1")
    assert str(world.physicians[0]) in page(client, f"pairs/{world.pair('P1').public_id}/")


def test_a_pair_by_hand_and_a_file(world: PairWorld) -> None:
    client = signed_in(world.admin)
    page(client, "pairs/new/")
    form = {"case": "P1", "find": "5 mg", "replace": "50 mg", "kind": "dose", "group": "Doses", "judgements": "1"}
    wrong = client.post("/b/ward/pairs/new/", {**form, "find": "6 mg"})
    assert wrong.status_code == 422
    assert "does not contain these words" in wrong.content.decode()
    saved = client.post("/b/ward/pairs/new/", form)
    assert saved.status_code == 302
    pair = NearMissPair.objects.get(origin="hand")
    assert (pair.candidate, pair.created_by) == ("Take 50 mg once a day.", world.admin)
    page(client, "pairs/import/")
    file = SimpleUploadedFile("pairs.jsonl", json.dumps({**scripted("P3 1-0w | 1-0w"), "case": "P1"}).encode())
    answer = client.post("/b/ward/pairs/import/", {"file": file, "group": "More", "judgements": "2"})
    job = ImportJob.objects.get(kind="pairs")
    assert answer["Location"].endswith(f"/imports/{job.public_id}/")
    assert job.options == {"group": "More", "judgements": "2"}


def test_a_physician_judges_and_sees_nothing_else(world: PairWorld) -> None:
    physician = world.physicians[0]
    client = signed_in(physician)
    assert "Pairs of texts to compare" in client.get("/").content.decode()
    first = client.get("/b/ward/pairs/judge/")
    assert first.status_code == 302
    text = client.get(first["Location"]).content.decode()
    assert "slip" in text
    for hidden in ("Doses", "File", "Too much.", "Dose<"):
        assert hidden not in text, hidden
    unanswered = client.post(first["Location"], {"single": "yes"})
    assert unanswered.status_code == 422
    # No error and harm contradict each other, unless there are several errors.
    contradiction = {"single": "no", "harm": "dangerous", "flaw": "no"}
    refused = client.post(first["Location"], contradiction)
    assert refused.status_code == 422 and "tick that. If it makes none, choose “None”" in refused.content.decode()
    both = client.post(first["Location"], {**contradiction, "single": "yes", "several": "on"})
    assert both.status_code == 422 and not PairJudgement.objects.exists()
    assert client.post(first["Location"], {**contradiction, "several": "on"}).status_code == 302
    assert PairJudgement.objects.get().is_single is False
    kept = client.get(first["Location"]).content.decode()
    assert re.search(r'name="several"[^>]*checked', kept)
    answer = client.post(first["Location"], {"single": "yes", "harm": "dangerous", "flaw": "no", "note": "Sure."})
    assert answer["Location"].endswith("/pairs/judge/")
    judged = PairJudgement.objects.get()
    assert (judged.physician, judged.grade, judged.note) == (physician, "dangerous", "Sure.")
    second = client.get("/b/ward/pairs/judge/")["Location"]
    assert second != first["Location"]
    client.post(second, {"single": "no", "harm": "none", "flaw": "no"})
    assert "You have judged 2 pairs" in page(client, "pairs/judge/")
    # One's own judgement can be looked at and changed.
    again = client.get(first["Location"])
    assert again.status_code == 200 and 'value="dangerous"' in again.content.decode()
    # Others find nothing, and staff alone cannot judge.
    assert "Nothing to do" in page(signed_in(world.physicians[1]), "pairs/judge/")
    assert signed_in(world.admin).get(first["Location"]).status_code == 404
    assert signed_in(world.physicians[1]).get(first["Location"]).status_code == 404
    assert signed_in(physician).get("/b/ward/pairs/").status_code == 404


def test_the_api_judges_likewise(world: PairWorld) -> None:
    client = signed_in(world.physicians[0])
    own = client.post("/api/v1/benchmarks/ward/pairs-to-judge/next/").json()
    assert own["waiting"] == 2
    assert set(own["pair"]) == {"id", "case_id", "first", "second", "start", "first_end", "second_end"}
    url = f"/api/v1/benchmarks/ward/pairs-to-judge/{own['pair']['id']}/"
    body = {"single": True, "harm": "minor", "other_flaw": False}
    answer = client.put(url, json.dumps(body), content_type="application/json")
    assert answer.status_code == 200, answer.content
    assert client.put(url, json.dumps({**body, "more": 1}), content_type="application/json").status_code == 400
    second = client.post("/api/v1/benchmarks/ward/pairs-to-judge/next/").json()
    assert second["waiting"] == 1
    assert (
        client.put(
            url.replace(own["pair"]["id"], second["pair"]["id"]),
            json.dumps({**body, "harm": "dangerous"}),
            content_type="application/json",
        ).status_code
        == 200
    )
    empty = client.post("/api/v1/benchmarks/ward/pairs-to-judge/next/")
    assert (empty.status_code, empty.content) == (204, b"")
    staff = signed_in(world.admin)
    rows = staff.get("/api/v1/benchmarks/ward/pairs/?status=minor").json()["results"]
    assert [row["id"] for row in rows] == [own["pair"]["id"]]
    counts = {
        state: staff.get(f"/api/v1/benchmarks/ward/pairs/?state={state}").json()["count"]
        for state in NearMissPair.State.values
    }
    assert counts == {"proposed": 0, "confirmed": 2, "rejected": 0}
    for query in ("status=confirmed", "status=zzz", "kind=zzz", "state=zzz", "q=x"):
        refused = staff.get(f"/api/v1/benchmarks/ward/pairs/?{query}")
        assert (refused.status_code, list(refused.json())) == (400, [query.partition("=")[0]])
    new = {
        "group": "Doses", "judgements": 1, "case": "P1", "find": "5 mg", "replace": "50 mg", "kind": "dose",
    }  # fmt: skip
    for words, field in (({"find": "6 mg"}, "find"), ({"replace": "5 mg"}, "replace")):
        refused = staff.post("/api/v1/benchmarks/ward/pairs/", {**new, **words}, content_type="application/json")
        assert (refused.status_code, [fault["field"] for fault in refused.json()["errors"]]) == (422, [field])
    created = staff.post("/api/v1/benchmarks/ward/pairs/", json.dumps(new), content_type="application/json")
    assert (created.status_code, created.json()["candidate_text"]) == (201, "Take 50 mg once a day.")


FORM = {
    "endpoint": "", "model": "ok", "temperature": "1", "max_tokens": "500", "seed": "0", "concurrency": "8",
    "attempts": "2", "timeout_s": "30", "pauses": "0", "currency": "USD",
}  # fmt: skip


def test_a_model_makes_pairs(world: PairWorld, loopback: Loopback) -> None:
    client = signed_in(world.admin)
    page(client, "pair-making/")
    page(client, "pair-making/new/")
    form = {
        **FORM, "endpoint": loopback.url, "group": "Made", "judgements": "1", "kinds": ["dose", "unit"], "each": "1",
        "price_out": "2",
    }  # fmt: skip
    size = client.post("/b/ward/pair-making/new/size", form).content.decode()
    assert "Maximum cost" in size and "2 cases" in size
    answer = client.post("/b/ward/pair-making/new/", form)
    assert answer.status_code == 302, answer.content.decode()
    run = MakingRun.objects.get()
    work(run)
    assert (run.refresh_from_db(), run.status, run.steps.filter(state="done").count()) == (None, "finished", 2)
    pairs = NearMissPair.objects.filter(origin="generated")
    assert {pair.candidate for pair in pairs} == {"Take 50 mg once a day."}
    assert {pair.key for pair in pairs} == {"P1-1", "P2-1"}
    assert {pair.step.run_id for pair in pairs} == {run.pk}
    # The request holds question and reference, and nothing of a rubric.
    sent = "".join(bytes(call.request).decode("latin-1") for call in run.exchanges.all())
    assert "Criterion" not in sent
    text = page(client, f"pair-making/{run.public_id}/")
    assert "Pairs made" in text
    assert run.public_id in page(client, "pair-making/")
    page(client, f"pair-making/{run.public_id}/progress")
    rows = file_of(client.get(f"/b/ward/pair-making/{run.public_id}/pairs.csv"))
    assert rows.count("\n") == 3
    page(client, f"pair-making/new/?from={run.public_id}")
    api = client.get(f"/api/v1/benchmarks/ward/pair-making/{run.public_id}/").json()
    assert (api["group"], api["progress"]["done"], api["model"]) == ("Made", 2, "ok")
    # The same once more: the group has these pairs.
    client.post("/b/ward/pair-making/new/", form)
    again = MakingRun.objects.order_by("-pk").first()
    assert again is not None
    work(again)
    assert list(again.steps.values_list("error_kind", flat=True)) == ["duplicate", "duplicate"]
    assert NearMissPair.objects.filter(origin="generated").count() == 2


def test_what_makes_no_near_miss_is_asked_for_twice_more_and_then_is_none(world: PairWorld, loopback: Loopback) -> None:
    client = signed_in(world.admin)
    form = {
        **FORM, "endpoint": loopback.url, "model": "near-miss-absent", "group": "Made", "judgements": "1",
        "kinds": ["dose"], "each": "1", "cases": "1",
    }  # fmt: skip
    client.post("/b/ward/pair-making/new/", form)
    run = work(MakingRun.objects.get())
    assert (run.status, run.steps.get().error_kind, loopback.requests()) == ("incomplete", "absent", 3)
    assert not NearMissPair.objects.filter(origin="generated").exists()


def test_a_run_of_trials_from_form_to_report(loopback: Loopback) -> None:
    world = worked_example("ward")
    client = signed_in(world.admin)
    page(client, "pair-runs/")
    page(client, "pair-runs/new/")
    form = {
        **FORM, "endpoint": loopback.url, "groups": [world.group.public_id], "which": "confirmed", "trials": "3",
        "sets": [world.sets["A"].public_id],
    }  # fmt: skip
    assert "no pair meets this condition" in client.post("/b/ward/pair-runs/new/size", form).content.decode().lower()
    world.confirm_all()
    size = client.post("/b/ward/pair-runs/new/size", {**form, "price_in": "1", "budget": "0.0001"}).content.decode()
    assert "42" in size and "7 pairs" in size and "may stop early" in size
    assert client.post("/b/ward/pair-runs/new/", {**form, "sets": []}).status_code == 422
    answer = client.post("/b/ward/pair-runs/new/", form)
    assert answer.status_code == 302, answer.content.decode()
    run = TrialRun.objects.get()
    work(run)
    text = page(client, f"pair-runs/{run.public_id}/")
    assert "Replay" in text and "Trials by A" in text
    page(client, f"pair-runs/{run.public_id}/progress")
    assert run.public_id in page(client, "pair-runs/")
    assert client.post(f"/b/ward/pair-runs/{run.public_id}/resume").status_code == 422
    again = client.post(f"/b/ward/pair-runs/{run.public_id}/replay")
    assert again.status_code == 302 and run.public_id not in again["Location"]
    page(client, f"pair-runs/new/?from={run.public_id}")
    csv = file_of(client.get(f"/b/ward/pair-runs/{run.public_id}/trials.csv"))
    assert csv.count("\n") == 43
    report = report_services.create_report(
        benchmark=world.benchmark, kind="pairs", parameters={"run": run.public_id}, at=timezone.now()
    )
    report_services.run(report_id=report.pk, clock=timezone.now)
    report = Report.objects.get(pk=report.pk)
    assert report.status == "done", report.error
    own = table_of(report, "pairs").dicts()[0]
    assert (own["win"], own["mean_delta"]) == pytest.approx((2 / 7, 19 / 21), rel=0, abs=1e-9)
    text = client.get(f"/b/ward/validity/{report.public_id}/").content.decode()
    assert "0.286" in text and "0.905" in text and "Self-consistency" not in text
    api = client.get(f"/api/v1/benchmarks/ward/reports/{report.public_id}/").json()
    tables = json.dumps(api)
    assert "0.2857142857142857" in tables or api["kind"] == "pairs"
    assert client.get("/b/ward/validity/").status_code == 200
    with_self = report_services.create_report(
        benchmark=world.benchmark, kind="pairs", at=timezone.now(),
        parameters={"run": run.public_id, "self_consistency": True, "decided_by": "stated"},
    )  # fmt: skip
    report_services.run(report_id=with_self.pk, clock=timezone.now)
    text = client.get(f"/b/ward/validity/{with_self.public_id}/").content.decode()
    assert "Self-consistency" in text and "0.800" in text


def test_a_run_by_the_api(world: PairWorld, loopback: Loopback) -> None:
    world.confirm_all()
    client = signed_in(world.admin)
    body = {
        "groups": ["Doses"], "sets": [world.sets["A"].public_id],
        "config": {"endpoint": loopback.url, "model": "ok", "trials": 1, "seed": 0, "no_rubric": True},
    }  # fmt: skip
    url = "/api/v1/benchmarks/ward/pair-runs/"
    none = {**body, "sets": [], "config": {**body["config"], "no_rubric": False}}  # type: ignore[dict-item]
    refused = client.post(url, json.dumps(none), content_type="application/json")
    assert (refused.status_code, refused.json()) == (400, {"config": ["Choose at least one set, or no rubric."]})
    body["sets"] = [world.sets["A"].name]  # as its answer has it
    answer = client.post(url, json.dumps(body), content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert answer.json()["sets"] == body["sets"]
    run = TrialRun.objects.get(public_id=answer.json()["id"])
    work(run)
    own = client.get(f"{url}{run.public_id}/").json()
    assert (own["progress"]["done"], own["pairs"], own["no_rubric"], own["trials"]) == (8, 2, True, 1)
    again = client.post(f"{url}{run.public_id}/replay/")
    assert again.status_code == 201
    unknown = {**body, "groups": ["None"]}
    assert client.post(url, json.dumps(unknown), content_type="application/json").status_code == 422
    assert client.get(url).json()["count"] == 2
