"""Results of runs made elsewhere and the scores they carry: HealthBench's rows, the official code's files, Inspect."""

from __future__ import annotations

import csv
import json
import random
import sys
import zipfile
from fractions import Fraction
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from rubrics.models import Benchmark, Case, Response, RubricItem
from rubrics.parsing.faults import Faults
from scoring.models import JudgeRun, Verdict
from scoring.verdict_files import Shape, graded_responses
from scoring.verdict_files.inspect_logs import examples_of, inspect_records
from tests.scoring.verdict_files.verdict_lists import Row, load, put_json, put_lines, refused

LOG = json.loads((Path(__file__).parent / "inspect_log.json").read_text(encoding="utf-8"))


def score_of(items: list[Row], met: list[bool]) -> Fraction | None:
    """HealthBench's score, exactly: points of what is met by the positive points."""
    best = sum(item["points"] for item in items if item["points"] > 0)
    reached = sum(item["points"] for item, yes in zip(items, met, strict=True) if yes)
    return Fraction(reached, best) if best else None


def responses_csv(slug: str, out: Path) -> dict[tuple[str, str, int], str]:
    call_command("scores", benchmark=slug, rater="elsewhere", k=1, out=out, stdout=StringIO())
    with (out / "responses.csv").open(encoding="utf-8") as file:
        return {(r["candidate"], r["case"], int(r["sample"])): r["rubric_score"] for r in csv.DictReader(file)}


def rubric(chance: random.Random, key: str) -> list[Row]:
    """Criteria with points of both signs; some texts stand twice, with the same points or others."""
    texts = [f"Criterion {number} of {key}" for number in range(chance.randint(1, 12))]
    texts += chance.choices(texts, k=chance.randint(0, 2))
    signs = chance.choice([(-1, 1), (-1, 1), (1,), (-1,)])
    return [
        {"criterion": text, "points": chance.choice(signs) * chance.randint(1, 10), "tags": ["axis:accuracy"]}
        for text in texts
    ]


def many_rows(chance: random.Random, cases: int = 60) -> list[Row]:
    """Rows of shape (b) with their scores: three candidates, up to three samples each, rubrics in any order."""
    rows = []
    for number in range(cases):
        key = f"p-{number}"
        criteria = rubric(chance, key)
        for candidate in ("omega", "psi", "chi"):
            for sample in range(chance.randint(0, 3)):
                items = chance.sample(criteria, len(criteria))
                met = [chance.random() < 0.5 for _item in items]
                score = score_of(items, met)
                rows.append(
                    {
                        "prompt_id": key,
                        "model": candidate,
                        "score": None if score is None else float(score),
                        "rubrics": items,
                        "prompt_response": [
                            {"role": "user", "content": f"I feel dizzy ({key})."},
                            {"role": "assistant", "content": f"Answer {sample} of {candidate}."},
                        ],
                        "responses": [{"response_dict": {"criteria_met": yes, "explanation": ""}} for yes in met],
                    }
                )
    return rows


@pytest.mark.slow
def test_every_row_has_the_score_that_it_carries(db: None, tmp_path: Path) -> None:
    rows = many_rows(random.Random(4))
    output = load(put_lines(tmp_path / "b.jsonl", rows), "fresh")
    assert "stored score" not in output
    ours = responses_csv("fresh", tmp_path)
    assert len(ours) == len(rows) > 200
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        pair = (row["model"], row["prompt_id"])
        sample = seen[pair] = seen.get(pair, -1) + 1  # by the order of the file
        met = [grade["response_dict"]["criteria_met"] for grade in row["responses"]]
        exact = score_of(row["rubrics"], met)
        score = ours[*pair, sample]
        assert score == "" if exact is None else abs(Fraction(float(score)) - exact) <= Fraction(1, 10**9)
    assert "" in ours.values()  # rubrics without a positive point have none
    again = load(put_lines(tmp_path / "b.jsonl", rows), "fresh")
    assert "runs: 0 created, 1 unchanged" in again
    assert f"cases: 0 created, {len({row['prompt_id'] for row in rows})} unchanged" in again


