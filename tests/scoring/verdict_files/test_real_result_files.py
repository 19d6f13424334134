"""The 120 real cases as published result files: four candidates by one judge, and two physicians who tie 34 times.

The replies are the references that came with the cases, the verdicts and decisions are made up.
"""

from __future__ import annotations

import csv
import json
import os
import random
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Adjudication, ExpertGroup
from annotation.selectors.ratings import group_ratings
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, Case, Response
from scoring.models import JudgeRun, Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
Row = dict[str, Any]
CANDIDATES = ("one", "two", "three", "four")
TIES = 34


def examples() -> list[Row]:
    path = Path(os.environ["CONSILIUM_REAL_DATA"]) / "healthbench_sample.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def result_files(folder: Path, seed: int = 0) -> dict[str, tuple[Path, list[Row]]]:
    """A file for each candidate: the conversation as ``prompt``, the assistant's turn alone beside it."""
    chance = random.Random(seed)
    files = {}
    for place, name in enumerate(CANDIDATES):
        rows = []
        for example in examples():
            replies = (example["ideal_completions_data"] or {}).get("ideal_completions_ref_completions") or []
            if place < len(replies):
                met = [chance.random() < 0.5 for _criterion in example["rubrics"]]
                rows.append(
                    {
                        **{field: example[field] for field in ("prompt_id", "prompt", "rubrics", "example_tags")},
                        "model": name,
                        "prompt_response": [{"role": "assistant", "content": replies[place]}],
                        "responses": [{"response_dict": {"criteria_met": yes, "explanation": ""}} for yes in met],
                        "score": score_of(example["rubrics"], met),
                    }
                )
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        files[name] = path, rows
    return files


def score_of(rubric: list[Row], met: list[bool]) -> float:
    """HealthBench's score of a response: points of what is met by the positive points."""
    best = sum(item["points"] for item in rubric if item["points"] > 0)
    return float(sum(item["points"] for item, yes in zip(rubric, met, strict=True) if yes) / best)


def command(name: str, *paths: Path, **options: Any) -> str:
    out, err = StringIO(), StringIO()
    call_command(name, *map(str, paths), benchmark="real", stdout=out, stderr=err, **options)
    return out.getvalue() + err.getvalue()


def test_four_published_files_give_one_scoreboard_with_four_candidates(tmp_path: Path) -> None:
    files = result_files(tmp_path)
    files = {name: entry for name, entry in files.items() if entry[1]}
    assert not Benchmark.objects.exists()
    output = command("import_verdicts", *(path for path, _rows in files.values()), judge="grader")
    assert f"runs: {len(files)} created" in output
    assert "stored score" not in output  # each row's score is what its grades give here
    rows = [row for _path, of_candidate in files.values() for row in of_candidate]
    assert Case.objects.count() == len({row["prompt_id"] for row in rows})
    assert Response.objects.count() == len(rows)
    assert Verdict.objects.count() == sum(len(row["rubrics"]) for row in rows)
    command("scores", rater="grader", k=5, out=tmp_path / "scores")
    with (tmp_path / "scores" / "scores.csv").open(encoding="utf-8") as file:
        rows_by_candidate = {row["candidate"]: row for row in csv.DictReader(file) if row["slice"] == "overall_score"}
    assert {name: int(row["n"]) for name, row in rows_by_candidate.items()} == {
        name: len(entry[1]) for name, entry in files.items()
    }
    for name, (_path, of_candidate) in files.items():
        expected = min(1.0, max(0.0, fmean(row["score"] for row in of_candidate)))
        assert float(rows_by_candidate[name]["rubric_score"]) == pytest.approx(expected, abs=1e-12)
    again = command("import_verdicts", *(path for path, _rows in files.values()), judge="grader")
    assert f"runs: 0 created, {len(files)} unchanged" in again


def test_three_answers_of_the_judge_count_by_their_majority(tmp_path: Path) -> None:
    folders = [tmp_path / str(seed) for seed in range(3)]
    for folder in folders:
        folder.mkdir()
    files = [result_files(folder, seed)["one"] for seed, folder in enumerate(folders)]
    output = command("import_verdicts", *(path for path, _rows in files), judge="grader", replicates=True)
    assert "runs: 1 created" in output
    assert JudgeRun.objects.get().replicates == 3
    command("scores", rater="grader", k=5, out=tmp_path / "scores")
    with (tmp_path / "scores" / "responses.csv").open(encoding="utf-8") as file:
        scores = {row["case"]: float(row["rubric_score"]) for row in csv.DictReader(file)}
    for same in zip(*(rows for _path, rows in files), strict=True):
        answers = [[response["response_dict"]["criteria_met"] for response in row["responses"]] for row in same]
        majority = [sum(votes) >= 2 for votes in zip(*answers, strict=True)]
        assert scores[same[0]["prompt_id"]] == pytest.approx(score_of(same[0]["rubrics"], majority), abs=1e-12)


def test_two_physicians_with_34_ties_make_34_conflicts(tmp_path: Path) -> None:
    path, rows = result_files(tmp_path)["one"]
    command("import_verdicts", path, judge="grader")
    decisions = [
        {
            "case": row["prompt_id"],
            "candidate": "one",
            "criterion": place,
            "rater": physician,
            "outcome": "not_met" if physician == "P2" and number < TIES and place == 1 else "met",
        }
        for number, row in enumerate(rows)
        for physician in ("P1", "P2")
        for place in range(1, len(row["rubrics"]) + 1)
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps(row) + "\n" for row in decisions), encoding="utf-8")
    output = command("import_decisions", labels, group="A")
    assert f"conflicts: {TIES} created" in output
    assert Adjudication.objects.filter(status="open", adjudicator=None).count() == TIES
    ratings = group_ratings(ExpertGroup.objects.get(), "final")
    assert int((ratings.outcome == Outcome.UNDECIDED).sum()) == TIES
    assert "within groups: 0 conflicts" in command("open_conflicts")
