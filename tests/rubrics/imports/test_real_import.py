"""The public HealthBench sample, where ``CONSILIUM_REAL_DATA`` names the folder it lies in."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from rubrics.models import Benchmark, Case, Response, Rubric, RubricItem
from tests.rubrics.parsing.test_real_languages import language_by_hand

pytestmark = pytest.mark.django_db
SAMPLE = Path(os.environ.get("CONSILIUM_REAL_DATA", "")) / "healthbench_sample.jsonl"


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").split("\n") if line]


def run(path: Path) -> str:
    out = io.StringIO()
    call_command("import_cases", str(path), "--benchmark", "hb", stdout=out)
    return out.getvalue()


@pytest.mark.slow
def test_every_case_criterion_and_completion_is_there_and_a_second_run_changes_nothing() -> None:
    run(SAMPLE)
    assert Case.objects.count() == 120
    assert RubricItem.objects.filter(rubric__status="published").count() == 1413
    assert Response.objects.filter(candidate__kind="reference").count() == 316
    assert Response.objects.filter(candidate__kind="physician").count() == 111
    assert Response.objects.filter(writing_mode="unaided").count() == 32  # group 1 of the file
    for row in rows():
        case = Case.objects.get(key=row["prompt_id"])
        assert case.conversation == row["prompt"]
        assert case.tags == row["example_tags"]
        assert (case.language, case.language_detected) == (language_by_hand(row), True)
        assert case.metadata == {"canary": row["canary"]}
        items = case.rubrics.get().items.order_by("position").values_list("criterion__text", "points", "tags")
        assert list(items) == [(each["criterion"], each["points"], each["tags"]) for each in row["rubrics"]]
        data = row["ideal_completions_data"] or {}
        answers = case.responses.order_by("candidate__kind", "sample").values_list("text", flat=True)
        references = data.get("ideal_completions_ref_completions") or []
        assert list(answers) == [*([data["ideal_completion"]] if data else []), *references]
    assert Benchmark.objects.get().canary == rows()[0]["canary"]

    before = [list(table.objects.order_by("pk").values()) for table in (Case, Rubric, RubricItem, Response)]
    out = run(SAMPLE)
    assert "cases: 0 created, 120 unchanged" in out
    assert "criteria: 0 created, 1413 unchanged" in out
    assert "responses: 0 created, 427 unchanged" in out
    assert [list(table.objects.order_by("pk").values()) for table in (Case, Rubric, RubricItem, Response)] == before


@pytest.mark.slow
def test_a_file_with_five_broken_lines_imports_nothing_and_names_all_five(tmp_path) -> None:
    lines = SAMPLE.read_text(encoding="utf-8").rstrip("\n").split("\n")
    lines[2] = lines[2][:-40]
    for index, changes in ((10, {"prompt_id": ""}), (50, {"rubrics": []}), (80, {"prompt": "text"})):
        lines[index] = json.dumps({**json.loads(lines[index]), **changes})
    row = json.loads(lines[119])
    row["rubrics"][0]["points"] = "5"
    lines[119] = json.dumps(row)
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    err = io.StringIO()
    with pytest.raises(CommandError, match="5 faults"):
        call_command("import_cases", str(path), "--benchmark", "hb", stderr=err)
    places = [line.split(":")[0] for line in err.getvalue().splitlines()]
    assert places == [
        "line 3, canary", "line 11, prompt_id", "line 51, rubrics", "line 81, prompt", "line 120, rubrics[0].points",
    ]  # fmt: skip
    assert not Benchmark.objects.exists()
    assert not Case.objects.exists()
