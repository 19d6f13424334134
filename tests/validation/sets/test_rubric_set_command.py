"""The command ``rubric_set``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from rubrics.models import Benchmark
from tests.validation.sets.conftest import lines_of
from validation.models import RubricSet, RubricSetEvent

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("rubric_set", "--benchmark", "bench", "--name", "set", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_a_set_of_a_track_prints_its_funnel_and_digest(benchmark: Benchmark) -> None:
    printed = run("--track", "gold", "--criteria", "3-4", "--tag", "theme:urgency")
    row = RubricSet.objects.get()
    cells = [[cell.strip() for cell in line.split("│")[1:5]] for line in printed.splitlines() if line.startswith("│")]
    assert cells == [
        ["Cases not excluded", "", "3", "3"],
        ["A published rubric on the track", "gold", "3", "3"],
        ["Number of criteria", "3-4", "2", "2"],
        ["Tag", "theme:urgency", "1", "1"],
    ]
    assert "set: 1 cases, 4 criteria, 0 mends\n" in printed
    assert f"digest {row.digest}\n" in printed
    assert RubricSetEvent.objects.filter(pgh_context__url="command rubric_set").count() == 2


def test_a_preview_makes_nothing(benchmark: Benchmark) -> None:
    assert "Preview: nothing was made." in run("--generic", "--preview")
    assert not RubricSet.objects.exists()


def test_a_file_writes_its_items_and_mends(benchmark: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "criteria.jsonl"
    criteria = [{"criterion": "One", "points": "5", "axis": "safety"}, {"criterion": "Two", "points": 0}]
    path.write_bytes(lines_of({"case": "a", "rubrics": criteria}, {"case": "c", "rubrics": [*criteria[:1]]}))
    with pytest.raises(CommandError, match=r"criteria.jsonl: 3 faults refused, no set was made\."):
        run("--file", str(path))
    printed = run("--file", str(path), "--mend", "--language", "en", "--out", str(tmp_path / "out"))
    assert "  1 × Points written as text read as a number\n  1 × Criterion omitted\n" in printed
    assert "note: 1 case of the file is not in the set because it is outside the frame or excluded." in printed
    with (tmp_path / "out" / "items.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["case", "position", "criterion", "points", "axis"],
            ["a", "1", "One", "5", "safety"],
        ]
    with (tmp_path / "out" / "mends.csv").open(newline="") as file:
        assert [row[:5] for row in csv.reader(file)] == [
            ["line", "case", "number", "field", "how"],
            ["1", "a", "1", "rubrics[0].points", "read"],
            ["1", "a", "2", "rubrics[1].points", "dropped"],
        ]
    assert "This set is there already" in run("--file", str(path), "--mend", "--language", "en")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--track", "gold", "--criteria", "ten"], "“ten” is neither a number such as 3"),
        (["--track", "gold", "--mend"], "--mend is for --file"),
        (["--file", "/nowhere.jsonl"], "/nowhere.jsonl: No such file"),
        (["--track", "silver"], "No case is in the frame"),
        (["--track", ""], "--track is empty"),
        (["--track", "gold", "--generic"], "not allowed with"),
        ([], "one of the arguments"),
    ],
)
def test_what_is_refused(benchmark: Benchmark, arguments: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        run(*arguments)
    assert not RubricSet.objects.exists()


def test_an_unknown_benchmark_is_not_made() -> None:
    with pytest.raises(CommandError, match="There is no benchmark “bench”"):
        run("--generic")
    assert not Benchmark.objects.exists()


def test_the_frame_is_kept_as_json(benchmark: Benchmark) -> None:
    run("--generic", "--axes", "1", "--language", "zh")
    frame = RubricSet.objects.get().frame
    assert json.loads(json.dumps(frame)) == {
        "criteria": "",
        "axes": "1",
        "language": "zh",
        "tags": [],
        "funnel": [
            {"condition": "included", "value": "", "alone": 3, "together": 3},
            {"condition": "axes", "value": "1", "alone": 3, "together": 3},
            {"condition": "language", "value": "zh", "alone": 1, "together": 1},
        ],
    }