@pytest.mark.slow
def test_scores_that_their_grades_do_not_give_are_named(db: None, tmp_path: Path) -> None:
    rows = [row for row in many_rows(random.Random(5), 20) if row["score"] is not None]
    for row in rows[3:15]:
        row["score"] += 1e-8
    rows[20]["score"] += 1e-10
    rows[21]["score"] = None
    negative = {**rows[0], "prompt_id": "negative", "score": 0.0}
    negative["rubrics"] = [{**item, "points": -1} for item in negative["rubrics"]]
    output = load(put_lines(tmp_path / "b.jsonl", [*rows, negative]), "fresh")
    assert f"13 of {len(rows)} stored scores do not match their grades" in output
    stored, computed = repr(rows[3]["score"]), repr(rows[3]["score"] - 1e-8)[:8]
    assert f"line 4: stored {stored}, computed {computed}" in output
    assert "line 13: stored" in output
    assert "line 14: stored" not in output  # the first ten
    only = load(put_lines(tmp_path / "n.jsonl", [negative]), "other")
    assert "line 1: stored 0.0, computed undefined: no criterion with positive points" in only


@pytest.mark.slow
def test_the_same_case_with_other_points_is_refused_and_in_another_order_taken(db: None, tmp_path: Path) -> None:
    row = next(row for row in many_rows(random.Random(6), 9) if row["score"] and len(row["rubrics"]) > 5)
    load(put_lines(tmp_path / "b.jsonl", [row]), "fresh")
    [first] = responses_csv("fresh", tmp_path).values()
    other = {**row, "model": "new", "rubrics": row["rubrics"][::-1], "responses": row["responses"][::-1]}
    load(put_lines(tmp_path / "b.jsonl", [other]), "fresh")
    # The judge's name stands for both imports together.
    keys = [(name, row["prompt_id"], 0) for name in (row["model"], "new")]
    assert responses_csv("fresh", tmp_path) == dict.fromkeys(keys, first)
    other["rubrics"] = [{**item, "points": -item["points"]} for item in row["rubrics"]]
    assert "line 1, rubrics: These criteria and points do not match" in refused(
        put_lines(tmp_path / "b.jsonl", [other]), "fresh"
    )


def test_a_sample_that_occurs_twice_is_a_fault(db: None, tmp_path: Path) -> None:
    rows = [row for row in many_rows(random.Random(7), 3) if row["prompt_id"] == "p-0"][:1] * 3
    path = put_lines(tmp_path / "b.jsonl", [{**rows[0], "sample": 1}, rows[1], {**rows[2], "sample": 1}])
    errors = refused(path, "fresh")
    assert errors.count("Sample 1 of this case and candidate is already on line 1") == 2


# Shape (d) --------------------------------------------------------------------------------------------------------


def all_results(n: int = 3, **more: Any) -> Row:
    """A file as the official code writes it: reports and conversations first, then what is read."""
    examples = []
    for number in range(n):
        items = [
            {"criterion": f"Sits {number}", "points": 7, "tags": ["axis:accuracy"], "criteria_met": True},
            {"criterion": "Same", "points": 3.0, "tags": [], "criteria_met": False},
            {"criterion": "Same", "points": -9, "tags": ["level:example"], "criteria_met": number % 2 == 1},
        ]
        prompt = [
            {"role": "system", "content": "You are a model of a named maker."},
            {"role": "user", "content": f"Dizzy {number}."},
        ]
        examples.append(
            {
                "score": (7 - 9 * (number % 2)) / 10,
                "usage": {"input_tokens": None},
                "rubric_items": [{**item, "explanation": f"Because {place}."} for place, item in enumerate(items)],
                "prompt": prompt,
                "completion": [{"content": f"Answer {number}.", "role": "assistant"}],
                "prompt_id": f"p-{number}",
                "completion_id": f"{number:064x}",
                **more,
            }
        )
    return {
        "score": 0.4,
        "metrics": {"overall_score": 0.4, "overall_score:n_samples": n},
        "htmls": ['<p>[{"\\ ]}</p>'] * n,
        "convos": [example["prompt"] for example in examples],
        "metadata": {"example_level_metadata": examples},
    }


