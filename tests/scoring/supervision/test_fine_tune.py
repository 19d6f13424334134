"""The parts of the fine-tuning script that need no model; `bench/fine_tune.py` runs all of it on a tiny one."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from scoring.supervision.fine_tune import Supervision, WrongData, main

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


class Tokens(dict[str, Any]):
    """What a tokenizer gives a model."""

    def to(self, _device: str) -> Tokens:
        return self


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a model whose answer is the text of its weights; libraries that would load it are stand-ins."""
    folder = tmp_path / "judge"
    folder.mkdir()
    (folder / "model.safetensors").write_text("first")

    def load(name: str, **_options: Any) -> Any:
        return SimpleNamespace(
            pad_token="<pad>",
            pad_token_id=0,
            device="cpu",
            to=lambda _device: SimpleNamespace(eval=lambda: None),
            apply_chat_template=lambda rows, **_options: Tokens(input_ids=np.zeros((len(rows), 1))),
            generate=lambda *, input_ids, **_options: np.zeros((len(input_ids), 2)),
            batch_decode=lambda rows, **_options: [(Path(name) / "model.safetensors").read_text() for _row in rows],
        )

    cuda = SimpleNamespace(is_available=lambda: False)
    torch = SimpleNamespace(cuda=cuda, bfloat16=0, float32=1, inference_mode=nullcontext)
    auto = SimpleNamespace(from_pretrained=load)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(
        sys.modules, "transformers", SimpleNamespace(AutoModelForCausalLM=auto, AutoTokenizer=auto, AutoConfig=auto)
    )
    return folder


def predict(folder: Path, judge: Path, path: Path) -> int:
    return main(["predict", "--data", str(folder), "--model", str(judge), "--out", str(path)])


def outputs(path: Path) -> list[str]:
    return [json.loads(line)["output"] for line in path.read_text().splitlines()]


def change_requests(folder: Path, *rows: dict[str, Any]) -> None:
    """Export the requests anew."""
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / "requests.jsonl").write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["requests"]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_answers_that_are_there_are_not_asked_again(folder: Path, judge: Path, tmp_path: Path) -> None:
    request = {**PLACE, "instruction": "系统 AB\n\nthird"}
    change_requests(folder, request, {**request, "criterion": 2})
    path = tmp_path / "predictions.jsonl"
    assert predict(folder, judge, path) == 0
    first, second = path.read_text().splitlines(keepends=True)
    path.write_text(first.replace("first", "kept") + second[:20])
    assert predict(folder, judge, path) == 0
    assert outputs(path) == ["kept", "first"]
    assert [json.loads(line)["criterion"] for line in path.read_text().splitlines()] == [1, 2]


def test_answers_of_a_model_are_not_taken_for_those_of_another(
    folder: Path, judge: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "predictions.jsonl"
    assert predict(folder, judge, path) == 0
    (judge / "training.json").write_text("{}")  # not what makes it answer as it does
    assert predict(folder, judge, path) == 0
    (judge / "model.safetensors").write_text("second")  # trained again, into the same folder
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.is_file()}
    assert predict(folder, judge, path) == 1
    assert "has answers of another model than --model. Give another --out." in capsys.readouterr().err
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.is_file()} == before
    assert predict(folder, judge, tmp_path / "second.jsonl") == 0
    assert (outputs(path), outputs(tmp_path / "second.jsonl")) == (["first"], ["second"])


def test_answers_to_other_requests_are_not_appended_to(
    folder: Path, judge: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "predictions.jsonl"
    assert predict(folder, judge, path) == 0
    change_requests(folder, {**PLACE, "instruction": "系统 AB\n\nanother text"})
    assert predict(folder, judge, path) == 1
    assert "has answers to other requests than those of --data." in capsys.readouterr().err
    assert outputs(path) == ["first"]


@pytest.mark.parametrize(
    "text", ["my notes", "my notes\n", '{"a": 1}\n{"b', json.dumps({**PLACE, "output": "yes"}) + "\n"]
)
def test_a_file_of_something_else_is_left_as_it_is(
    folder: Path, judge: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    assert predict(folder, judge, path) == 1
    assert "not a file of predictions" in capsys.readouterr().err
    assert path.read_text() == text
    assert sorted(each.name for each in tmp_path.iterdir()) == ["judge", "notes.txt", "supervision"]


def test_nothing_is_written_before_the_requests_are_found_as_exported(
    folder: Path, judge: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "requests.jsonl").open("a") as file:
        file.write("{}\n")
    path = tmp_path / "predictions.jsonl"
    assert predict(folder, judge, path) == 1
    assert "not the file that the manifest describes" in capsys.readouterr().err
    assert not path.exists()


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
