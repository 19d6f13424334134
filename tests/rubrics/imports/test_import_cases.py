"""``import_cases``: what is in the file is in the database, once; a file with a fault changes nothing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pghistory.models import Context

from rubrics.imports.bulk import reserve_ids
from rubrics.models import Benchmark, Candidate, Case, Criterion, Response, Rubric, RubricItem
from tests.rubrics.imports.files import CANARY, clinconsensus, healthbench, professional, write

pytestmark = pytest.mark.django_db


def run(path: Path, *options: str, benchmark: str = "bench") -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("import_cases", str(path), "--benchmark", benchmark, *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(path: Path, *options: str) -> list[str]:
    """The faults that the command wrote to stderr."""
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_cases", str(path), "--benchmark", "bench", *options, stderr=err)
    return err.getvalue().splitlines()


def everything() -> list[Any]:
    """All rows of the app, to see that nothing moved."""
    tables = (Benchmark, Case, Criterion, Rubric, RubricItem, Candidate, Response)
    return [list(table.objects.order_by("pk").values()) for table in tables]


def test_healthbench_examples_arrive_whole(tmp_path) -> None:
    out, _err = run(write(tmp_path / "f.jsonl", [healthbench(1), healthbench(2, ideal_completions_data=None)]))
    assert "cases: 2 created, 0 unchanged" in out
    assert "criteria: 6 created, 0 unchanged" in out
    assert "responses: 3 created, 0 unchanged" in out

    benchmark = Benchmark.objects.get()
    assert (benchmark.slug, benchmark.title, benchmark.canary) == ("bench", "bench", CANARY)
    case = Case.objects.get(key="p-1")
    assert case.conversation == healthbench(1)["prompt"]
    assert case.tags == ["theme:hedging", "physician_agreed_category:any-reducible-uncertainty"]
    assert case.metadata == {"canary": CANARY, "extra": {"kept": [1, 2]}}
    assert case.language == "en"
    rubric = case.rubrics.get()
    assert (rubric.status, rubric.track, rubric.version) == ("published", "gold", 1)
    assert rubric.published_at is not None
    assert list(rubric.items.values_list("position", "criterion__text", "points", "tags")) == [
        (1, "Asks about smoking.", 5, ["level:example", "axis:context_awareness"]),
        (2, "Recommends antibiotics.", -8, ["axis:accuracy"]),
        (3, "Asks about smoking.", 2, []),
    ]
    answers = case.responses.order_by("candidate__name", "sample")
    assert list(answers.values_list("candidate__name", "candidate__kind", "sample", "text", "writing_mode")) == [
        ("physician", "physician", 0, "Rest, drink, and see a doctor after three weeks.", "aided"),
        ("reference", "reference", 0, "Drink tea.", ""),
        ("reference", "reference", 1, "Drink water.", ""),
    ]
    assert answers[0].metadata == {"ideal_completions_group": "Group 2"}


@pytest.mark.parametrize(("group", "mode"), [("Group 1", "unaided"), ("Group 3", "aided"), ("Group 9", "")])
def test_the_group_of_a_physician_says_how_they_wrote(tmp_path, group, mode) -> None:
    data = {**healthbench(1)["ideal_completions_data"], "ideal_completions_group": group}
    run(write(tmp_path / "f.jsonl", [healthbench(1, ideal_completions_data=data)]))
    assert Response.objects.get(candidate__kind="physician").writing_mode == mode


def test_healthbench_professional_examples_arrive_whole(tmp_path) -> None:
    rows = [professional(1), professional(2, physician_response=None, specialty=None, points_from=3)]
    out, _err = run(write(tmp_path / "p.jsonl", rows))
    assert "cases: 2 created, 0 unchanged" in out
    assert "criteria: 4 created, 0 unchanged" in out
    first, second = Case.objects.order_by("pk")
    assert first.key == rows[0]["id"]
    assert [turn["role"] for turn in first.conversation] == ["user", "assistant", "user"]
    assert first.tags == [
        "use_case:consult", "type:red_teaming", "difficulty:difficult", "specialty:general surgery",
    ]  # fmt: skip
    assert second.tags == ["use_case:consult", "type:red_teaming", "difficulty:difficult"]
    assert (first.difficulty, first.language, second.metadata["points_from"]) == ("", "en", 3)
    items = RubricItem.objects.filter(rubric__case=first, rubric__status="published").order_by("position")
    assert list(items.values_list("criterion__text", "points", "tags")) == [
        ("Names a limit of the daily volume.", 7, []),
        ("Invents a guideline.", -9, []),
    ]
    (response,) = Response.objects.all()
    assert (response.candidate.name, response.candidate.kind, response.writing_mode, response.text) == (
        "physician", "physician", "unaided", "Below 30 ml a day for two days.",
    )  # fmt: skip
    assert Benchmark.objects.get().canary == CANARY
    assert "cases: 0 created, 2 unchanged" in run(write(tmp_path / "p.jsonl", rows))[0]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"conversation": None}, "conversation: This field is missing."),
        ({"conversation": []}, "conversation: This must be an object, not a list."),
        ({"conversation": {"messages": []}}, "messages: There must be at least one turn."),
        (
            {"conversation": {"messages": [{"role": "nurse", "content": "x"}]}},
            "messages[0].role: “nurse” is not",
        ),
        ({"rubric_items": [{"criterion_text": "x", "points": 0}]}, "points: A criterion must add or deduct"),
        ({"rubric_items": [{"criterion": "x", "points": 1}]}, "criterion_text: This field is missing."),
        ({"use_case": ["consult"]}, "use_case: This must be text, not a list."),
        ({"physician_response": 3}, "physician_response: This must be text, not a number."),
        ({"id": None}, "id: This field is missing."),
    ],
)
def test_a_broken_professional_example_is_named(tmp_path, changes, fault) -> None:
    (error,) = refused(write(tmp_path / "p.jsonl", [professional(1), professional(2, **changes)]))
    assert error.startswith("line 2, ")
    assert fault in error
    assert not Case.objects.exists()


def test_another_criterion_of_a_stored_professional_example_is_named_as_the_file_calls_it(tmp_path) -> None:
    run(write(tmp_path / "p.jsonl", [professional(1)]))
    other = [
        {"criterion_text": "Names a limit of the daily volume.", "points": 7},
        {"criterion_text": "x", "points": 1},
    ]
    (error,) = refused(write(tmp_path / "q.jsonl", [professional(1, rubric_items=other)]))
    assert error.startswith("line 1, rubric_items[1]: ")


def test_clinconsensus_cases_arrive_whole(tmp_path) -> None:
    benchmark = Benchmark.objects.create(slug="bench", title="Bench", maps={"register": {"患者": "lay"}})
    out, err = run(
        write(tmp_path / "f.jsonl", [clinconsensus(1), clinconsensus(2, user_role="亲属", clinical_context="")])
    )
    assert "cases: 2 created" in out
    assert "criteria: 6 created" in out
    assert "亲属 (1)" in err
    case = Case.objects.get(benchmark=benchmark, key="cc-1")
    row = clinconsensus(1)
    assert case.conversation == [{"role": "user", "content": row["clinical_context"] + "\n\n" + row["user_request"]}]
    assert case.reference_answer == row["reference_answer"]
    assert (case.difficulty, case.register, case.language) == ("high", "lay", "zh")
    assert case.tags == ["task:鉴别诊断", "task:治疗方案", "specialty:神经内科", "specialty:心内科"]
    items = case.rubrics.get().items.values_list("criterion__text", "points")
    assert list(items) == [("询问头痛的部位", 1), ("建议就医", 1), ("说明警示症状", 1)]
    # What the release format needs to be written back.
    assert case.metadata["user_role"] == "患者"
    assert case.metadata["criterion_extras"] == {"2": {"weight": 3}}
    content = case.conversation[0]["content"]
    assert content[: case.metadata["context_length"]] == row["clinical_context"]
    other = Case.objects.get(key="cc-2")
    assert (other.register, other.conversation[0]["content"]) == ("", row["user_request"])


def test_a_second_run_changes_nothing(tmp_path) -> None:
    path = write(tmp_path / "f.jsonl", [healthbench(n) for n in range(5)])
    run(path)
    before = everything()
    out, _err = run(path)
    assert everything() == before
    assert "cases: 0 created, 5 unchanged" in out
    assert "criteria: 0 created, 15 unchanged" in out
    assert "responses: 0 created, 15 unchanged" in out


def test_a_longer_file_adds_what_is_new(tmp_path) -> None:
    run(write(tmp_path / "f.jsonl", [healthbench(1)]))
    out, _err = run(write(tmp_path / "g.jsonl", [healthbench(1), healthbench(2)]))
    assert "cases: 1 created, 1 unchanged" in out
    assert Rubric.objects.filter(status="published").count() == 2


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "conversation": ({"prompt": [{"role": "user", "content": "Something else."}]}, "prompt"),
    "points": (
        {"rubrics": [*healthbench(1)["rubrics"][:2], {"criterion": "Asks about smoking.", "points": 3}]},
        "rubrics[2]",
    ),
    "a criterion less": ({"rubrics": healthbench(1)["rubrics"][:2]}, "rubrics"),
    "tags": ({"example_tags": ["theme:other"]}, "tags"),
    "an unknown key": ({"extra": 1}, "extra"),
    "a completion": (
        {"ideal_completions_data": {**healthbench(1)["ideal_completions_data"], "ideal_completion": "Other."}},
        "ideal_completions_data.ideal_completion",
    ),
}


@pytest.mark.parametrize(("changes", "field"), CHANGES.values(), ids=CHANGES.keys())
def test_the_same_key_with_another_content_is_refused(tmp_path, changes, field) -> None:
    run(write(tmp_path / "f.jsonl", [healthbench(1)]))
    before = everything()
    faults = refused(write(tmp_path / "g.jsonl", [healthbench(2), healthbench(1, **changes)]))
    assert len(faults) == 1
    assert faults[0].startswith(f"line 2, {field}: ")
    assert everything() == before


BROKEN: dict[str, tuple[Any, str]] = {
    "no JSON": ('{"prompt_id": "x"', "line 2, prompt_id: "),
    "no key": (healthbench(1, prompt_id=None), "line 2, prompt_id: "),
    "an empty key": (healthbench(1, prompt_id=" "), "line 2, prompt_id: "),
    "a long key": (healthbench(1, prompt_id="k" * 201), "line 2, prompt_id: "),
    "no turns": (healthbench(1, prompt=[]), "line 2, prompt: "),
    "a turn without content": (healthbench(1, prompt=[{"role": "user"}]), "line 2, prompt[0].content: "),
    "a strange role": (healthbench(1, prompt=[{"role": "root", "content": "x"}]), "line 2, prompt[0].role: "),
    "no rubric": (healthbench(1, rubrics=[]), "line 2, rubrics: "),
    "no points": (healthbench(1, rubrics=[{"criterion": "x"}]), "line 2, rubrics[0].points: "),
    "eleven points": (healthbench(1, rubrics=[{"criterion": "x", "points": 11}]), "line 2, rubrics[0].points: "),
    "zero points": (healthbench(1, rubrics=[{"criterion": "x", "points": 0}]), "line 2, rubrics[0].points: "),
    "half a point": (healthbench(1, rubrics=[{"criterion": "x", "points": 0.5}]), "line 2, rubrics[0].points: "),
    "true points": (healthbench(1, rubrics=[{"criterion": "x", "points": True}]), "line 2, rubrics[0].points: "),
    "an empty criterion": (healthbench(1, rubrics=[{"criterion": " ", "points": 1}]), "line 2, rubrics[0].criterion: "),
    "tags that are no list": (healthbench(1, example_tags="a"), "line 2, example_tags: "),
    "references that are no list": (
        healthbench(1, ideal_completions_data={"ideal_completions_ref_completions": "x"}),
        "line 2, ideal_completions_data.ideal_completions_ref_completions: ",
    ),
    "the same key again": (healthbench(0), "line 2, prompt_id: "),
}


@pytest.mark.parametrize(("row", "start"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_line_is_named_and_nothing_is_imported(tmp_path, row, start) -> None:
    faults = refused(write(tmp_path / "f.jsonl", [healthbench(0), row, healthbench(3)]))
    assert len(faults) == 1
    assert faults[0].startswith(start)
    assert everything() == [[], [], [], [], [], [], []]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"difficulty": "extreme"}, "difficulty"),
        ({"difficulty": None}, "difficulty"),
        ({"user_request": ""}, "user_request"),
        ({"task_labels": [1]}, "task_labels[0]"),
        ({"rubrics": ["x", {"criterion": "a", "text": "b"}]}, "rubrics[1].text"),
        ({"rubrics": ["x", 7]}, "rubrics[1]"),
        ({"case_id": "cc-0"}, "case_id"),
    ],
)
def test_a_broken_clinconsensus_case_is_named(tmp_path, changes, field) -> None:
    faults = refused(write(tmp_path / "f.jsonl", [clinconsensus(0), clinconsensus(1, **changes)]))
    assert [fault.split(":")[0] for fault in faults] == [f"line 2, {field}"]
    assert not Case.objects.exists()


def test_keys_that_differ_only_in_composition_are_refused(tmp_path) -> None:
    faults = refused(
        write(tmp_path / "f.jsonl", [healthbench(1, prompt_id="caf\u00e9"), healthbench(2, prompt_id="cafe\u0301")])
    )
    assert len(faults) == 1
    assert "composed" in faults[0]


def test_a_key_that_differs_only_in_composition_from_a_stored_one_is_refused(tmp_path) -> None:
    run(write(tmp_path / "f.jsonl", [healthbench(1, prompt_id="caf\u00e9")]))
    before = everything()
    faults = refused(write(tmp_path / "g.jsonl", [healthbench(2), healthbench(3, prompt_id="cafe\u0301")]))
    assert [fault.split(":")[0] for fault in faults] == ["line 2, prompt_id"]
    assert everything() == before
    run(write(tmp_path / "f.jsonl", [healthbench(1, prompt_id="caf\u00e9")]))
    assert everything() == before


def test_a_rubric_without_positive_points_is_imported_with_a_note_that_names_its_line(tmp_path) -> None:
    harms = [{"criterion": "Recommends antibiotics.", "points": -8}]
    _out, err = run(write(tmp_path / "f.jsonl", [healthbench(1), healthbench(2, rubrics=harms)]))
    assert "Line 2, rubrics: no criterion has positive points" in err
    assert Case.objects.count() == 2


def test_all_faults_are_counted_and_fifty_are_listed(tmp_path) -> None:
    rows = [healthbench(n, rubrics=[]) if n % 2 else healthbench(n) for n in range(140)]
    faults = refused(write(tmp_path / "f.jsonl", rows))
    assert faults[0].startswith("line 2, rubrics: ")
    assert len(faults) == 51
    assert faults[-1] == "… and 20 more"
    assert everything() == [[], [], [], [], [], [], []]


def test_a_file_of_neither_format_is_refused(tmp_path) -> None:
    assert refused(write(tmp_path / "f.jsonl", [{"question": "?"}]))[0].startswith("line 1: ")
    faults = refused(write(tmp_path / "g.jsonl", [healthbench(1)]), "--format", "clinconsensus")
    assert all(fault.startswith("line 1") for fault in faults)


def test_a_candidate_of_another_kind_is_not_taken_over(tmp_path) -> None:
    benchmark = Benchmark.objects.create(slug="bench", title="Bench")
    Candidate.objects.create(benchmark=benchmark, name="physician", kind="model")
    faults = refused(write(tmp_path / "f.jsonl", [healthbench(1)]))
    assert faults[0].startswith("line 1, ideal_completions_data.ideal_completion: ")


def test_a_bad_short_name_and_a_missing_file_are_reported(tmp_path) -> None:
    path = write(tmp_path / "f.jsonl", [healthbench(1)])
    with pytest.raises(CommandError, match="--benchmark"):
        call_command("import_cases", str(path), "--benchmark", "Bad Name")
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_cases", str(tmp_path / "none.jsonl"), "--benchmark", "bench")


@pytest.mark.slow
def test_the_number_of_statements_does_not_grow_with_the_rows(tmp_path) -> None:
    counts = []
    for number in (20, 400):
        path = write(tmp_path / "f.jsonl", [healthbench(n) for n in range(number)])
        with CaptureQueriesContext(
            connection,
        ) as queries:
            run(path, benchmark=f"bench-{number}")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_who_imported_is_in_the_audit_trail(tmp_path) -> None:
    run(write(tmp_path / "f.jsonl", [healthbench(1)]))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pgh_label, status, pgh_context->>'url' FROM rubrics_rubricevent ORDER BY pgh_id")
        assert cursor.fetchall() == [
            ("insert", "published", "command import cases"),
        ]
    # The context stands with each event, and nowhere else.
    assert Context.objects.count() == 0


@pytest.mark.slow
def test_each_case_and_rubric_of_a_file_has_its_event(tmp_path) -> None:
    run(write(tmp_path / "f.jsonl", [healthbench(number) for number in range(250)]))
    for model in (Case, Rubric):
        events_by_id = {
            event.pgh_obj_id: event for event in model.events.rel.related_model.objects.filter(pgh_label="insert")
        }
        assert events_by_id.keys() == set(model.objects.values_list("pk", flat=True))
    for rubric in Rubric.objects.all():
        assert rubric.criterion_count == rubric.items.count() == events_by_id[rubric.pk].criterion_count


@pytest.mark.parametrize("step", [1, 3])
def test_reserved_ids_are_those_of_the_sequence_also_where_others_take_some_between(step: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_serial_sequence('rubrics_criterion', 'id')")
        sequence = cursor.fetchone()[0]
        # Steps of three stand for what others take meanwhile; the transaction ends without it.
        cursor.execute(f"ALTER SEQUENCE {sequence} INCREMENT BY {step}")
        cursor.execute(f"SELECT nextval('{sequence}')")
        before = cursor.fetchone()[0]
        assert reserve_ids(Criterion, 4) == [before + step * n for n in range(1, 5)]
        cursor.execute(f"SELECT nextval('{sequence}')")
        assert cursor.fetchone()[0] == before + step * 5
    assert reserve_ids(Criterion, 0) == []
