"""``import_acuity``: labels, readings and stubs, all of a file or nothing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from rubrics.acuity import services
from rubrics.acuity.schemes import How, Mapped, Scheme
from rubrics.acuity.stored import scale_of, scheme_of
from rubrics.models import AcuityImport, Benchmark, Case, LabelScheme, SourceLabel
from scoring.acuity.selectors import readings_csv, scales_with_readings, series_rows
from scoring.models import AcuityReading
from tests.scoring.acuity.acuity_files import VIGNETTES, command, jsonl, result, table_sizes, write

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

THREE: dict[str, Any] = {"dataset": "d", "scheme": "em-ne-sc", "scale": "three"}


@pytest.fixture
def vignettes(tmp_path: Path) -> Path:
    return write(tmp_path, "vignettes.jsonl", jsonl(*VIGNETTES))


def refused(*paths: Path, match: str, **options: Any) -> None:
    """The import is refused with these words, and no table has another row."""
    before = table_sizes()
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_acuity", *map(str, paths), benchmark="bench", stdout=out, stderr=out, **options)
    assert match in out.getvalue(), out.getvalue()
    assert table_sizes() == before


def states() -> list[tuple[Any, ...]]:
    rows = AcuityReading.objects.order_by("candidate__name", "format", "case__key", "sample", "pk")
    return list(rows.values_list("candidate__name", "case__key", "sample", "state", "level"))


def test_vignettes_and_results_of_two_models_meet(tmp_path: Path, vignettes: Path) -> None:
    assert "cases: 3 created" in command(vignettes, **THREE)
    assert [case.conversation[0]["content"] for case in Case.objects.order_by("key")][1] == "A cough for three weeks."
    assert Case.objects.get(key="d-0001").metadata["acuity"]["correct_diagnosis"] == "Infarction"
    first = jsonl(result(1, "em", "em", correct=True), result(2, "ne", "sc", correct=True), result(3, "sc", "NE"))
    second = jsonl(
        result(1, "em", "I cannot help with that."), result(2, "ne", "banana"), result(3, "sc", "", correct=True)
    )
    out = command(write(tmp_path, "one.jsonl", first), write(tmp_path, "two.jsonl", second), **THREE)
    assert "readings: 5 created" in out
    assert "missing readings: 1 created" in out
    # The flag of line 2 says that sc is right for ne; what was not given is neither right nor wrong.
    assert "1 stored flag contradicts its label and level (lines 2)" in out
    assert states() == [
        ("one", "d-0001", 0, "level", 2),
        ("one", "d-0002", 0, "level", 0),
        ("one", "d-0003", 0, "level", 1),
        ("two", "d-0001", 0, "refused", None),
        ("two", "d-0002", 0, "invalid", None),
        ("two", "d-0003", 0, "missing", None),
    ]
    assert AcuityReading.objects.get(state="invalid").text == "banana"
    assert not Case.with_stubs.filter(is_stub=True).exists()


def test_the_same_files_again_change_nothing(tmp_path: Path, vignettes: Path) -> None:
    results = write(tmp_path, "one.jsonl", jsonl(result(1, "em", "em"), result(2, "ne", ""), result(3, "sc", "x")))
    command(vignettes, results, **THREE)
    before = table_sizes()
    out = command(vignettes, results, **THREE)
    assert "labels: 0 created, 6 unchanged" in out  # three in each file
    assert "readings: 0 created, 2 unchanged" in out
    assert "missing readings: 0 created, 1 unchanged" in out
    assert table_sizes() == before


def test_stubs_get_their_text_later(tmp_path: Path, vignettes: Path) -> None:
    results = write(tmp_path, "one.jsonl", jsonl(result(1, "em", "em"), result(2, "ne", "ne")))
    assert "stubs: 2 created" in command(results, **THREE)
    assert not Case.objects.exists()
    assert Case.with_stubs.count() == 2
    command(vignettes, **THREE)
    assert [case.key for case in Case.objects.order_by("key")] == ["d-0001", "d-0002", "d-0003"]
    assert AcuityReading.objects.filter(case__is_stub=False).count() == 2


def test_rows_without_a_rule_are_refused_with_label_line_and_number(tmp_path: Path) -> None:
    rows = [result(1, "em", "em"), result(2, "urgent", "em"), result(3, "urgent", "em")]
    path = write(tmp_path, "one.jsonl", jsonl(*rows))
    refused(path, match="line 2, true_urgency: The scheme em-ne-sc has no rule for “urgent”.", **THREE)
    refused(path, match="“urgent” appears in 2 rows.", **THREE)


def test_another_text_label_or_answer_is_refused(tmp_path: Path, vignettes: Path) -> None:
    command(vignettes, write(tmp_path, "one.jsonl", jsonl(result(1, "em", "em"))), **THREE)
    other_text = [{**VIGNETTES[0], "case_description": "Something else."}, *VIGNETTES[1:]]
    message = "line 1, text: The case “d-0001” is stored with a different text"
    refused(write(tmp_path, "other.jsonl", jsonl(*other_text)), match=message, **THREE)
    other_label = [VIGNETTES[0], {**VIGNETTES[1], "urgency_level": "em"}]
    message = "line 2, label: The case “d-0002” already has a different label in this dataset: “ne”."
    refused(write(tmp_path, "other.jsonl", jsonl(*other_label)), match=message, **THREE)
    other = write(tmp_path / "..", "one.jsonl", jsonl(result(2, "ne", "ne"), result(1, "em", "ne")))
    refused(other, match="line 2, sample: “one” has a different answer in this sample: line 1 of one.jsonl.", **THREE)


def test_the_same_level_in_other_words_is_the_same_answer(tmp_path: Path) -> None:
    command(write(tmp_path, "one.jsonl", jsonl(result(1, "em", "em"), result(2, "em", "banana"))), **THREE)
    other = jsonl(result(1, "em", "Emergency"), result(2, "em", "invalid"))
    assert "readings: 0 created, 2 unchanged" in command(write(tmp_path, "one.jsonl", other), **THREE)
    other = jsonl(result(2, "em", "apple"))
    refused(write(tmp_path, "one.jsonl", other), match="line 1, sample: “one” has a different answer", **THREE)


def test_another_confidence_is_refused(tmp_path: Path) -> None:
    text = "case,candidate,level,confidence\na,M,emergency,{}\nb,M,,\n"
    command(write(tmp_path, "one.csv", text.format(86)), dataset="d")
    assert AcuityReading.objects.get(state="level").confidence == 0.86
    assert "readings: 0 created, 1 unchanged" in command(write(tmp_path, "two.csv", text.format(0.86)), dataset="d")
    assert "readings: 0 created, 1 unchanged" in command(write(tmp_path, "no.csv", text.format("")), dataset="d")
    other = write(tmp_path, "three.csv", text.format(87))
    refused(
        other, match="line 2, confidence: “M” has a different confidence in this sample: line 2 of one.csv", dataset="d"
    )


def test_files_of_one_candidate_are_its_samples_in_each_format(tmp_path: Path) -> None:
    first, second, third = (
        write(tmp_path, f"{n}.jsonl", jsonl(result(1, "em", answer))) for n, answer in enumerate(("em", "ne", "sc"))
    )
    command(first, second, candidate="M", **THREE)
    command(third, candidate="M", **THREE)
    assert states() == [
        ("M", "d-0001", 0, "level", 2),
        ("M", "d-0001", 1, "level", 1),
        ("M", "d-0001", 2, "level", 0),
    ]
    command(write(tmp_path, "chat.jsonl", jsonl(result(1, "em", "ne"))), candidate="M", reading_format="chat", **THREE)
    assert AcuityReading.objects.get(format="chat").sample == 0
    before = table_sizes()
    command(first, second, third, candidate="M", **THREE)
    assert table_sizes() == before


def test_a_missing_answer_may_come_later(tmp_path: Path) -> None:
    head = "case,candidate,level\n"
    command(write(tmp_path, "one.csv", f"{head}a,M,\nb,M,NA\n"), dataset="d")
    assert {state for *_rest, state, _level in states()} == {"missing"}
    command(write(tmp_path, "two.csv", f"{head}a,M,emergency\n"), dataset="d")
    assert ("M", "a", 0, "level", 3) in states()
    # Of two answers that were missing, one still is.
    [row] = series_rows(Benchmark.objects.get())
    assert (row.cases, row.readings, row.usable, row.missing) == (2, 1, 1, 1)
    [scale] = scales_with_readings(Benchmark.objects.get())
    assert [(case, level) for case, _name, _format, _sample, level, _c in readings_csv(scale)] == (
        [("a", "emergency"), ("b", "")]
    )


def test_nothing_is_read_as_a_level_by_default(tmp_path: Path) -> None:
    answers = ["refused", "no-level", "several", "invalid", "emergency|self-care", "", "nan", "level 3", "0", "D"]
    rows = "".join(f"c{n},M,{answer}\n" for n, answer in enumerate(answers))
    command(write(tmp_path, "one.csv", f"case,candidate,level\n{rows}"), dataset="d")
    by_case = {case: (state, level) for _name, case, _sample, state, level in states()}
    expected = ["refused", "no-level", "several", "invalid", "several", "missing", "missing", *["invalid"] * 3]
    assert [by_case[f"c{n}"] for n in range(10)] == [(state, None) for state in expected]


def test_a_row_whose_cells_all_stood_before_is_read_and_refused_like_any_other(tmp_path: Path) -> None:
    head = "case,candidate,sample,level,confidence,reference,extra\n"
    rows = [
        "a,M,0,emergency,0.5,emergency,",  # line 2
        "a,M,1,,NA,emergency,",
        "a,M,2,self-care,,emergency,",
        "a,M,3,no idea,0.25,emergency,x",
    ]
    out = command(write(tmp_path, "one.csv", head + "\n".join(rows)), dataset="d")
    assert "Columns that were not read: extra." in out
    assert [row[2:] for row in states()] == [
        (0, "level", 3), (1, "missing", None), (2, "level", 0), (3, "invalid", None),
    ]  # fmt: skip
    assert list(AcuityReading.objects.order_by("sample").values_list("confidence", flat=True)) == [
        0.5,
        None,
        None,
        0.25,
    ]
    bad = [
        "a,M,0,self-care,0.5,emergency,",  # line 6: this sample stands in line 2
        "a,M,2,emergency,140,emergency,",
        "a,M,3,emergency,0.5,self-care,",
        "a,all,3,emergency,0.5,emergency,",
    ]
    two = write(tmp_path, "two.csv", head + "\n".join([*rows, *bad]))
    for match in (
        "line 6, sample: The candidate already has this sample, in line 2 of two.csv.",
        "line 7, confidence: A confidence must be a number from 0 to 100.",
        "line 8, reference: The case has a different label earlier: “emergency”.",
        "line 9, candidate: A candidate cannot be called “all”.",
    ):
        refused(two, match=match, dataset="d")


def test_two_copies_of_a_file_are_no_two_samples(tmp_path: Path) -> None:
    content = jsonl(result(1, "em", "em"))
    paths = [write(tmp_path, name, content) for name in ("one.jsonl", "two.jsonl")]
    with pytest.raises(CommandError, match=r"two\.jsonl is byte for byte .*one\.jsonl"):
        command(*paths, candidate="M", **THREE)
    assert not AcuityReading.objects.exists()
    # Without a name each file is a candidate of its own, and the second says so.
    assert "This file was already imported as “one” (one.jsonl)." in command(*paths, **THREE)
    assert [name for name, *_rest in states()] == ["one", "two"]


def test_the_command_finds_the_scheme_by_the_labels(tmp_path: Path) -> None:
    path = write(tmp_path, "one.csv", "case,candidate,level,reference\na,M,A,A/B\nb,M,D,D\n")
    command(path, dataset="d", scheme="auto")
    assert list(SourceLabel.objects.order_by("pk").values_list("scheme__name", "how", "low", "high")) == (
        [("letters", "boundary", 0, 1), ("letters", "direct", 3, 3)]
    )


def test_names_that_are_too_long_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a" * 230 + ".csv", "case,level\nx,emergency\n")
    refused(path, match="line 2, candidate: A name can have at most 200 characters: “aaaa", dataset="d")
    wide = write(tmp_path, "wide.csv", f"case,reference,{'b' * 201},all\nx,emergency,emergency,emergency\n")
    refused(wide, match="line 2, candidate: A name can have at most 200 characters: “bbb", dataset="d")
    refused(wide, match="line 2, candidate: A candidate cannot be called “all”.", dataset="d")
    matrix = write(tmp_path, "matrix.csv", f"set,reference,level,n\n{'c' * 195},emergency,emergency,1\n")
    refused(matrix, match="line 2, case: A name can have at most 200 characters", dataset="d")


def test_labels_mapped_by_a_newer_scheme_are_further_rows(tmp_path: Path, vignettes: Path) -> None:
    command(vignettes, dataset="d", scheme="em-ne-sc", scale="four")
    assert list(SourceLabel.objects.order_by("pk").values_list("label", "how", "low", "high")) == [
        ("em", "direct", 3, 3),
        ("ne", "panel", None, None),
        ("sc", "direct", 0, 0),
    ]
    scheme = LabelScheme.objects.get()
    newer = LabelScheme.objects.create(
        scale=scheme.scale, name=scheme.name, version=2, created_by=None, created_at=scheme.created_at
    )
    for label, low in (("em", 3), ("ne", 1), ("sc", 0)):
        newer.rules.create(source_label=label, how="direct", low=low, high=low)
    assert "labels: 3 created" in command(vignettes, dataset="d", scheme="em-ne-sc", scale="four")
    assert SourceLabel.objects.filter(label="ne").count() == 2
    assert AcuityImport.objects.count() == 2


def test_a_preview_writes_nothing_at_all(tmp_path: Path, vignettes: Path) -> None:
    before = table_sizes()
    out = command(vignettes, preview="1", **THREE)
    assert "em → emergency: 1 case (d-0001)" in out
    assert table_sizes() == before


def test_export_readings_comes_in_again(tmp_path: Path) -> None:
    head = "case,candidate,format,sample,level,confidence\n"
    rows = [
        "a,=M,qa,0,emergency,0.86",
        "a,=M,qa,1,self-care,",
        "b,=M,qa,0,refused,",
        "b,=M,chat,0,,",
        "c,N,chat,3,several,1.0",
    ]
    path = write(tmp_path, "in.csv", head + "\n".join(rows) + "\n")
    command(path, dataset="d")
    call_command("export_readings", benchmark="bench", out=tmp_path / "out.csv", stdout=io.StringIO())
    # Formulas are made inert; the reader takes the apostrophe away again.
    expected = head + "\n".join(rows).replace("=M", "'=M") + "\n"
    assert (tmp_path / "out.csv").read_text() == expected
    before = table_sizes()
    assert "readings: 0 created, 4 unchanged" in command(tmp_path / "out.csv", dataset="d")
    assert table_sizes() == before


def test_export_readings_asks_for_the_scale_where_there_are_several(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="bench"):
        call_command("export_readings", benchmark="bench", out=tmp_path / "out.csv")
    path = write(tmp_path, "in.csv", "case,candidate,level\na,M,emergency\n")
    command(path, dataset="d")
    command(path, dataset="d", scale="three")
    with pytest.raises(CommandError, match="choose one by --scale: four, three"):
        call_command("export_readings", benchmark="bench", out=tmp_path / "out.csv")
    call_command("export_readings", benchmark="bench", out=tmp_path / "o.csv", scale="three", stdout=io.StringIO())
    assert (tmp_path / "o.csv").read_text().splitlines()[1] == "a,M,qa,0,emergency,"


def test_a_newer_scheme_maps_the_labels_of_a_file_again_and_makes_no_further_sample(tmp_path: Path) -> None:
    path = write(tmp_path, "one.jsonl", jsonl(result(1, "em", "em"), result(2, "ne", "sc")))
    command(path, candidate="M", **THREE)
    scheme = LabelScheme.objects.select_related("scale").get()
    rules = {**scheme_of(scheme).rules, "xx": Mapped(How.PANEL)}
    newer = Scheme(scheme.name, scale_of(scheme.scale), rules)
    services.make_scheme(scale=scheme.scale, scheme=newer, by=None, at=timezone.now())
    out = command(path, candidate="M", **THREE)
    assert "labels: 2 created" in out
    assert "readings: 0 created, 2 unchanged" in out
    command(write(tmp_path, "two.jsonl", jsonl(result(1, "em", "em"), result(2, "ne", "ne"))), candidate="M", **THREE)
    assert [sample for _name, _case, sample, *_answer in states()] == [0, 1, 0, 1]


def test_import_cases_refuses_the_key_of_a_stub(tmp_path: Path) -> None:
    command(write(tmp_path, "one.jsonl", jsonl(result(1, "em", "em"))), **THREE)
    row = {
        "prompt_id": "d-0001",
        "prompt": [{"role": "user", "content": "Crushing pain in the chest."}],
        "rubrics": [{"criterion": "Advises an ambulance.", "points": 5, "tags": []}],
        "example_tags": [],
    }
    path, out = write(tmp_path, "cases.jsonl", jsonl(row)), io.StringIO()
    with pytest.raises(CommandError, match="1 fault refused"):
        call_command("import_cases", str(path), benchmark="bench", stdout=out, stderr=out)
    assert "line 1, prompt_id: The case “d-0001” was created without a text by an acuity import." in out.getvalue()