@pytest.mark.slow
def test_results_of_the_official_code(db: None, tmp_path: Path) -> None:
    output = load(put_json(tmp_path / "r_allresults.json", all_results()), "fresh", candidate="omega")
    assert "cases: 3 created" in output
    assert "verdicts: 9 created" in output
    assert "stored score" not in output
    ours = responses_csv("fresh", tmp_path)
    assert {case: float(score) for (_name, case, _sample), score in ours.items()} == {
        "p-0": 0.7,
        "p-1": -0.2,
        "p-2": 0.7,
    }
    # What a tool told the model is no part of the case, and would tell physicians whose answer they read.
    assert Case.objects.get(key="p-1").conversation == [{"role": "user", "content": "Dizzy 1."}]
    response = Response.objects.get(case__key="p-1")
    assert (response.text, response.external_id) == ("Answer 1.", f"{1:064x}")
    assert response.metadata["instructions"][0]["role"] == "system"
    assert list(RubricItem.objects.filter(rubric__case__key="p-1").values_list("points", flat=True)) == [7, 3, -9]
    assert Verdict.objects.filter(explanation="Because 2.").count() == 3
    again = load(put_json(tmp_path / "r.json", all_results()), "fresh", candidate="omega")
    assert "responses: 0 created, 3 unchanged" in again
    assert "runs: 0 created, 1 unchanged" in again


