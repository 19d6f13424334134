"""``import_decisions`` and ``export_decisions``: work done elsewhere becomes a closed batch, and comes out again."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import (
    Adjudication,
    Amendment,
    Assignment,
    Batch,
    Check,
    Decision,
    ExpertGroup,
    Membership,
    Physician,
    Ruling,
)
from annotation.selectors.ratings import group_ratings
from rubrics.models import Benchmark
from tests.factories import (
    BenchmarkFactory,
    BenchmarkRoleFactory,
    CandidateFactory,
    CaseFactory,
    ResponseFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db
COLUMNS = ["case", "candidate", "sample", "criterion", "rater", "outcome", "stage", "note"]


@pytest.fixture
def benchmark() -> Benchmark:
    benchmark = BenchmarkFactory(slug="bench")
    models = [CandidateFactory(benchmark=benchmark, name=name) for name in ("m1", "-m2")]
    for key in ("a", "b"):
        case = CaseFactory(benchmark=benchmark, key=key)
        for model in models:
            ResponseFactory(case=case, candidate=model)
    return benchmark


def row(case: str = "a", criterion: Any = 1, rater: str = "P1", outcome: str = "met", **more: Any) -> dict[str, Any]:
    return {
        "case": case,
        "candidate": "m1",
        "sample": 0,
        "criterion": criterion,
        "rater": rater,
        "outcome": outcome,
        **more,
    }


def as_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(each) for each in rows), encoding="utf-8")
    return path


def run(path: Path, group: str = "A") -> str:
    out = io.StringIO()
    call_command("import_decisions", str(path), "--benchmark", "bench", "--group", group, stdout=out)
    return out.getvalue()


def refused(path: Path, group: str = "A") -> list[str]:
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_decisions", str(path), "--benchmark", "bench", "--group", group, stderr=err)
    return err.getvalue().splitlines()


def ratings(group: str = "A", stage: str = "checked") -> list[tuple[str, int, int]]:
    """(case, position, outcome code) of what the group decided."""
    ratings = group_ratings(ExpertGroup.objects.get(name=group), stage)
    names = {}
    for decision in Decision.objects.select_related("assignment__case").prefetch_related("criterion__items"):
        names[decision.criterion_id] = (decision.assignment.case.key, decision.criterion.items.all()[0].position)
    return sorted((*names[c], o) for c, o in zip(ratings.criterion.tolist(), ratings.outcome.tolist(), strict=True))


@pytest.mark.parametrize("write", [as_csv, as_jsonl])
def test_each_row_becomes_a_decision_of_a_closed_batch(tmp_path, benchmark, write) -> None:
    rows = [
        row(criterion=1), row(criterion=2, outcome="not_met", note="too vague"),
        row(criterion=3, outcome="cannot_assess"), row(criterion="Criterion 2 of b", case="b"),
        row(rater="P2", criterion=2),
    ]  # fmt: skip
    out = run(write(tmp_path / "d", rows))
    assert "physicians: 2 created" in out
    assert "decisions: 5 created, 0 unchanged" in out
    batch = Batch.objects.get()
    assert (batch.status, batch.imported, batch.group.name, batch.annotators_per_item) == ("closed", True, "A", 2)
    assert batch.items.count() == 2
    assert set(Assignment.objects.values_list("status", "round")) == {("accepted", 1)}
    full = Assignment.objects.get(case__key="a", annotator__pseudonyms__pseudonym="P1")
    assert full.criteria is None  # all of the rubric
    assert len(Assignment.objects.get(case__key="b").criteria or []) == 1
    assert Decision.objects.get(outcome="not_met").note == "too vague"
    assert set(Physician.objects.values_list("pseudonym", flat=True)) == {"P1", "P2"}
    for physician in Physician.objects.select_related("user"):
        assert not physician.user.email
        assert not physician.user.has_usable_password()
    # P1 says not met, P2 met: a tie.
    assert ratings() == [("a", 1, 1), ("a", 2, 4), ("a", 3, 2), ("b", 2, 1)]


@pytest.mark.slow
def test_a_second_run_changes_nothing_and_more_rows_are_added(tmp_path, benchmark) -> None:
    rows = [row(criterion=1), row(criterion=2, outcome="not_met")]
    run(as_jsonl(tmp_path / "d", rows))
    tables = (Batch, Assignment, Decision, Physician, Membership, ExpertGroup)
    before = [list(table.objects.order_by("pk").values()) for table in tables]
    assert "decisions: 0 created, 2 unchanged" in run(as_jsonl(tmp_path / "d", rows))
    assert [list(table.objects.order_by("pk").values()) for table in tables] == before
    assert "decisions: 1 created, 2 unchanged" in run(as_jsonl(tmp_path / "d", [*rows, row(criterion=3)]))
    assert ratings() == [("a", 1, 1), ("a", 2, 0), ("a", 3, 1)]
    assert Physician.objects.count() == 1


@pytest.mark.slow
def test_checkers_amend_and_adjudicators_rule(tmp_path, benchmark) -> None:
    rows = [
        row(criterion=1), row(criterion=2), row(criterion=3),
        row(criterion=1, rater="C", stage="checker"),
        row(criterion=2, rater="C", stage="checker", outcome="not_met", note="page 3"),
        row(criterion=3, rater="J", stage="adjudicator", outcome="not_met", note="both agree"),
    ]  # fmt: skip
    run(as_csv(tmp_path / "d", rows))
    check = Check.objects.get()
    assert (check.result, check.assignment.checker) == ("accepted", check.checker)
    amendment = Amendment.objects.get()
    assert (amendment.outcome, amendment.reason) == ("not_met", "page 3")
    ruling = Ruling.objects.get()
    assert (ruling.outcome, ruling.reason, ruling.adjudication.status) == ("not_met", "both agree", "done")
    assert ruling.adjudication.agreement == pytest.approx(2 / 3)
    assert ratings(stage="first") == [("a", 1, 1), ("a", 2, 1), ("a", 3, 1)]
    assert ratings(stage="checked") == [("a", 1, 1), ("a", 2, 0), ("a", 3, 1)]
    assert ratings(stage="final") == [("a", 1, 1), ("a", 2, 0), ("a", 3, 0)]
    assert dict(Membership.objects.values_list("user__pseudonyms__pseudonym", "role")) == {
        "P1": "annotator", "C": "checker", "J": "adjudicator",
    }  # fmt: skip
    tables = (Batch, Check, Amendment, Adjudication, Ruling)
    before = [list(table.objects.order_by("pk").values()) for table in tables]
    assert "decisions: 0 created, 6 unchanged" in run(as_csv(tmp_path / "d", rows))
    assert [list(table.objects.order_by("pk").values()) for table in tables] == before


FAULTS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "no such case": ([row(case="zz")], ["line 2, case"]),
    "no such response": ([row(candidate="m9"), row(sample=4)], ["line 2, candidate", "line 3, candidate"]),
    "no such position": ([row(criterion=4)], ["line 2, criterion"]),
    "no such text": ([row(criterion="Something else")], ["line 2, criterion"]),
    "the same pair twice": ([row(), row(outcome="not_met")], ["line 3, criterion"]),
    "two parts for one person": ([row(), row(criterion=2, stage="checker")], ["line 3, rater"]),
    "an outcome that is none": ([row(outcome="invalid")], ["line 2, outcome"]),
    "a stage that is none": ([row(stage="author")], ["line 2, stage"]),
    "nothing to check": ([row(), row(criterion=2, rater="C", stage="checker")], ["line 3, criterion"]),
    "twins in composition": ([row(rater="Andr\u00e9"), row(rater="Andre\u0301", criterion=2)], ["line 3, rater"]),
}


@pytest.mark.parametrize(("rows", "places"), FAULTS.values(), ids=FAULTS.keys())
def test_faults_are_named_and_nothing_is_imported(tmp_path, benchmark, rows, places) -> None:
    faults = refused(as_csv(tmp_path / "d", rows))
    assert [fault.split(":")[0] for fault in faults] == places
    for table in (ExpertGroup, Batch, Physician, Membership, Decision):
        assert not table.objects.exists()


def test_decisions_on_cases_that_are_not_there_are_one_fault_that_says_what_to_do(tmp_path, benchmark) -> None:
    assert refused(as_csv(tmp_path / "d", [row(), *(row(case=f"z{n}") for n in range(5))])) == [
        "line 3, case: 5 lines name cases that are not in this benchmark, or have no published rubric "
        "(“z0”, “z1”, “z2” …). Import these cases or publish their rubrics first, "
        "or correct the short names."
    ]
    assert not Decision.objects.exists()


def test_a_position_that_is_not_there_is_named(tmp_path, benchmark) -> None:
    assert refused(as_csv(tmp_path / "d", [row(criterion=4)])) == [
        "line 2, criterion: There is no criterion 4: the rubric of this case has 3 criteria."
    ]


def test_a_text_that_occurs_twice_needs_its_position(tmp_path, benchmark) -> None:
    from tests.factories import publish_rubric

    case = CaseFactory(benchmark=benchmark, key="twice", rubric=0)
    publish_rubric(case, [1, 1], texts=["The same.", "The same."])
    ResponseFactory(case=case, candidate=benchmark.candidates.get(name="m1"))
    assert "twice" in refused(as_csv(tmp_path / "d", [row(case="twice", criterion="The same.")]))[0]
    assert "decisions: 2 created" in run(as_csv(tmp_path / "d", [row(case="twice", criterion=n) for n in (1, 2)]))


@pytest.mark.slow
def test_decisions_never_change_and_groups_stay_apart(tmp_path, benchmark) -> None:
    run(as_csv(tmp_path / "d", [row()]))
    assert refused(as_csv(tmp_path / "d", [row(outcome="not_met")]))[0].startswith("line 2, outcome")
    assert refused(as_csv(tmp_path / "d", [row(note="new")]))[0].startswith("line 2, note")
    assert refused(as_csv(tmp_path / "d", [row()]), group="B")[0].startswith("line 2, rater")
    assert refused(as_csv(tmp_path / "d", [row(stage="adjudicator")]))[0].startswith("line 2, rater")
    assert Decision.objects.get().outcome == "met"
    assert not ExpertGroup.objects.filter(name="B").exists()


def test_who_runs_the_benchmark_is_no_rater(tmp_path, benchmark) -> None:
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=benchmark, user=user)
    Physician.objects.create(benchmark=benchmark, user=user, pseudonym="P1")
    with pytest.raises(CommandError, match="cannot be members"):
        run(as_csv(tmp_path / "d", [row()]))


def export(rater: str, path: Path) -> list[dict[str, Any]]:
    call_command("export_decisions", "--benchmark", "bench", "--rater", rater, "--out", str(path), stdout=io.StringIO())
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(content)))
    return [json.loads(line) for line in content.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_what_is_exported_comes_in_again_as_it_was(tmp_path, benchmark, suffix) -> None:
    rows = [
        row(criterion=n, outcome=outcome, candidate="-m2", note="=1+1")
        for n, outcome in ((1, "met"), (2, "not_met"), (3, "cannot_assess"))
    ]
    run(as_jsonl(tmp_path / "d", [*rows, row(case="b", rater="P2")]))
    exported = export("physician:P1", tmp_path / f"out{suffix}")
    assert list(exported[0]) == COLUMNS
    assert [str(each["criterion"]) for each in exported] == ["1", "2", "3"]
    assert {each["rater"] for each in exported} == {"P1"}
    # The same decisions of the same group: nothing changes; of a fresh benchmark's group: the same ratings.
    assert "decisions: 0 created, 3 unchanged" in run(tmp_path / f"out{suffix}")
    export("group:A@checked", tmp_path / f"group{suffix}")
    run(tmp_path / f"group{suffix}", group="Copy")
    assert ratings("Copy") == ratings("A")


def test_ties_are_left_out_of_an_export_and_counted(tmp_path, benchmark) -> None:
    run(as_csv(tmp_path / "d", [row(), row(rater="P2", outcome="not_met"), row(criterion=2)]))
    err = io.StringIO()
    path = tmp_path / "out.csv"
    call_command(
        "export_decisions",
        "--benchmark",
        "bench",
        "--rater",
        "group:A",
        "--out",
        str(path),
        stderr=err,
        stdout=io.StringIO(),
    )
    assert "1 pairs without an outcome" in err.getvalue()
    assert len(path.read_text().splitlines()) == 2
    for rater, out in (("group:None", path), ("group:A", tmp_path / "out.txt")):
        with pytest.raises(CommandError):
            call_command("export_decisions", "--benchmark", "bench", "--rater", rater, "--out", str(out))


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_heading_decides_what_separates_the_cells(tmp_path, benchmark, delimiter) -> None:
    rows = [row(note="First; then, or | else\tnothing."), row(criterion=2, outcome="not_met")]
    path = tmp_path / "decisions.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    assert "decisions: 2 created" in run(path)
    assert sorted(Decision.objects.values_list("outcome", "note")) == [
        ("met", "First; then, or | else\tnothing."), ("not_met", ""),
    ]  # fmt: skip


def test_a_heading_that_is_not_known_names_the_columns_of_decisions(tmp_path, benchmark) -> None:
    path = tmp_path / "decisions.csv"
    path.write_text("a;b\n1;2\n", encoding="utf-8")
    (fault, *_rest) = refused(path)
    assert fault.endswith("must name the columns: case, candidate, sample, criterion, rater, outcome, stage, note.")
