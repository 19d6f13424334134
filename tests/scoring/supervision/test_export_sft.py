"""Supervision for a fine-tune: whose decisions, split by candidate, in the words that a judge is asked in."""

from __future__ import annotations

import hashlib
import io
import json
import urllib.request
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from annotation.models import Amendment, Assignment, Check, Decision
from consilium.core.errors import DomainError
from consilium.llm.prompts import TEMPLATES, JudgeItem, messages_for, nonce_for, prompt_hash
from rubrics.models import Benchmark, Criterion, Response
from scoring.runs.services import RunFrame, create_run
from scoring.supervision import export as supervision
from scoring.trained.training_data import split_candidates
from scoring.work.chat import nonce_key
from scoring.work.slice import work_on_slice
from tests.factories import (
    BenchmarkFactory,
    BenchmarkRoleFactory,
    CandidateFactory,
    CaseFactory,
    ResponseFactory,
    UserFactory,
)
from tests.scoring.conftest import Loopback, chat_judge, decide, mark_faulty

pytestmark = pytest.mark.slow

CANDIDATES = ("alpha", "beta", "gamma", "delta")


def decided(slug: str = "sft") -> Benchmark:
    """Three cases with criteria of +5 and −3 points. Majorities, a tie, a note, an amendment and a faulty criterion."""
    benchmark = BenchmarkFactory(slug=slug, title="Supervision", rule_sheet="Every part has to be there.")
    rows = [CandidateFactory(benchmark=benchmark, name=name) for name in CANDIDATES]
    for number in range(3):
        case = CaseFactory(benchmark=benchmark, key=f"k{number}", rubric=[5, -3])
        for candidate in rows:
            ResponseFactory(
                case=case, candidate=candidate, text=f"{candidate.name} 说 {number}: {{{{criterion}}}} “rest”"
            )
    usual = {(f"k{n}", name): ["met", "not_met"] for n in range(3) for name in CANDIDATES}
    decide(benchmark, "A", {**usual, ("k0", "alpha"): ["met", "cannot_assess"]})
    decide(benchmark, "A", {("k0", "beta"): ["not_met", "not_met"], ("k1", "alpha"): ["not_met", "met"]})
    decide(benchmark, "A", {("k1", "alpha"): ["not_met", "met"]})

    # Of the three who decided k1/alpha only the last two are with the majority.
    for words, assignment in zip(("It does.", "It does not.", "Never."), of(benchmark, "k1", "alpha"), strict=True):
        Decision.objects.filter(assignment=assignment, criterion=criterion_of(assignment, 0)).update(note=words)
    amended = of(benchmark, "k2", "beta")[0]
    check = Check.objects.create(
        assignment=amended, round=1, checker=UserFactory(), result="accepted", created_at=timezone.now()
    )
    Amendment.objects.create(
        check_row=check,
        criterion=criterion_of(amended, 1),
        outcome="met",
        reason="It does harm.",
        created_at=timezone.now(),
        updated_at=timezone.now(),
    )
    faulty = of(benchmark, "k2", "alpha")[0]
    mark_faulty(faulty, criterion_of(faulty, 1).pk)
    return benchmark


def of(benchmark: Benchmark, key: str, candidate: str) -> list[Assignment]:
    assignments = Assignment.objects.filter(
        case__benchmark=benchmark, case__key=key, response__candidate__name=candidate
    )
    return list(assignments.order_by("submitted_at", "pk").select_related("response", "rubric", "batch__group"))


def criterion_of(assignment: Assignment, place: int) -> Criterion:
    return assignment.rubric.items.order_by("position")[place].criterion


# By hand, from what `decided` says: (case, place in the rubric) → met, and the words that go with it.
LABELS: dict[str, dict[tuple[str, int], tuple[bool, str]]] = {
    "alpha": {("k0", 0): (True, ""), ("k1", 0): (False, "It does not."), ("k1", 1): (True, ""), ("k2", 0): (True, "")},
    "beta": {
        ("k0", 1): (False, ""),
        ("k1", 0): (True, ""),
        ("k1", 1): (False, ""),
        ("k2", 0): (True, ""),
        ("k2", 1): (True, "It does harm."),
    },
    "gamma": {(f"k{n}", place): (place == 0, "") for n in range(3) for place in (0, 1)},
}


def command(**options: Any) -> str:
    out = StringIO()
    call_command("export_sft", stdout=out, **{"benchmark": "sft", "group": "A", **options})
    return out.getvalue()


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def request_text(benchmark: Benchmark, candidate: str, key: str, place: int, prompt: str = "healthbench") -> str:
    """What a judge with that prompt is asked about a pair."""
    response = Response.objects.select_related("case").get(
        case__benchmark=benchmark, case__key=key, candidate__name=candidate
    )
    row = response.case.rubrics.get().items.order_by("position")[place]
    item = JudgeItem(
        response.case.conversation, response.text, row.criterion.text, row.points, "Every part has to be there."
    )
    system, user = messages_for(TEMPLATES[prompt], item, nonce=nonce_for(item, nonce_key()))
    return f"{system['content']}\n\n{user['content']}"


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    return decided()


