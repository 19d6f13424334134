"""The parts of the fine-tuning script that need no model; `bench/fine_tune.py` runs all of it on a tiny one."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scoring.supervision.fine_tune import Supervision, WrongData, _answered, main

SCRIPT = Path(__file__).parents[3] / "scoring" / "supervision" / "fine_tune.py"
PLACE = {"case": "k0", "candidate": "delta", "setting": "chat", "sample": 0, "criterion": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An export of one line a part, with a system message of five characters."""
    folder = tmp_path / "supervision"
    folder.mkdir()
    parts: dict[str, dict[str, Any]] = {}
    rows = {
        "train": {"instruction": "系统 AB\n\nfirst", "output": '{"explanation": "", "criteria_met": true}'},
        "dev": {"instruction": "系统 AB\n\nsecond", "output": '{"explanation": "", "criteria_met": false}'},
        "requests": {**PLACE, "instruction": "系统 AB\n\nthird"},
    }
    for part, row in rows.items():
        data = (json.dumps(row, ensure_ascii=False) + "\n").encode()
        (folder / f"{part}.jsonl").write_bytes(data)
        parts[part] = {"file": f"{part}.jsonl", "sha256": hashlib.sha256(data).hexdigest()}
    manifest = {
        "prompt": {"system_characters": 5, "joint": "\n\n"},
        "parts": {"train": parts["train"], "dev": parts["dev"]},
        "held_out": {"candidates": ["delta"]},
        "requests": parts["requests"],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def test_a_line_becomes_the_messages_of_a_chat_judge(folder: Path) -> None:
    (example,) = Supervision.of(folder).examples("train")
    assert example["prompt"] == [{"role": "system", "content": "系统 AB"}, {"role": "user", "content": "first"}]
    assert example["completion"] == [{"role": "assistant", "content": '{"explanation": "", "criteria_met": true}'}]


def test_a_file_that_differs_from_the_manifest_is_refused(folder: Path) -> None:
    with (folder / "train.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(WrongData, match=r"train\.jsonl: not the file that the manifest describes"):
        list(Supervision.of(folder).rows("train"))


def test_an_instruction_without_the_system_message_is_refused(folder: Path) -> None:
    with pytest.raises(WrongData, match="does not begin with the system message"):
        Supervision.of(folder).messages("Something else entirely")


@pytest.mark.parametrize("content", ["", "[]", '{"parts": {}}'])
def test_a_folder_that_is_no_export_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(WrongData, match=r"manifest\.json: not"):
        Supervision.of(tmp_path)


def test_answers_that_are_there_are_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    whole = json.dumps({**PLACE, "output": "yes"}) + "\n"
    path.write_text(whole + '{"case": "k0", "cand')
    assert _answered(path) == {("k0", "delta", "chat", 0, 1)}
    assert path.read_text() == whole


def test_a_file_of_something_else_is_not_appended_to(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n")
    with pytest.raises(WrongData, match="not a file of predictions"):
        _answered(path)
    assert path.read_text() == "my notes\n"


def test_a_folder_with_files_is_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--data", str(folder), "--out", str(folder)]) == 1
    assert "is not empty" in capsys.readouterr().err


def test_requests_have_to_be_exported_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["requests"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert main(["predict", "--data", str(folder), "--model", "x", "--out", str(folder / "p.jsonl")]) == 1
    assert "--requests held-out" in capsys.readouterr().err


@pytest.mark.slow
def test_the_script_runs_without_the_project() -> None:
    done = subprocess.run([sys.executable, "-I", str(SCRIPT), "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, "predict" in done.stdout) == (0, True), done.stderr
