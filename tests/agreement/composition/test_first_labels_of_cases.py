"""Which label of a case is the first: as its file lists them, and as its author arranged them in the editor."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agreement.reports.freshness import freshness_of
from agreement.reports.stored import table_of
from agreement.scoreboard.case_sets import case_sets
from rubrics.models import Benchmark, Case
from rubrics.services.authoring_roles import give_authoring_role
from tests.agreement.composition.reports import composition_of, counts_of
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.rubrics.imports.files import clinconsensus, write

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_the_order_of_the_file(tmp_path: Path) -> None:
    rows = [
        clinconsensus(1, subject_labels=["z", "a", "z"], task_labels=["t2", "t1"]),
        clinconsensus(2, subject_labels=["a", "z"], task_labels=["t1"]),
        clinconsensus(3, subject_labels=["z"], task_labels=["t2"]),
    ]
    path = write(tmp_path / "cases.jsonl", rows)
    call_command("import_cases", str(path), "--benchmark", "cc", stdout=io.StringIO())
    assert Case.objects.get(key="cc-1").tags == ["task:t2", "task:t1", "specialty:z", "specialty:a"]
    report = composition_of(Benchmark.objects.get(slug="cc"))
    assert counts_of(report, "specialty") == {"z": 3, "a": 2}
    assert counts_of(report, "specialty", "n_first") == {"z": 2, "a": 1}
    assert counts_of(report, "task", "n_first") == {"t2": 2, "t1": 1}


def test_the_order_in_the_editor() -> None:
    benchmark, author = BenchmarkFactory(slug="b"), UserFactory()
    give_authoring_role(benchmark=benchmark, user=author, role="author", at=timezone.now())
    case = CaseFactory(benchmark=benchmark, key="one", rubric=0, created_by=author, tags=["specialty:a"])
    client = Client()
    client.force_login(author)
    form = {"version": 1, "key": "one", "role": ["user"], "content": ["It hurts."], "specialties": ["z", "a", "z"]}
    client.post(f"/b/b/write/{case.public_id}/", form)
    case.refresh_from_db()
    assert case.tags == ["specialty:z", "specialty:a"]
    assert counts_of(composition_of(benchmark), "specialty", "n_first") == {"a": 0, "z": 1}


def test_where_the_first_specialty_is_in_no_group_a_later_one_does_not_take_its_place() -> None:
    """As in scores: `specialty_group_first:X` holds the cases whose first specialty is mapped to X."""
    maps = {"specialty": {"a": "Inner", "b": "Outer"}}
    benchmark = BenchmarkFactory(maps=maps)
    for key, tags in (("one", ["c", "a"]), ("two", ["a", "b"]), ("three", ["b", "c"]), ("four", ["c", "b"])):
        CaseFactory(benchmark=benchmark, key=key, rubric=0, tags=[f"specialty:{tag}" for tag in tags])
    report = composition_of(benchmark, row="specialty_group_first", column="specialty_group")
    assert counts_of(report, "specialty_group") == {"Outer": 3, "Inner": 2, "": 0}
    assert counts_of(report, "specialty_group", "n_first") == {"Outer": 1, "Inner": 1, "": 2}
    by_first = {
        name: len(cases) for name, cases in sets_of(benchmark).items() if name.startswith("specialty_group_first")
    }
    assert by_first == {"specialty_group_first:Inner": 1, "specialty_group_first:Outer": 1}
    cells = {(row["row"], row["column"]): row["n"] for row in table_of(report, "cross").dicts()}
    # One and four have no first group; two is of both groups, Inner first.
    assert {cell: n for cell, n in cells.items() if n} == {
        ("Inner", "Inner"): 1, ("Inner", "Outer"): 1, ("Outer", "Outer"): 1, ("", "Inner"): 1, ("", "Outer"): 1,
    }  # fmt: skip
    benchmark.maps = {"specialty": {**maps["specialty"], "c": "Inner"}}
    benchmark.save()
    assert freshness_of(report).fresh is False


def sets_of(benchmark: Benchmark) -> dict[str, list[int]]:
    """The sets by first label that scores have."""
    rows = Case.objects.filter(benchmark=benchmark).values("pk", "language", "tags", "label_tags")
    return case_sets(benchmark, {row["pk"]: row for row in rows}, (), by_first_label=True)