def test_samples_of_a_case_may_be_far_apart(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the official code writes several runs of each example: all cases, then all cases once more."""
    monkeypatch.setattr("scoring.services.verdicts.graded.CHUNK", 2)
    whole = all_results()
    whole["metadata"]["example_level_metadata"] *= 2
    output = load(put_json(tmp_path / "r.json", whole), "fresh", candidate="omega")
    assert "cases: 3 created, 0 unchanged" in output
    assert "responses: 6 created" in output
    assert sorted(responses_csv("fresh", tmp_path)) == [
        ("omega", f"p-{n}", sample) for n in range(3) for sample in (0, 1)
    ]


@pytest.mark.parametrize("form", ["one line", "list", "lines"])
def test_the_same_examples_in_other_forms(db: None, tmp_path: Path, form: str) -> None:
    whole = all_results(model="omega", completion="Answer.")
    examples = whole["metadata"]["example_level_metadata"]
    text = {
        "one line": json.dumps({"metadata": whole["metadata"]}),
        "list": json.dumps(examples, indent=1),
        "lines": "\n".join(map(json.dumps, examples)),
    }[form]
    path = tmp_path / "r.json"
    path.write_text(text, encoding="utf-8")
    load(path, "fresh")
    assert Verdict.objects.count() == 9
    assert Response.objects.filter(candidate__name="omega", text="Answer.").count() == 3


@pytest.mark.slow
def test_a_response_that_is_there_keeps_what_it_knows(answered: Benchmark, tmp_path: Path) -> None:
    """Only the text tells whether it is the same response; metadata that one file has and another lacks do not."""
    response = Response.objects.filter(case__key="case-0", candidate__name="alpha").get()
    Response.objects.filter(pk=response.pk).update(metadata={"seed": 3}, external_id="x-1")
    items = [
        {"criterion": f"Criterion {n} of case-0", "points": points, "tags": [], "criteria_met": True, "explanation": ""}
        for n, points in ((1, 5), (2, 3), (3, -4))
    ]
    example = {"prompt_id": "case-0", "rubric_items": items, "completion": response.text, "score": 0.5}
    load(put_json(tmp_path / "r.json", [example]), "answered", candidate="alpha")
    assert Verdict.objects.filter(response=response).count() == 3
    example["completion"] = "Another text"
    assert "[0].completion: This response already exists" in refused(
        put_json(tmp_path / "r.json", [example]), "answered", candidate="alpha"
    )


def test_what_is_wrong_with_results_is_named(answered: Benchmark, tmp_path: Path) -> None:
    whole = all_results(6)
    first, second, third, fourth, fifth, _sixth = whole["metadata"]["example_level_metadata"]
    first["rubric_items"][1]["points"] = 0
    second["rubric_items"] = []
    third["completion"] = [{"role": "assistant"}]
    del fourth["prompt"]
    fifth["prompt_id"] = "case-0"
    path = put_json(tmp_path / "r.json", whole)
    errors = refused(path, "answered", candidate="omega")
    place = "metadata.example_level_metadata"
    for field, words in (
        (f"{place}[0].rubric_items[1].points", "at least one point"),
        (f"{place}[1].rubric_items", "at least one criterion"),
        (f"{place}[2].completion", "list of one turn"),
        (f"{place}[3].prompt_id", "no prompt from which to create it"),
        (f"{place}[4].rubric_items", "criteria and points do not match"),
    ):
        line = next(line for line in errors.splitlines() if f"{field}: " in line)
        assert words in line
        number = int(line.removeprefix("line ").partition(",")[0])
        assert path.read_text(encoding="utf-8").splitlines()[number - 1].strip() == "{"
    assert "candidate: The response has no candidate" in refused(put_json(path, all_results()), "answered")
    assert "no metadata.example_level_metadata" in refused(put_json(path, {"htmls": [], "metadata": {}}), "answered")


# Inspect ----------------------------------------------------------------------------------------------------------


def test_samples_of_an_inspect_log_become_examples() -> None:
    """Samples as its own library read them from a log of inspect_evals' HealthBench."""
    faults, ungraded = Faults(), []
    records = examples_of(LOG["model"], LOG["samples"], faults, ungraded=ungraded.append)
    rows = list(graded_responses(records, faults, Shape.EXAMPLES))
    assert faults.first == []
    assert ungraded == ["p-2/1"]
    assert [(row.key, row.sample, row.candidate) for row in rows] == [
        ("p-0", 0, "mockllm/candidate"),
        ("p-0", 1, "mockllm/candidate"),
        ("p-1", 0, "mockllm/candidate"),
    ]
    assert [grade.outcome for grade in rows[0].grades] == ["met", "not_met", "not_met", "met"]
    assert rows[0].criteria[0].tags == ("axis:accuracy",)  # without the case's own, which stand on each in the log
    assert rows[0].case is not None and rows[0].case.tags == ("theme:hedging",)
    assert rows[0].case.conversation == [{"role": "user", "content": "I feel dizzy (0)."}]
    assert [row.stored_score for row in rows] == [row.score() for row in rows] == [-2 / 13, 1.0, 6 / 13]


def test_points_and_texts_of_the_samples_own_rubric_and_strictness() -> None:
    [sample, *_more] = json.loads(json.dumps(LOG["samples"]))
    for grade in sample["scores"]["_scorer"]["metadata"]["detailed_results"]:
        del grade["points"], grade["tags"]
    faults = Faults()
    [row] = graded_responses(examples_of("m", [sample], faults), faults, Shape.EXAMPLES)
    assert [criterion.points for criterion in row.criteria] == [7, 3, 3, -9]
    sample["output"]["completion"] = "\x00"
    assert list(examples_of("m", [sample], faults)) == []
    assert faults.first[0].field == "samples[p-0/1].completion"
    sample["scores"]["second"] = sample["scores"]["_scorer"]
    list(examples_of("m", [sample], faults := Faults()))
    assert "Several scorers recorded grades" in faults.first[0].message
    list(examples_of("m", LOG["samples"][-1:], faults := Faults()))
    assert "No scorer in this log recorded a grade" in faults.first[0].message


def test_a_log_without_the_library_says_what_to_install(
    answered: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
    with pytest.raises(CommandError, match='pip install "inspect-ai>='):
        load(path, "answered")
    assert not JudgeRun.objects.exists()


def test_a_log_is_read_through_the_library_and_refused_where_it_cannot_be(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for the library gives what it gave; the archive itself is checked first."""
    from types import ModuleType, SimpleNamespace

    log = ModuleType("inspect_ai.log")
    samples = [SimpleNamespace(model_dump=lambda sample=sample, **_kwargs: sample) for sample in LOG["samples"]]
    log.read_eval_log = lambda *_args, **_kwargs: SimpleNamespace(eval=SimpleNamespace(model=LOG["model"]))  # type: ignore[attr-defined]
    log.read_eval_log_samples = lambda *_args, **_kwargs: iter(samples)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "inspect_ai", ModuleType("inspect_ai"))
    monkeypatch.setitem(sys.modules, "inspect_ai.log", log)
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", " " * 10_000)
    output = load(path, "fresh")
    assert "verdicts: 12 created" in output
    assert "1 sample of the log has no grades and was not imported: p-2/1" in output
    assert {key: float(score) for key, score in responses_csv("fresh", tmp_path).items()} == {
        ("mockllm/candidate", "p-0", 0): -2 / 13,
        ("mockllm/candidate", "p-0", 1): 1.0,
        ("mockllm/candidate", "p-1", 0): 6 / 13,
    }
    path.write_bytes(path.read_bytes()[:-40])
    assert "not a valid Inspect log" in refused(path, "fresh")
    monkeypatch.setattr("scoring.verdict_files.inspect_logs.LARGEST_SAMPLE_BYTES", 1000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/p-0_epoch_1.json", " " * 10_000)
    faults = Faults()
    assert list(inspect_records(BytesIO(path.read_bytes()), faults)) == []
    assert "unpacks to more" in faults.first[0].message