def test_lines_are_the_requests_and_the_physicians_decisions(benchmark: Benchmark, tmp_path: Path) -> None:
    out = tmp_path / "made"
    output = command(held_out=[["delta"]], out=out, seed=4)
    manifest = json.loads((out / "manifest.json").read_text())
    parts = manifest["parts"]
    assert sorted(path.name for path in out.iterdir()) == ["dev.jsonl", "manifest.json", "train.jsonl"]
    assert len(parts["dev"]["candidates"]) == 1
    assert sorted(parts["train"]["candidates"] + parts["dev"]["candidates"]) == ["alpha", "beta", "gamma"]
    for part in parts.values():
        data = (out / part["file"]).read_bytes()
        rows = lines(out / part["file"])
        assert all(list(row) == ["instruction", "output"] for row in rows)
        expected = [
            (request_text(benchmark, name, key, place), {"explanation": words, "criteria_met": met})
            for key in ("k0", "k1", "k2")
            for name in sorted(part["candidates"])
            for place in (0, 1)
            for met, words in [LABELS[name].get((key, place), (None, ""))]
            if met is not None
        ]
        assert [(row["instruction"], json.loads(row["output"])) for row in rows] == expected
        assert part["sha256"] == hashlib.sha256(data).hexdigest()
        assert part["sha256"] in output
        assert (part["rows"], part["bytes"]) == (len(rows), len(data))
        n_met = sum(met for _instruction, answer in expected for met in [answer["criteria_met"]])
        assert (part["met"], part["not_met"]) == (n_met, len(rows) - n_met)
    assert manifest["left_out"] == {"cannot_assess": 1, "tie": 1, "faulty": 1}
    assert manifest["held_out"] == {"candidates": ["delta"], "decisions": 6}
    assert (manifest["benchmark"], manifest["group"], manifest["stage"], manifest["seed"]) == ("sft", "A", "checked", 4)
    template = TEMPLATES["healthbench"]
    size, joint = manifest["prompt"]["system_characters"], manifest["prompt"]["joint"]
    for row in lines(out / "train.jsonl") + lines(out / "dev.jsonl"):
        system, user = row["instruction"][:size], row["instruction"][size:]
        assert system.endswith("without quotes.")
        assert user.startswith(f"{joint}<<<CONVERSATION ")
    assert manifest["prompt"]["sha256"] == prompt_hash(template, benchmark.rule_sheet)
    everything = (out / "train.jsonl").read_text() + (out / "dev.jsonl").read_text()
    assert "gamma 说" in everything
    assert "delta 说" not in everything


def test_the_prompt_can_be_chosen(benchmark: Benchmark, tmp_path: Path) -> None:
    command(held_out=[["delta", "beta"]], out=tmp_path / "made", prompt="clinconsensus")
    rows = lines(tmp_path / "made" / "train.jsonl") + lines(tmp_path / "made" / "dev.jsonl")
    assert {row["instruction"] for row in rows} == {
        request_text(benchmark, name, key, place, "clinconsensus")
        for name in ("alpha", "gamma")
        for key, place in LABELS[name]
    }


@pytest.mark.django_db(transaction=True)
def test_an_instruction_is_what_a_run_sends(loopback: Loopback, tmp_path: Path, monkeypatch: Any) -> None:
    from scoring import tasks

    monkeypatch.setattr(tasks.judge_slice, "delay_on_commit", lambda *ids: None)
    benchmark = BenchmarkFactory(slug="sft", rule_sheet="All parts.")
    case = CaseFactory(benchmark=benchmark, key="k", rubric=[7])
    for name in ("alpha", "beta"):
        ResponseFactory(case=case, candidate=CandidateFactory(benchmark=benchmark, name=name), text=f"{name} 说“好”。")
    CandidateFactory(benchmark=benchmark, name="gamma")
    decide(benchmark, "A", {("k", "alpha"): ["met"], ("k", "beta"): ["not_met"]})
    command(held_out=[["gamma"]], out=tmp_path / "made")
    written = lines(tmp_path / "made" / "train.jsonl") + lines(tmp_path / "made" / "dev.jsonl")
    assert len(written) == 2
    for name, line in zip(
        ("alpha", "beta"), sorted(written, key=lambda row: "beta 说" in row["instruction"]), strict=True
    ):
        judge = chat_judge(benchmark, loopback, name=name)
        run = create_run(
            benchmark=benchmark, judge=judge, frame=RunFrame(candidates=(name,)), by=None, at=timezone.now()
        )
        work_on_slice(run.pk, 0, clock=timezone.now)
        with urllib.request.urlopen(loopback.url.removesuffix("/v1") + "/last") as answer:
            sent = json.load(answer)["messages"]
        assert line["instruction"] == "\n\n".join(message["content"] for message in sent)
        manifest = json.loads((tmp_path / "made" / "manifest.json").read_text())
        assert manifest["prompt"]["sha256"] == run.prompt_hash


