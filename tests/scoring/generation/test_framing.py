"""The framing of bare descriptions: what is sent word for word, versions that never change, and runs that keep one."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, ProgrammingError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubrics.acuity.services import make_framing
from rubrics.models import Benchmark, Candidate, Case, Framing, Response
from scoring.models import EndpointCall, GenerationRun
from scoring.pipelines.cache import request_of
from scoring.pipelines.runs import replay_run
from scoring.pipelines.working import work_on_run
from tests.factories import BenchmarkFactory, CaseFactory, ResponseFactory, UserFactory
from tests.scoring.conftest import Loopback
from tests.scoring.endpoint_trials.trials import answer_of
from tests.scoring.generation.test_generation import QUICK, last_request

pytestmark = pytest.mark.django_db

# A description that holds what a careless template engine would touch.
DESCRIPTION = "A man of 60 has chest pain.\n{{case}} {% now %} %s \\1 <b> & “quotes”"
TEMPLATE = "I need advice.\n\n{{case}}\n\nWhat should I do? 该怎么办？"
SENT = f"I need advice.\n\n{DESCRIPTION}\n\nWhat should I do? 该怎么办？"
TURNS = [
    {"role": "user", "content": "My head hurts."},
    {"role": "assistant", "content": "Since when?"},
    {"role": "user", "content": "Since today."},
]
PAGE = "/b/framed/case-acuity/framings/"


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    benchmark = BenchmarkFactory(slug="framed", researcher=UserFactory(name="Ann Framer"))
    CaseFactory(benchmark=benchmark, key="vignette", rubric=0, conversation=[{"role": "user", "content": DESCRIPTION}])
    CaseFactory(benchmark=benchmark, key="talk", rubric=0, conversation=TURNS)
    return benchmark


@pytest.fixture
def staff(benchmark: Benchmark, client: Client) -> Client:
    client.force_login(benchmark.roles.get().user)
    return client


def form_of(loopback: Loopback, **values: str) -> dict[str, str]:
    return {
        "candidate": "asked model", "endpoint": loopback.url, "model": "prose", "samples": "1", "max_tokens": "100",
        "concurrency": "2", "timeout_s": "60", "attempts": "1", "pauses": "0", **values,
    }  # fmt: skip


def begin(staff: Client, loopback: Loopback, **values: str) -> GenerationRun:
    """A run that was begun on the page and has ended."""
    answer = staff.post(reverse("scoring:generation-new", args=["framed"]), form_of(loopback, **values))
    assert answer.status_code == 302, answer.content.decode()
    run = GenerationRun.objects.get(public_id=answer.url.rstrip("/").split("/")[-1])  # type: ignore[attr-defined]
    work_on_run(run.pk, clock=timezone.now)
    run.refresh_from_db()
    assert run.status == "finished"
    return run


def sent_by(run: GenerationRun) -> dict[str, list[dict[str, str]]]:
    """The messages of each case, as they went to the endpoint."""
    rows = run.steps.select_related("call").values_list("case__key", "call")
    calls = EndpointCall.objects.in_bulk([call for _key, call in rows])
    return {key: json.loads(request_of(calls[call]))["messages"] for key, call in rows if call is not None}


@pytest.mark.slow
def test_what_is_sent_is_the_rendered_text_and_conversations_go_as_they_are(
    benchmark: Benchmark, staff: Client, loopback: Loopback
) -> None:
    assert staff.post(PAGE, {"text": TEMPLATE, "save": "1"}).status_code == 302
    framed = begin(staff, loopback, framing="1", system_prompt="Be brief.")
    system = {"role": "system", "content": "Be brief."}
    assert sent_by(framed) == {"vignette": [system, {"role": "user", "content": SENT}], "talk": [system, *TURNS]}
    # Each response names the framing that was put around its case, and the candidate keeps the text.
    digest = hashlib.sha256(TEMPLATE.encode()).hexdigest()
    settings = {row.case.key: row.metadata["generation"]["settings"] for row in Response.objects.select_related("case")}
    assert (settings["vignette"]["framing_version"], settings["vignette"]["framing_sha256"]) == (1, digest)
    assert {name for name in settings["talk"] if name.startswith("framing")} == set()
    assert Candidate.objects.get().metadata["framings"] == {digest: TEMPLATE}
    page = staff.get(reverse("scoring:generation-run", args=["framed", framed.public_id])).content.decode()
    assert "version 1, for bare descriptions" in page
    assert "What should I do? 该怎么办？" in page
    address = reverse("scoring:generation-csv", args=["framed", framed.public_id])
    text = b"".join(staff.get(address)).decode("utf-8-sig")  # type: ignore[arg-type]
    assert {row["case"]: row["framing"] for row in csv.DictReader(io.StringIO(text))} == {"vignette": "1", "talk": ""}
    detail = staff.get(reverse("api:api-generation-run", args=["framed", framed.public_id])).json()
    assert detail["framing"] == 1
    assert detail["config"]["framing"] == {"version": 1, "text": TEMPLATE}


@pytest.mark.slow
def test_a_replay_finds_the_answers_and_framed_requests_are_others(
    benchmark: Benchmark, staff: Client, loopback: Loopback
) -> None:
    staff.post(PAGE, {"text": TEMPLATE, "save": "1"})
    framed = begin(staff, loopback, framing="1", candidate="framed")
    plain = begin(staff, loopback, candidate="plain")
    hashes = {run.pk: dict(run.steps.values_list("case__key", "request_hash")) for run in (framed, plain)}
    assert hashes[framed.pk]["vignette"] != hashes[plain.pk]["vignette"]
    assert hashes[framed.pk]["talk"] == hashes[plain.pk]["talk"]
    # The hash of the request that was sent before there were framings.
    body = json.dumps({"model": "prose", "max_tokens": 100, "messages": TURNS}).encode()
    assert hashes[plain.pk]["talk"] == hashlib.sha256(body).hexdigest()
    # A newer version of the framing does not change what a stored run asks.
    staff.post(PAGE, {"text": "Other words. {{case}}", "save": "1"})
    before = loopback.requests()
    for run in (framed, plain):
        replay = replay_run(run=run, by=None, at=timezone.now())
        work_on_run(replay.pk, clock=timezone.now)
        replay.refresh_from_db()
        assert replay.status == "finished"
        columns = ("case__key", "output", "request_hash")
        assert list(replay.steps.values_list(*columns)) == list(run.steps.values_list(*columns))
    assert loopback.requests() == before


def test_the_form_counts_tries_and_warns(benchmark: Benchmark, staff: Client, loopback: Loopback) -> None:
    new = staff.get(reverse("scoring:generation-new", args=["framed"])).content.decode()
    assert "Original case text" in new and "Write a framing" in new
    make_framing(benchmark=benchmark, text=TEMPLATE, by=None, at=timezone.now())
    size_url = reverse("scoring:generation-size", args=["framed"])
    plain = staff.post(size_url, form_of(loopback)).content.decode()
    assert "Cases with a framing" not in plain
    size = staff.post(size_url, form_of(loopback, framing="1")).content.decode()
    assert "Cases with a framing: 1. Conversations, sent unchanged: 1." in size
    trial_url = reverse("scoring:generation-trial", args=["framed"])
    assert answer_of(staff, trial_url, form_of(loopback, framing="1", tag="")).status_code == 200
    assert last_request(loopback)["messages"] == TURNS  # the first case by key is the conversation
    Case.objects.filter(key="talk").update(excluded_at=timezone.now(), exclusion="decision", exclusion_reason="r")
    answer_of(staff, trial_url, form_of(loopback, framing="1"))
    assert last_request(loopback)["messages"] == [{"role": "user", "content": SENT}]
    wrong = staff.post(size_url, form_of(loopback, framing="7")).content.decode()
    assert "Framing" in wrong and "7" in wrong


@pytest.mark.slow
def test_responses_of_another_framing_are_counted_as_made_otherwise(
    benchmark: Benchmark, staff: Client, loopback: Loopback
) -> None:
    make_framing(benchmark=benchmark, text=TEMPLATE, by=None, at=timezone.now())
    begin(staff, loopback, framing="1")
    size_url = reverse("scoring:generation-size", args=["framed"])
    same = staff.post(size_url, form_of(loopback, framing="1", samples="2")).content.decode()
    assert "generated with other settings" not in same
    # Without the framing only the conversation was asked in the same way.
    other = staff.post(size_url, form_of(loopback, samples="2")).content.decode()
    assert "1 response of this candidate was generated with other settings" in other
    make_framing(benchmark=benchmark, text="Other words. {{case}}", by=None, at=timezone.now())
    other = staff.post(size_url, form_of(loopback, framing="2", samples="2")).content.decode()
    assert "1 response of this candidate was generated with other settings" in other


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("No place at all.", "This text contains it 0 times."),
        ("{{ case }} with blanks", "This text contains it 0 times."),
        ("{{case}} and {{case}}", "This text contains it 2 times."),
        ("  {{case}}\n", "must have words besides {{case}}"),
        ("{{case}} " + "x" * 9_993, "at most 10000 characters"),
        ("", "This field is required"),
    ],
)
def test_a_text_that_is_no_framing(staff: Client, benchmark: Benchmark, text: str, message: str) -> None:
    answer = staff.post(PAGE, {"text": text, "save": "1"})
    assert answer.status_code == 422
    assert message in answer.content.decode()
    answer = staff.post(
        reverse("api:api-acuity-framings", args=["framed"]), {"text": text}, content_type="application/json"
    )
    assert answer.status_code in (400, 422)
    assert not Framing.objects.exists()


def test_versions_with_author_and_time_never_change(staff: Client, benchmark: Benchmark) -> None:
    api = reverse("api:api-acuity-framings", args=["framed"])
    for text in ("First. {{case}}", "First. {{case}}\r\n", "Second. {{case}}", "First. {{case}}"):
        assert staff.post(PAGE, {"text": text, "save": "1"}).status_code == 302
    rows = staff.get(api).json()["results"]
    assert [(row["version"], row["text"], row["created_by"]) for row in rows] == [
        (3, "First. {{case}}", "Ann Framer"),
        (2, "Second. {{case}}", "Ann Framer"),
        (1, "First. {{case}}", "Ann Framer"),
    ]
    answer = staff.post(api, {"text": "Third. {{case}}"}, content_type="application/json")
    assert (answer.status_code, answer.json()["version"]) == (201, 4)
    page = staff.get(PAGE).content.decode()
    assert page.index("Version 4") < page.index("Version 3") < page.index("Version 1")
    assert "Ann Framer" in page
    for change in (
        lambda: Framing.objects.filter(version=1).update(text="{{case}} changed"),
        lambda: Framing.objects.filter(version=1).delete(),
    ):
        with pytest.raises(ProgrammingError, match="Cannot update or delete"), transaction.atomic():
            change()
    for text in ("none", "{{case}}{{case}}"):
        with pytest.raises(IntegrityError, match="rubrics_framing_one_place"), transaction.atomic():
            Framing.objects.create(benchmark=benchmark, version=9, text=text, created_at=timezone.now())


def test_the_editor_shows_a_real_case(staff: Client, benchmark: Benchmark) -> None:
    page = staff.get(PAGE).content.decode()
    assert "I need advice about a health problem." in page and "A man of 60 has chest pain." in page
    assert "No framing yet. Runs send each case unchanged." in page
    assert "Bare case descriptions: 1. Conversations, sent unchanged: 1." in page
    assert "我想请教一个健康问题" in staff.get(f"{PAGE}?from=zh").content.decode()
    other = [{"role": "user", "content": "A child of two has a fever."}]
    CaseFactory(benchmark=benchmark, key="zz", rubric=0, conversation=other)
    shown = staff.post(PAGE, {"text": "Well, {{case}}!", "case": "zz", "preview": "1"}).content.decode()
    assert ">Well, A child of two has a fever.!<" in shown
    assert not Framing.objects.exists()
    wrong = staff.post(PAGE, {"text": "Well, {{case}}!", "case": "talk", "preview": "1"})
    assert wrong.status_code == 422
    assert "No case with this short name is a bare description." in wrong.content.decode()
    Case.objects.exclude(key="talk").update(excluded_at=timezone.now(), exclusion="decision", exclusion_reason="r")
    assert "No case in this benchmark is a bare description" in staff.get(PAGE).content.decode()


@pytest.mark.slow
def test_the_command_and_the_api_name_a_version(
    benchmark: Benchmark, staff: Client, loopback: Loopback, monkeypatch: Any
) -> None:
    monkeypatch.setattr("scoring.management.asking.WORKER_HAS_S", 0.0)
    options = ["--benchmark", "framed", "--candidate", "c", "--endpoint", loopback.url, "--model", "prose", "--wait"]
    with pytest.raises(CommandError, match="no version 1 of the framing"):
        call_command("generate", *options, "--framing", "1")
    make_framing(benchmark=benchmark, text=TEMPLATE, by=None, at=timezone.now())
    call_command("generate", *options, "--framing", "1", stdout=io.StringIO())
    run = GenerationRun.objects.get()
    assert sent_by(run)["vignette"] == [{"role": "user", "content": SENT}]
    api = reverse("api:api-generation", args=["framed"])
    config: dict[str, Any] = {"endpoint": loopback.url, "model": "prose", **QUICK}
    new = {"candidate": "by api", "config": config, "framing": 1}
    assert staff.post(api, new, content_type="application/json").json()["framing"] == 1
    # A text of its own is no framing of the benchmark.
    new = {"candidate": "x", "config": {**config, "framing": {"version": 1, "text": "Mine: {{case}}"}}}
    answer = staff.post(api, new, content_type="application/json")
    assert answer.status_code == 400
    assert "framing" in answer.json()["config"]
    answer = staff.post(api, {**new, "config": config, "framing": 2}, content_type="application/json")
    assert answer.status_code == 422


def test_a_run_with_the_settings_of_another_has_its_framing(
    benchmark: Benchmark, staff: Client, loopback: Loopback
) -> None:
    for text in (TEMPLATE, "Other words. {{case}}"):
        make_framing(benchmark=benchmark, text=text, by=None, at=timezone.now())
    run = begin(staff, loopback, framing="1")
    page = staff.get(f"{reverse('scoring:generation-new', args=['framed'])}?from={run.public_id}").content.decode()
    assert '<option value="1" selected>' in page


def test_an_imported_response_is_made_otherwise(benchmark: Benchmark, staff: Client, loopback: Loopback) -> None:
    make_framing(benchmark=benchmark, text=TEMPLATE, by=None, at=timezone.now())
    candidate = Candidate.objects.create(benchmark=benchmark, name="asked model")
    ResponseFactory(case=Case.objects.get(key="talk"), candidate=candidate, text="From a file.")
    size = staff.post(reverse("scoring:generation-size", args=["framed"]), form_of(loopback, framing="1"))
    assert "1 response of this candidate was generated with other settings" in size.content.decode()
