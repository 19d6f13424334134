"""Requests for a fine-tuned judge, and the import of its answers."""

from __future__ import annotations

import io
import json
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.reports.stored import table_of
from rubrics.models import Benchmark, BenchmarkRole, Case
from scoring.models import JudgeRun, Verdict
from tests.factories import BenchmarkRoleFactory, UserFactory
from tests.scoring.supervision.test_export_sft import command, decided, request_text

pytestmark = pytest.mark.slow

# A fine-tuned model answers like this; the first two are verdicts by the strict rule of judges, the others are not.
MET = '```json\n{"explanation": "It is there.", "criteria_met": true}\n```'
NOT_MET = '{"explanation": "", "criteria_met": false}'
CHATTER = 'Sure! {"explanation": "", "criteria_met": true}'


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    return decided()


def requests_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "requests.jsonl").read_text(encoding="utf-8").splitlines()]


def import_answers(tmp_path: Path, rows: list[dict[str, Any]], *more: str) -> str:
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = StringIO()
    call_command("import_verdicts", str(path), "--benchmark", "sft", "--judge", "SFT 8B", *more, stdout=out, stderr=out)
    return out.getvalue()


def test_requests_ask_every_criterion_of_the_held_out_candidates(benchmark: Benchmark, tmp_path: Path) -> None:
    out = tmp_path / "made"
    output = command(held_out=[["delta"]], out=out, requests="held-out")
    expected = [
        {
            "case": key,
            "candidate": "delta",
            "setting": "chat",
            "sample": 0,
            "criterion": place + 1,
            "instruction": request_text(benchmark, "delta", key, place),
        }
        for key in ("k0", "k1", "k2")
        for place in (0, 1)
    ]
    assert requests_of(out) == expected
    described = json.loads((out / "manifest.json").read_text())["requests"]
    assert (described["rows"], described["candidates"]) == (6, ["delta"])
    assert f"requests: 6 rows, about delta, SHA-256 {described['sha256']}" in output


def test_requests_about_all_candidates_leave_out_excluded_cases(benchmark: Benchmark, tmp_path: Path) -> None:
    Case.objects.filter(key="k1").update(
        excluded_at=timezone.now(), excluded_by=UserFactory(), exclusion="duplicate", exclusion_reason="A duplicate."
    )
    command(held_out=[["delta"]], out=tmp_path / "made", requests="all")
    rows = requests_of(tmp_path / "made")
    assert {row["case"] for row in rows} == {"k0", "k2"}
    assert {row["candidate"] for row in rows} == {"alpha", "beta", "gamma", "delta"}
    assert len(rows) == 2 * 4 * 2


def test_without_requests_there_are_three_files(benchmark: Benchmark, tmp_path: Path) -> None:
    command(held_out=[["delta"]], out=tmp_path / "made")
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["dev.jsonl", "manifest.json", "train.jsonl"]


def test_the_page_offers_requests_and_the_script(client: Client, benchmark: Benchmark) -> None:
    role = BenchmarkRoleFactory(benchmark=benchmark, role=BenchmarkRole.Role.RESEARCHER)
    client.force_login(role.user)
    page = client.get("/b/sft/judges/supervision/").content.decode()
    assert "/b/sft/judges/supervision/fine_tune.py" in page
    script = client.get("/b/sft/judges/supervision/fine_tune.py")
    assert b"def predict(" in b"".join(script.streaming_content)  # type: ignore[attr-defined]  # a FileResponse
    given = {"group": "A", "prompt": "healthbench", "seed": 0, "dev_share": 0.2, "held_out": ["delta"]}
    answer = client.post("/b/sft/judges/supervision/", {**given, "requests": "held-out"})
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))  # type: ignore[attr-defined]
    assert archive.namelist() == ["train.jsonl", "dev.jsonl", "requests.jsonl", "manifest.json"]
    assert len(archive.read("requests.jsonl").splitlines()) == 6


def test_answers_are_read_as_strictly_as_those_of_an_endpoint(benchmark: Benchmark, tmp_path: Path) -> None:
    command(held_out=[["delta"]], out=tmp_path / "made", requests="held-out")
    outputs = [MET, NOT_MET, CHATTER, "", MET, NOT_MET]
    rows = [
        {name: value for name, value in row.items() if name != "instruction"} | {"output": output}
        for row, output in zip(requests_of(tmp_path / "made"), outputs, strict=True)
    ]
    output = import_answers(tmp_path, rows)
    assert "2 verdicts are invalid." in output
    stored = Verdict.objects.order_by("response__case__key", "criterion__items__position")
    assert list(stored.values_list("outcome", "explanation")) == [
        ("met", "It is there."),
        ("not_met", ""),
        ("invalid", CHATTER),
        ("invalid", ""),
        ("met", "It is there."),
        ("not_met", ""),
    ]


def test_an_answer_beside_an_outcome_is_refused_by_line(benchmark: Benchmark, tmp_path: Path) -> None:
    row = {"case": "k0", "candidate": "delta", "criterion": 1, "output": MET}
    with pytest.raises(CommandError, match="1 fault refused"):
        import_answers(tmp_path, [row, {**row, "criterion": 2, "outcome": "met"}])
    assert not Verdict.objects.exists()


def test_reports_mark_the_candidates_that_the_judge_learned_from(benchmark: Benchmark, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    command(held_out=[["delta"]], out=folder, requests="all")
    rows = [
        {**row, "instruction": None, "output": MET if row["criterion"] == 1 else NOT_MET} for row in requests_of(folder)
    ]
    for row in rows:
        del row["instruction"]
    import_answers(tmp_path, rows, "--learned-from", str(folder / "manifest.json"))
    assert JudgeRun.objects.get().snapshot["learned"] == ["alpha", "beta", "gamma"]
    report = services.create_report(
        benchmark=benchmark,
        kind="agreement",
        parameters={"rater_a": "group:A", "rater_b": "SFT 8B"},
        at=timezone.now(),
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    notes = {row["slice"]: row["note"] for row in table_of(report, "agreement").dicts()}
    assert "learned" in notes["candidate:alpha"]
    assert "learned" not in notes["candidate:delta"]
    # The same file again, with and without the option, changes nothing.
    import_answers(tmp_path, rows, "--learned-from", str(folder / "manifest.json"))
    import_answers(tmp_path, rows)
    assert JudgeRun.objects.count() == 1


@pytest.mark.parametrize("content", ["{}", "no JSON", '{"parts": {"train": {}}}'])
def test_what_is_no_manifest_is_refused(benchmark: Benchmark, tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(CommandError, match=r"is not the manifest\.json of export_sft"):
        import_answers(tmp_path, [], "--learned-from", str(tmp_path / "manifest.json"))


def test_a_candidate_that_does_not_exist_cannot_be_learned_from(benchmark: Benchmark, tmp_path: Path) -> None:
    manifest = {"parts": {"train": {"candidates": ["omega"]}, "dev": {"candidates": []}}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    row = {"case": "k0", "candidate": "delta", "criterion": 1, "output": MET}
    with pytest.raises(CommandError, match="The candidate “omega” does not exist"):
        import_answers(tmp_path, [row], "--learned-from", str(tmp_path / "manifest.json"))
    assert not Verdict.objects.exists()