def test_the_same_again_is_the_same_bytes_and_another_seed_another_split(benchmark: Benchmark, tmp_path: Path) -> None:
    def files(name: str, **options: Any) -> dict[str, bytes]:
        command(out=tmp_path / name, **options)
        return {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}

    first, second = files("one", seed=1), files("two", seed=1)
    assert first == second
    splits = {json.dumps(json.loads(files(f"s{seed}", seed=seed)["manifest.json"])["held_out"]) for seed in range(8)}
    assert len(splits) > 1


def test_the_folder_is_written_whole_or_not_at_all(
    benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "made"
    command(held_out=[["delta"]], out=out)
    with pytest.raises(CommandError, match="not empty"):
        command(held_out=[["gamma"]], out=out)
    command(held_out=[["gamma"]], out=out, overwrite=True)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert json.loads(before["manifest.json"])["held_out"]["candidates"] == ["gamma"]

    monkeypatch.setattr(supervision, "prompt_hash", lambda *given: 1 / 0)  # after the lines, before the manifest
    with pytest.raises(ZeroDivisionError):
        command(held_out=[["delta"]], out=out, overwrite=True)
    with pytest.raises(ZeroDivisionError):
        command(held_out=[["delta"]], out=tmp_path / "new")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    monkeypatch.undo()
    (out / "mine.txt").write_text("keep")
    with pytest.raises(CommandError, match=r"other files \(mine.txt\)"):
        command(held_out=[["delta"]], out=out, overwrite=True)
    assert (out / "mine.txt").read_text() == "keep"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"benchmark": "none"}, "no benchmark “none”"),
        ({"group": "Z"}, "no expert group “Z”"),
        ({"group": "B"}, "no accepted decisions yet"),
        ({"held_out": [["omega"]]}, "candidate “omega” does not exist"),
        ({"held_out": [["alpha", "beta", "gamma"]]}, "at least two .* In total there are 4"),
        ({"prompt": "haiku"}, "no prompt “haiku”"),
        ({"dev_share": 1.0}, "between 0 and 1"),
        ({"seed": -1}, "whole number of at least 0"),
    ],
)
def test_what_cannot_be_written_is_refused_with_its_reason(
    benchmark: Benchmark, tmp_path: Path, options: dict[str, Any], reason: str
) -> None:
    benchmark.groups.create(name="B")
    with pytest.raises(CommandError, match=reason):
        command(**{"out": tmp_path / "made", **options})
    assert list(tmp_path.iterdir()) == []


@given(
    n=st.integers(3, 30), n_held=st.integers(0, 28), seed=st.integers(0, 2**31 - 1), dev_share=st.floats(0.001, 0.999)
)
def test_no_candidate_is_in_two_parts(n: int, n_held: int, seed: int, dev_share: float) -> None:
    names = [f"m{i}" for i in range(n)]
    held = names[:n_held]
    try:
        split = split_candidates(names * 2, held, seed, dev_share=dev_share)
    except DomainError:
        assert n - n_held < 2
        return
    together = [*split.train, *split.dev, *split.held_out]
    assert sorted(together) == sorted(names)
    assert split.train
    assert split.dev
    assert set(held) <= set(split.held_out)
    assert bool(held) <= (set(split.held_out) == set(held))
    assert split == split_candidates(list(reversed(names)), held, seed, dev_share=dev_share)


# Page and API -----------------------------------------------------------------------------------------------------


def test_the_page_gives_the_same_files(benchmark: Benchmark, tmp_path: Path) -> None:
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=benchmark, user=user, role="researcher")
    command(held_out=[["delta"]], out=tmp_path / "made", seed=2)
    client = Client()
    client.force_login(user)
    page = "/b/sft/judges/supervision/"
    shown = client.get(page).content.decode()
    assert "delta" in shown
    assert page in client.get("/b/sft/judges/").content.decode()
    form = {"group": "A", "prompt": "healthbench", "held_out": ["delta"], "seed": "2", "dev_share": "0.2"}
    sent = client.post(page, form)
    assert (sent.status_code, sent["Content-Type"]) == (200, "application/zip")
    body = b"".join(sent.streaming_content)  # type: ignore[attr-defined]
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            path.name: path.read_bytes() for path in (tmp_path / "made").iterdir()
        }
    refused = client.post(page, {**form, "held_out": ["alpha", "beta", "gamma"]})
    assert refused.status_code == 422
    assert "at least two must have decisions" in refused.content.decode()
    assert client.post(page, {**form, "group": "Z"}).status_code == 422

    api = APIClient()
    api.force_authenticate(user)
    endpoint = "/api/v1/benchmarks/sft/supervision/"
    given = api.post(endpoint, {"group": "A", "held_out": ["delta"], "seed": 2}, format="json")
    assert given.status_code == 200
    assert b"".join(given.streaming_content) == body
    assert api.post(endpoint, {"group": "Z"}, format="json").status_code == 422
    assert api.post(endpoint, {"group": "A", "share": 1}, format="json").status_code == 400
