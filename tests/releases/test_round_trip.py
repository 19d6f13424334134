"""Import, export, import, export: the same lines, whatever the file contains."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from releases.verification.cases import check_cases
from releases.verification.sources import open_source
from rubrics.models import Benchmark, Case, RubricItem
from tests.releases.releasing import built, command, imported, jsonl, lines
from tests.rubrics.imports.files import clinconsensus, healthbench, professional

pytestmark = pytest.mark.slow

few = settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

# No half of a surrogate pair and no NUL: those are refused.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
filled = texts.filter(lambda text: text.strip())
odd_keys = st.one_of(
    filled,
    st.sampled_from(["criterion_extras", "context_length", "as_imported", "fields", "user_role", "task", "__proto__"]),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(-1e6, 1e6) | st.just(1e300) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
extras = st.dictionaries(odd_keys, values, max_size=3)
tags = st.lists(filled, max_size=3)
points = st.integers(-10, 10).filter(bool)


def beside(known: str) -> Any:
    """Unknown fields, none called like a known one."""
    return extras.map(lambda fields: {name: value for name, value in fields.items() if name not in known.split()})


turns = st.builds(
    lambda role, content, more: {"role": role, "content": content, **more},
    st.sampled_from(["user", "assistant", "system"]), texts, beside("role content"),
)  # fmt: skip
criteria = st.builds(
    lambda text, worth, labels, more: {"criterion": text, "points": worth, **labels, **more},
    st.sampled_from(["Asks since when.", "同じ", "a\u2028b"]) | filled,
    points,
    st.fixed_dictionaries({}, optional={"tags": st.none() | tags}),
    beside("criterion points tags"),
)
completions = st.fixed_dictionaries(
    {},
    optional={
        "ideal_completion": st.none() | texts,
        "ideal_completions_group": st.none() | st.sampled_from(["Group 1", "Group 2", ""]),
        "ideal_completions_ref_completions": st.none() | st.lists(texts, max_size=2),
        "model": values,
    },
)
healthbench_rows = st.builds(
    lambda known, more: {**known, **more},
    st.fixed_dictionaries(
        {
            "prompt_id": st.just("p-1") | st.integers(0, 9),
            "prompt": st.lists(turns, min_size=1, max_size=2),
            "rubrics": st.lists(criteria, min_size=1, max_size=3),
        },
        optional={
            "example_tags": st.none() | tags | tags.map(lambda labels: labels * 2),
            "ideal_completions_data": st.none() | completions,
            "canary": st.none() | texts,
        },
    ),
    beside("prompt_id prompt rubrics example_tags ideal_completions_data canary case_id user_request"),
)
clinconsensus_criteria = st.one_of(
    filled,
    st.builds(
        lambda name, text, labels, more: {name: text, **labels, **more},
        st.sampled_from(["criterion", "rubric", "text"]),
        filled,
        st.fixed_dictionaries({}, optional={"tags": st.none() | tags}),
        beside("criterion rubric text tags"),
    ),
)
clinconsensus_rows = st.builds(
    lambda known, more: {**known, **more},
    st.fixed_dictionaries(
        {
            "case_id": st.just("c-1") | st.integers(0, 9),
            "difficulty": st.sampled_from(["low", "medium", "high"]),
            "task": texts,
            "task_labels": tags,
            "subject": texts,
            "subject_labels": tags.map(lambda labels: labels * 2),
            "user_role": texts,
            "clinical_context": texts,
            "user_request": filled,
            "rubrics": st.lists(clinconsensus_criteria, min_size=1, max_size=3),
        },
        optional={"reference_answer": filled},
    ),
    beside(
        "case_id difficulty task task_labels subject subject_labels user_role clinical_context user_request rubrics"
        " reference_answer prompt_id prompt"
    ),
)


professional_criteria = st.builds(
    lambda text, worth, labels, more: {"criterion_text": text, "points": worth, **labels, **more},
    filled,
    points,
    st.fixed_dictionaries({}, optional={"tags": st.none() | tags}),
    beside("criterion_text criterion points tags traceability"),
)
labels = st.none() | texts
professional_rows = st.builds(
    lambda known, more: {**known, **more},
    st.fixed_dictionaries(
        {
            "id": st.just("h-1") | st.integers(0, 9),
            "conversation": st.builds(
                lambda messages, more: {"messages": messages, **more},
                st.lists(turns, min_size=1, max_size=2),
                beside("messages"),
            ),
            "rubric_items": st.lists(professional_criteria, min_size=1, max_size=3),
        },
        optional={
            **dict.fromkeys(("use_case", "type", "difficulty", "specialty", "physician_response"), labels),
            "canary_string": labels,
            "prompt": values,
        },
    ),
    beside(
        "id conversation rubric_items use_case type difficulty specialty physician_response canary_string prompt_id"
        " prompt case_id user_request"
    ),
)


def there_and_back(row: dict[str, Any], name: str) -> None:
    form = name.removesuffix(".jsonl")
    with tempfile.TemporaryDirectory() as root, transaction.atomic():
        first = imported("first", [row], form)
        built(first, Path(root) / "a", reference_answers=True)
        assert lines(Path(root) / "a" / "cases" / name) == [row]
        assert list(check_cases(open_source(Path(root) / "a"))) == []
        out = (Path(root) / "a" / "cases" / name).read_bytes()
        second = imported("second", out, form)
        built(second, Path(root) / "b", reference_answers=True)
        assert (Path(root) / "b" / "cases" / name).read_bytes() == out
        assert same_rows(first) == same_rows(second)
        transaction.set_rollback(True)


def same_rows(benchmark: Benchmark) -> list[Any]:
    cases = Case.objects.filter(benchmark=benchmark).order_by("pk")
    items = RubricItem.objects.filter(rubric__case__benchmark=benchmark).order_by("rubric_id", "position")
    return [
        *cases.values_list("key", "conversation", "reference_answer", "difficulty", "register", "tags", "metadata"),
        *items.values_list("criterion__text", "points", "tags"),
    ]


@few
@given(row=healthbench_rows)
def test_any_healthbench_example_comes_out_as_it_went_in(db: None, row: dict[str, Any]) -> None:
    there_and_back(row, "healthbench.jsonl")


@few
@given(row=clinconsensus_rows)
def test_any_clinconsensus_case_comes_out_as_it_went_in(db: None, row: dict[str, Any]) -> None:
    there_and_back(row, "clinconsensus.jsonl")


@few
@given(row=professional_rows)
def test_any_healthbench_professional_example_comes_out_as_it_went_in(db: None, row: dict[str, Any]) -> None:
    there_and_back(row, "healthbench_professional.jsonl")


@pytest.mark.django_db
def test_odd_professional_examples_come_out_as_they_went_in(tmp_path: Path) -> None:
    whole = professional(1)
    turn = {"role": "user", "content": "x", "name": "Ada"}
    rows = [
        whole,
        {name: whole[name] for name in ("id", "conversation", "rubric_items")} | {"id": 7},
        professional(2, physician_response="", use_case=None, type=" ", prompt=[{"a": 1}], context_length=3),
        professional(3, physician_response=None, conversation={"messages": [turn], "source": "made up"}),
        professional(4, rubric_items=[{"criterion_text": "x", "points": 1, "tags": None, "note": 1}]),
        professional(5, rubric_items=[{"criterion_text": "x", "points": -1, "tags": ["axis:accuracy"]}]),
    ]
    benchmark = imported("odd", rows)
    digest = built(benchmark, tmp_path / "odd").digest
    assert lines(tmp_path / "odd/cases/healthbench_professional.jsonl") == rows
    assert len(lines(tmp_path / "odd/cases/healthbench.jsonl")) == 6
    assert (tmp_path / "odd/schema/healthbench_professional.schema.json").exists()
    assert digest
    out, _err = command("verify_release", str(tmp_path / "odd"))
    assert "professional cases 6" in out
    card = (tmp_path / "odd/DATA_CARD.md").read_text(encoding="utf-8")
    assert "`cases/healthbench_professional.jsonl`: 6 cases in the form of HealthBench Professional." in card


@pytest.mark.django_db
def test_a_changed_tag_is_written_as_the_label(tmp_path: Path) -> None:
    benchmark = imported("changed", [professional(1)])
    Case.objects.filter(benchmark=benchmark).update(tags=["use_case:writing", "specialty:general surgery"])
    built(benchmark, tmp_path / "changed")
    (row,) = lines(tmp_path / "changed/cases/healthbench_professional.jsonl")
    assert (row["use_case"], row["type"], row["specialty"]) == ("writing", None, "general surgery")


@pytest.mark.django_db
def test_a_benchmark_without_professional_examples_has_no_such_file(tmp_path: Path) -> None:
    built(imported("plain", [healthbench(1)]), tmp_path / "plain")
    assert not (tmp_path / "plain/cases/healthbench_professional.jsonl").exists()


@pytest.mark.django_db
def test_whole_files_keep_their_order_and_an_import_again_changes_nothing(tmp_path: Path) -> None:
    for form, make in (
        ("healthbench", healthbench),
        ("healthbench_professional", professional),
        ("clinconsensus", clinconsensus),
    ):
        rows = [make(number) for number in (3, 1, 2)]
        benchmark = imported(form, rows)
        built(benchmark, tmp_path / form, reference_answers=True)
        path = tmp_path / form / "cases" / f"{form}.jsonl"
        assert lines(path) == rows
        before = same_rows(benchmark)
        imported(form, jsonl(lines(path)))  # would be refused if a field were not as it stands
        assert same_rows(benchmark) == before


@pytest.mark.django_db
def test_what_a_criterion_rests_on_comes_back_and_the_same_name_in_another_sense_stays(tmp_path: Path) -> None:
    row = healthbench(1)
    row["rubrics"][0]["traceability"] = {
        "source": "A guideline, 2024",
        "element": "the dose",
        "bank": "consensus/dosing",
    }
    row["rubrics"][1]["traceability"] = ["something", "else"]
    benchmark = imported("healthbench", [row])
    first = RubricItem.objects.get(rubric__case__benchmark=benchmark, position=1)
    assert (first.source_note, first.case_element, first.expectation, first.bank_item) == (
        *("A guideline, 2024", "the dose", "", "consensus/dosing"),
    )
    built(benchmark, tmp_path / "out")
    assert lines(tmp_path / "out" / "cases" / "healthbench.jsonl") == [row]
