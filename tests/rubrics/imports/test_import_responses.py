"""``import_responses``: rows of several spellings, candidates made on the way, texts that never change."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from rubrics.models import Candidate, Response
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory
from tests.rubrics.imports.files import write

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Any:
    benchmark = BenchmarkFactory(slug="bench")
    for key in ("a", "b"):
        CaseFactory(benchmark=benchmark, key=key)
    return benchmark


def run(path: Path, *options: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("import_responses", str(path), "--benchmark", "bench", *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(path: Path, *options: str) -> list[str]:
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_responses", str(path), "--benchmark", "bench", *options, stderr=err)
    return err.getvalue().splitlines()


def test_rows_of_every_spelling_arrive(tmp_path, benchmark) -> None:
    rows = [
        {"case": "a", "candidate": "m1", "sample": 0, "response": "One."},
        {"prompt_id": "b", "model": "m1", "completion": "Two."},
        {"case_id": "a", "candidate": "m2", "sample": 3, "response": "", "setting": "tools", "external_id": 17,
         "metadata": {"temperature": 0.5}, "seed": 4},
    ]  # fmt: skip
    out, _err = run(write(tmp_path / "r.jsonl", rows))
    assert "candidates: 2 created, 0 unchanged" in out
    assert "responses: 3 created, 0 unchanged" in out
    stored_rows = Response.objects.order_by("pk").values_list(
        "case__key", "candidate__name", "sample", "text", "setting", "external_id", "metadata"
    )
    assert list(stored_rows) == [
        ("a", "m1", 0, "One.", "chat", "", {}),
        ("b", "m1", 0, "Two.", "chat", "", {}),
        ("a", "m2", 3, "", "tools", "17", {"temperature": 0.5, "seed": 4}),
    ]
    assert set(Candidate.objects.values_list("kind", flat=True)) == {"model"}
    again, _err = run(write(tmp_path / "r.jsonl", rows))
    assert "responses: 0 created, 3 unchanged" in again
    for name in ("metadata", "seed", "external_id"):  # as a release writes it
        del rows[2][name]
    again, _err = run(write(tmp_path / "r.jsonl", rows))
    assert "responses: 0 created, 3 unchanged" in again


def test_kind_and_candidate_can_be_given_for_the_whole_file(tmp_path, benchmark) -> None:
    rows = [
        {"case": "a", "response": "One.", "writing_mode": "unaided"},
        {"case": "b", "response": "Two.", "candidate": "ignored"},
    ]
    run(write(tmp_path / "r.jsonl", rows), "--kind", "physician", "--candidate", "Dr. Who")
    assert list(Candidate.objects.values_list("name", "kind")) == [("Dr. Who", "physician")]
    first, second = Response.objects.order_by("pk")
    assert (first.writing_mode, second.metadata) == ("unaided", {"candidate": "ignored"})


def test_faults_are_named_and_nothing_is_imported(tmp_path, benchmark) -> None:
    CandidateFactory(benchmark=benchmark, name="known", kind="physician")
    ok = {"case": "a", "candidate": "m", "response": "x"}
    rows = [
        ok,
        {**ok, "case": "nowhere", "sample": 1},
        {"case": "a", "response": "x"},
        {"case": "a", "candidate": "m", "sample": 2},
        {**ok, "sample": -1},
        {**ok, "sample": "0"},
        ok,
        {**ok, "sample": 7, "candidate": "known"},
        {**ok, "sample": 8, "prompt_id": "b"},
        {**ok, "sample": 9, "writing_mode": "drunk"},
    ]
    faults = refused(write(tmp_path / "r.jsonl", rows), "--kind", "model")
    assert sorted(fault.split(":")[0] for fault in faults) == [
        "line 10, writing_mode", "line 2, case", "line 3, candidate", "line 4, response", "line 5, sample",
        "line 6, sample", "line 7, sample", "line 8, candidate", "line 9, prompt_id",
    ]  # fmt: skip
    assert not Response.objects.exists()
    assert Candidate.objects.count() == 1


def test_responses_to_cases_that_are_not_there_are_one_fault_that_says_what_to_do(tmp_path, benchmark) -> None:
    rows = [{"case": f"x{n}", "candidate": "m", "response": "x"} for n in range(1, 6)]
    assert refused(write(tmp_path / "r.jsonl", [{"case": "a", "candidate": "m", "response": "x"}, *rows])) == [
        "line 2, case: 5 lines name cases that are not in this benchmark (“x1”, “x2”, “x3” …). "
        "Import these cases first, or correct the short names."
    ]
    table = tmp_path / "r.csv"
    table.write_text("case,candidate,response\nx1,m,one\na,m,two\nx2,m,three\n")
    assert refused(table) == [
        "line 2, case: 2 rows name cases that are not in this benchmark (“x1”, “x2”). "
        "Import these cases first, or correct the short names."
    ]
    table.write_text("case,candidate,response\na,m,two\nx2,m,three\n")
    assert refused(table) == ["line 3, case: There is no case “x2” in this benchmark."]


def test_a_response_never_changes(tmp_path, benchmark) -> None:
    row = {"case": "a", "candidate": "m", "response": "x"}
    run(write(tmp_path / "r.jsonl", [row]))
    assert refused(write(tmp_path / "r.jsonl", [{**row, "response": "y"}]))[0].startswith("line 1, response: ")
    fault = refused(write(tmp_path / "r.jsonl", [{**row, "external_id": "y"}]))[0]
    assert fault.startswith("line 1, external_id: ")
    assert "give it a new sample number or the name of a new candidate" in fault
    # Both ways work.
    run(
        write(tmp_path / "r.jsonl", [{**row, "response": "y", "sample": 1}, {**row, "response": "y", "candidate": "n"}])
    )
    Response.objects.exclude(candidate__name="m", sample=0).delete()
    assert Response.objects.get().text == "x"


NAMES_ITSELF = [
    "As GPT-4, I cannot examine you.",
    "I'm ChatGPT and I think you should rest.",
    "I am an AI language model, not a doctor.",
    "I was trained by Anthropic to be careful.",
    "作为通义千问，我建议就医。",
    "我是一个人工智能，无法诊断。",
    "Here wombat-9b says: rest.",
]
NAMES_NOBODY = [
    "As a rule, rest is best. I am sure it passes.",
    "A language barrier may be a problem; an AI scan is not needed.",
    "Claude Bernard described it first. Gemini is a sign of the zodiac.",
    "如果是细菌感染，请及时就医。",
]


def test_responses_that_name_their_author_are_flagged(tmp_path, benchmark) -> None:
    rows = [
        {"case": "a", "candidate": "wombat-9b", "sample": n, "response": text}
        for n, text in enumerate(NAMES_ITSELF + NAMES_NOBODY)
    ]
    _out, err = run(write(tmp_path / "r.jsonl", rows))
    assert f"note: {len(NAMES_ITSELF)} responses seem to reveal who wrote them" in err
    flagged = Response.objects.filter(metadata__has_key="self_identification").values_list("text", flat=True)
    assert set(flagged) == set(NAMES_ITSELF)
    again, _err = run(write(tmp_path / "r.jsonl", rows))
    assert f"0 created, {len(rows)} unchanged" in again


def test_references_shown_are_kept_and_must_be_there_once_the_file_is_read(tmp_path, benchmark) -> None:
    aided = {"case": "a", "candidate": "doctor", "response": "Better.", "writing_mode": "aided"}
    rows = [
        {**aided, "references": ["m1", {"candidate": "m2", "sample": 1}]},
        {"case": "a", "candidate": "m1", "response": "One."},
        {"case": "a", "candidate": "m2", "sample": 1, "response": "Two."},
        # Not by a writer: a field of its own, such as the sources that a model cites.
        {"case": "b", "candidate": "m1", "response": "One.", "references": "Smith 2020"},
    ]
    out, _err = run(write(tmp_path / "r.jsonl", rows))
    assert "responses: 4 created, 0 unchanged" in out
    stored = dict(Response.objects.values_list("text", "metadata"))
    assert stored["Better."] == {"references": ["m1", {"candidate": "m2", "sample": 1}]}
    assert Response.objects.get(case__key="b").metadata == {"references": "Smith 2020"}
    again, _err = run(write(tmp_path / "r.jsonl", rows))
    assert "responses: 0 created, 4 unchanged" in again


def test_faults_of_references_name_line_and_field(tmp_path, benchmark) -> None:
    aided = {"case": "a", "candidate": "doctor", "response": "x", "writing_mode": "aided"}
    shapes = [
        {**aided, "references": "m1"},
        {**aided, "sample": 1, "references": ["m1", 3, ""]},
        {**aided, "sample": 2, "references": [{"candidate": "m1", "sample": -1}]},
        {**aided, "sample": 3, "writing_mode": "unaided", "references": ["m1"]},
    ]
    assert refused(write(tmp_path / "r.jsonl", shapes)) == [
        "line 1, references: This must be a list, not text.",
        "line 2, references[1]: This must be an object, not a number.",
        "line 2, references[2].candidate: This must not be empty.",
        "line 3, references[0].sample: -1 is not between 0 and 2147483647.",
        "line 4, references: An unaided response has no references.",
    ]
    missing = [
        {"case": "a", "candidate": "m1", "response": "One."},
        {**aided, "references": ["m1", "m2"]},
        {**aided, "case": "b", "references": ["m1"]},
        {**aided, "sample": 1, "references": [{"candidate": "m1", "sample": 1}]},
    ]
    assert refused(write(tmp_path / "r.jsonl", missing)) == [
        "line 2, references[1]: There is no response of “m2” to this case.",
        "line 3, references[0]: There is no response of “m1” to this case.",
        "line 4, references[0]: There is no sample 1 of “m1” for this case.",
    ]
    assert not Response.objects.exists()


def test_a_table_names_references_in_one_cell(tmp_path, benchmark) -> None:
    (tmp_path / "r.csv").write_text(
        "case,candidate,response,writing_mode,References\n"
        "a,m1,One.,,see Smith 2020\na,m2,Two.,,\na,doctor,Better.,aided,m1; m2\n",
        encoding="utf-8",
    )
    run(tmp_path / "r.csv")
    stored = dict(Response.objects.values_list("text", "metadata"))
    assert stored["Better."] == {"references": ["m1", "m2"]}
    assert stored["One."] == {"References": "see Smith 2020"}
    assert stored["Two."] == {}
