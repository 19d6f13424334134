"""``import_meta_eval``: labelled pairs become cases, responses, criteria and one decision for each label."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Assignment, Batch, Decision, ExpertGroup, Physician
from annotation.selectors.ratings import group_ratings, physician_ratings
from rubrics.models import Benchmark, Case, Criterion, Response, Rubric
from tests.factories import BenchmarkFactory, CaseFactory, publish_rubric

pytestmark = pytest.mark.django_db


def pair(prompt: str = "p1", completion: str = "c1", rubric: str = "Is clear.", **changes: Any) -> dict[str, Any]:
    return {
        "prompt_id": prompt,
        "prompt": [{"role": "user", "content": f"My knee hurts, says {prompt}."}],
        "completion_id": completion,
        "completion": f"Rest it. ({completion})",
        "rubric": rubric,
        "category": "cluster:hedging_clear",
        "binary_labels": [True, False],
        "anonymized_physician_ids": ["D1", "D2"],
        **changes,
    }


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(each) for each in rows), encoding="utf-8")
    return path


def run(path: Path, *options: str) -> str:
    out = io.StringIO()
    call_command("import_meta_eval", str(path), "--benchmark", "bench", *options, stdout=out)
    return out.getvalue()


def refused(path: Path) -> list[str]:
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_meta_eval", str(path), "--benchmark", "bench", stderr=err)
    return err.getvalue().splitlines()


ROWS = [
    pair(),
    pair(rubric="Is kind.", category="cluster:kind", binary_labels=[True], anonymized_physician_ids=["D3"]),
    pair(completion="c2", binary_labels=[False, False, False], anonymized_physician_ids=["D1", "D2", "D3"]),
    pair(prompt="p2", completion="c3"),
]


def test_each_label_becomes_a_decision(tmp_path) -> None:
    out = run(write(tmp_path / "m", ROWS))
    assert "cases: 2 created, 0 unchanged" in out
    assert "criteria: 3 created" in out
    assert "responses: 3 created, 0 unchanged" in out
    assert "physicians: 3 created" in out
    assert "decisions: 8 created, 0 unchanged" in out
    case = Case.objects.get(key="p1")
    items = case.rubrics.get().items.values_list("criterion__text", "points", "tags")
    assert list(items) == [("Is clear.", 1, ["cluster:hedging_clear"]), ("Is kind.", 1, ["cluster:kind"])]
    samples = Response.objects.filter(case=case).values_list("external_id", "sample", "text", "candidate__name")
    assert list(samples) == [
        ("c1", 0, "Rest it. (c1)", "meta-eval completions"),
        ("c2", 1, "Rest it. (c2)", "meta-eval completions"),
    ]
    batch = Batch.objects.get()
    assert (batch.status, batch.imported, batch.group.name) == ("closed", True, "meta-evaluation")
    # c1: D1, D2, D3; c2: D1, D2, D3; c3: D1, D2
    assert Assignment.objects.count() == 8
    benchmark = Benchmark.objects.get()
    assert physician_ratings(benchmark, "D1").outcome.tolist() == [1, 0, 1]
    # True and false are a tie (4), three times false is not met.
    assert sorted(group_ratings(ExpertGroup.objects.get(), "first").outcome.tolist()) == [0, 1, 4, 4]


@pytest.mark.slow
def test_a_second_run_changes_nothing_and_more_pairs_are_added(tmp_path) -> None:
    run(write(tmp_path / "m", ROWS))
    tables = (Case, Criterion, Rubric, Response, Batch, Assignment, Decision, Physician)
    before = [list(table.objects.order_by("pk").values()) for table in tables]
    out = run(write(tmp_path / "m", ROWS))
    assert "decisions: 0 created, 8 unchanged" in out
    assert [list(table.objects.order_by("pk").values()) for table in tables] == before
    assert "decisions: 2 created, 8 unchanged" in run(
        write(tmp_path / "m", [*ROWS, pair(prompt="p2", completion="c4")])
    )
    assert Response.objects.get(external_id="c4").sample == 1


@pytest.mark.slow
def test_a_case_that_is_there_keeps_its_rubric(tmp_path) -> None:
    benchmark = BenchmarkFactory(slug="bench")
    case = CaseFactory(benchmark=benchmark, key="p1", rubric=0, conversation=pair()["prompt"])
    publish_rubric(case, [5, -3], texts=["Is clear.", "Harms."])
    case.rubrics.get()
    run(write(tmp_path / "m", [pair()]))
    gold, beside = case.rubrics.order_by("pk")
    assert (gold.track, gold.items.count(), gold.status) == ("gold", 2, "published")
    assert (beside.track, beside.status) == ("meta_eval", "published")
    # Later rows for the case make the next version; decisions keep their criterion.
    first = Decision.objects.values_list("criterion_id", flat=True)[0]
    run(write(tmp_path / "m", [pair(), pair(completion="c9", rubric="Is short.")]))
    versions = case.rubrics.filter(track="meta_eval").order_by("version")
    assert [rubric.status for rubric in versions] == ["superseded", "published"]
    assert versions[1].items.filter(criterion_id=first).exists()
    assert versions[1].items.count() == 2


OTHER_TURN = {"role": "user", "content": "Something else."}
FAULTS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "fewer physicians than labels": ([pair(anonymized_physician_ids=["D1"])], "line 1, anonymized_physician_ids"),
    "a physician twice in a row": ([pair(anonymized_physician_ids=["D1", "D1"])], "line 1, anonymized_physician_ids"),
    "a label that is no boolean": ([pair(binary_labels=[True, 1])], "line 1, binary_labels[1]"),
    "no labels": ([pair(binary_labels=[], anonymized_physician_ids=[])], "line 1, binary_labels"),
    "no texts": ([pair() | {"prompt": None}], "line 1, prompt"),
    "another prompt": ([pair(), pair(completion="c2") | {"prompt": [OTHER_TURN]}], "line 2, prompt"),
    "another completion": ([pair(), pair(rubric="Other.") | {"completion": "x"}], "line 2, completion"),
    "a completion of two prompts": ([pair(), pair(prompt="p2")], "line 2, completion_id"),
    "the same pair and physician twice": ([pair(), pair()], "line 2, criterion"),
}


@pytest.mark.parametrize(("rows", "place"), FAULTS.values(), ids=FAULTS.keys())
def test_faults_are_named_and_nothing_is_imported(tmp_path, rows, place) -> None:
    faults = refused(write(tmp_path / "m", rows))
    assert faults[0].split(":")[0] == place
    assert not Benchmark.objects.exists()
    assert not Physician.objects.exists()


def test_label_rows_without_texts_are_one_fault_with_the_command_that_reads_them(tmp_path) -> None:
    BenchmarkFactory(slug="bench")
    texts = ("prompt", "completion", "rubric")
    labels = [{name: value for name, value in row.items() if name not in texts} for row in ROWS]
    (fault,) = refused(write(tmp_path / "labels.jsonl", labels))
    assert fault.startswith("line 1: Lines that lack prompt, completion, rubric: 4, this one is the first.")
    assert "“manage.py agreement_file”" in fault
    judged = [{"item_id": f"i{n}", "criteria_met": True, "rationale": "So."} for n in range(70)]
    (fault, *_rest) = refused(write(tmp_path / "judge.jsonl", judged))
    assert "rubric: 70, this one is the first." in fault
    # A row that has some of the texts is an error of its own.
    first, *others = ROWS
    faults = refused(write(tmp_path / "mixed.jsonl", [{**first, "rubric": None}, *others]))
    assert any("line 1, rubric" in fault for fault in faults), faults
