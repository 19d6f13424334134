"""Rubric sets of the 120 public cases: gold, generic, and one of a file in each accepted shape.

The numbers of cases and criteria were counted with a few lines of Python over the lines of the file.
"""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from openpyxl import Workbook

from tests.factories import BenchmarkFactory
from validation.models import RubricSet, RubricSetItem

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

DATA = Path(os.environ["CONSILIUM_REAL_DATA"])
FILE = DATA / "healthbench_sample.jsonl"
LINES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
N_CRITERIA = 1413
N_EIGHT_TO_TEN, N_THREE_AXES, N_BOTH = 23, 42, 6


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("rubric_set", "--benchmark", "bench", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def axis_of(criterion: dict[str, Any]) -> str:
    return next(tag.removeprefix("axis:") for tag in criterion["tags"] if tag.startswith("axis:"))


@pytest.fixture
def gold() -> RubricSet:
    BenchmarkFactory(slug="bench")
    call_command("import_cases", str(FILE), "--benchmark", "bench", stdout=io.StringIO(), stderr=io.StringIO())
    run("--name", "gold", "--track", "gold")
    return RubricSet.objects.get(name="gold")


def test_the_gold_set_has_the_physicians_criteria(gold: RubricSet) -> None:
    assert (gold.origin, gold.case_count, gold.item_count) == ("gold", len(LINES), N_CRITERIA)
    assert len(LINES) == 120
    expected = [
        (line["prompt_id"], place, each["criterion"], each["points"], axis_of(each))
        for line in LINES
        for place, each in enumerate(line["rubrics"], start=1)
    ]
    items = RubricSetItem.objects.filter(rubric_set=gold).order_by("case_id", "position")
    assert list(items.values_list("case__key", "position", "text", "points", "axis")) == expected
    assert not items.filter(criterion=None).exists()


def _own_shape(name: str, reference: str, form: str) -> str:
    rows = []
    for place, line in enumerate(LINES):
        criteria = [
            {"criterion": each["criterion"], "points": each["points"]}
            | ({"axis": axis_of(each)} if form == "axis" else {"tags": [f"axis:{axis_of(each)}"]})
            for each in line["rubrics"]
        ]
        rows.append({reference: place if reference == "index" else line["prompt_id"], name: criteria})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def test_a_file_in_each_shape_makes_the_same_set(gold: RubricSet, tmp_path: Path) -> None:
    columns = ("case", "position", "criterion", "points", "axis")
    # Written last place first, so that the order of criteria is that of their positions. A cell keeps no blanks around
    # a text, and some criteria have them.
    table = [
        (line["prompt_id"], place, each["criterion"].strip(), each["points"], axis_of(each))
        for line in LINES
        for place, each in reversed(list(enumerate(line["rubrics"], start=1)))
    ]
    with (tmp_path / "table.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *table])
    book = Workbook()
    for row in [columns, *table]:
        book.worksheets[0].append(list(row))
    book.save(tmp_path / "table.xlsx")
    (tmp_path / "index.jsonl").write_text(_own_shape("generated_rubrics", "index", "axis"), encoding="utf-8")
    (tmp_path / "case.jsonl").write_text(_own_shape("rubrics", "case", "tags"), encoding="utf-8")
    (tmp_path / "healthbench.jsonl").write_bytes(FILE.read_bytes())
    for path in sorted(tmp_path.iterdir()):
        run("--name", path.name, "--file", str(path))
    digests = dict(RubricSet.objects.filter(origin="file").values_list("name", "digest"))
    assert {digests[name] for name in ("index.jsonl", "case.jsonl", "healthbench.jsonl")} == {gold.digest}
    tables = RubricSet.objects.filter(name__startswith="table")
    assert len(set(tables.values_list("digest", flat=True))) == 1
    for row in tables:
        items = RubricSetItem.objects.filter(rubric_set=row).order_by("case_id", "position")
        texts = [each["criterion"].strip() for line in LINES for each in line["rubrics"]]
        assert [text.strip() for text in items.values_list("text", flat=True)] == texts


def test_the_generic_set_has_six_criteria_a_case_in_its_language(gold: RubricSet) -> None:
    run("--name", "generic", "--generic")
    row = RubricSet.objects.get(name="generic")
    assert (row.case_count, row.item_count) == (120, 720)
    chinese = row.items.filter(case__language="zh", text__contains="就医")
    assert chinese.count() == 2
    assert not row.items.exclude(case__language="zh").filter(text__contains="就医").exists()


def test_the_frame_of_the_paper_finds_23_cases_by_its_first_condition(gold: RubricSet) -> None:
    english = gold.benchmark.cases.filter(language="en").count()
    printed = run("--name", "f", "--track", "gold", "--criteria", "8-10", "--axes", "3", "--language", "en")
    row = RubricSet.objects.get(name="f")
    steps = [(step["condition"], step["value"], step["alone"], step["together"]) for step in row.frame["funnel"]]
    assert steps[:4] == [
        ("included", "", 120, 120),
        ("track", "gold", 120, 120),
        ("criteria", "8-10", N_EIGHT_TO_TEN, N_EIGHT_TO_TEN),
        ("axes", "3", N_THREE_AXES, N_BOTH),
    ]
    of_both = {
        line["prompt_id"]
        for line in LINES
        if 8 <= len(line["rubrics"]) <= 10 and len({axis_of(each) for each in line["rubrics"]}) == 3
    }
    left = gold.benchmark.cases.filter(language="en", key__in=of_both)
    assert steps[4] == ("language", "en", english, left.count())
    assert set(row.items.values_list("case__key", flat=True)) == set(left.values_list("key", flat=True))
    (line,) = [line for line in printed.splitlines() if "Number of criteria" in line]
    assert [cell.strip() for cell in line.split("│")[1:5]] == ["Number of criteria", "8-10", "23", "23"]


def test_faults_of_a_file_leave_nothing_behind(gold: RubricSet, tmp_path: Path) -> None:
    lines = [dict(line) for line in LINES[:3]]
    lines[0]["rubrics"] = [{"criterion": "A", "points": 12, "axis": "accuracy"}]
    lines[1]["rubrics"] = [{"criterion": "B", "points": "many"}, {"criterion": "C", "points": 2, "axis": "wisdom"}]
    path = tmp_path / "broken.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    faults = io.StringIO()
    with pytest.raises(CommandError, match="3 faults refused, no set was made"):
        call_command(
            "rubric_set", "--benchmark", "bench", "--name", "x", "--file", str(path), stdout=faults, stderr=faults
        )
    places = [line.partition(":")[0] for line in faults.getvalue().splitlines()]
    assert places == ["line 1, rubrics[0].points", "line 2, rubrics[0].points", "line 2, rubrics[1].axis"]
    assert list(RubricSet.objects.values_list("name", flat=True)) == ["gold"]
    printed = run("--name", "x", "--file", str(path), "--mend", "--out", str(tmp_path / "out"))
    assert f"x: 3 cases, {2 + len(lines[2]['rubrics'])} criteria, 3 mends" in printed
    with (tmp_path / "out" / "mends.csv").open(encoding="utf-8", newline="") as file:
        mends = [(row["line"], row["how"], row["before"], row["after"]) for row in csv.DictReader(file)]
    assert mends == [
        ("1", "clamped", "12", "10"),
        ("2", "dropped", "many", ""),
        ("2", "axis_emptied", "wisdom", ""),
    ]
