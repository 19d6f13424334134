"""Who decided, counted for each expert group: annotators, checkers, responses, decisions, on page and in the file."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report, ReportRows, ReportTable
from annotation.models import Assignment, Check
from rubrics.models import Benchmark
from tests.factories import BenchmarkRoleFactory, UserFactory
from tests.scoring.conftest import answered, decide  # noqa: F401  # a fixture

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

OUTCOMES = ["met", "not_met", "met"]


def group(benchmark: Benchmark, name: str, work: dict[str, list[tuple[str, str]]], checkers: int) -> None:
    """Annotators of a group by their responses (case, candidate); their first responses have a check each."""
    for annotator in work.values():
        decide(benchmark, name, dict.fromkeys(annotator, OUTCOMES), annotator=UserFactory())
    for assignment in Assignment.objects.filter(batch__group__name=name).order_by("pk")[:checkers]:
        now = timezone.now()
        Check.objects.create(
            assignment=assignment, checker=UserFactory(), round=1, result="accept", created_at=now, finished_at=now
        )


@pytest.fixture
def report(answered: Benchmark) -> Report:  # noqa: F811
    group(
        answered,
        "A",
        {"x": [("case-0", "alpha"), ("case-1", "alpha")], "y": [("case-2", "alpha"), ("case-0", "beta")]},
        3,
    )
    group(answered, "B", {"z": [("case-0", "alpha"), ("case-1", "alpha")]}, 1)
    report = services.create_report(
        benchmark=answered, kind="scores", parameters={"rater": "group:A", "k": 1}, by=None, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def place(report: Report) -> str:
    return f"/b/{report.benchmark.slug}/scores/{report.public_id}/"


@pytest.fixture
def admin(report: Report, client: Client) -> Client:
    client.force_login(BenchmarkRoleFactory(benchmark=report.benchmark, user=UserFactory(), role="admin").user)
    return client


def rows_of(admin: Client, report: Report) -> list[dict[str, Any]]:
    response = admin.get(f"{place(report)}tables/counts.csv")
    return list(csv.DictReader(StringIO(b"".join(response.streaming_content).decode("utf-8-sig"))))


NUMBERS = ("n_annotators", "n_checkers", "n_responses", "n_decisions")


def test_each_group_has_its_own_rows(report: Report, admin: Client) -> None:
    counts = {(row["group"], row["slice"]): tuple(int(row[name]) for name in NUMBERS) for row in rows_of(admin, report)}
    assert counts == {
        ("", "all"): (3, 4, 4, 18),
        ("", "candidate:alpha"): (3, 4, 3, 15),
        ("", "candidate:beta"): (1, 0, 1, 3),
        ("A", "all"): (2, 3, 4, 12),
        ("A", "candidate:alpha"): (2, 3, 3, 9),
        ("A", "candidate:beta"): (1, 0, 1, 3),
        ("B", "all"): (1, 1, 2, 6),
        ("B", "candidate:alpha"): (1, 1, 2, 6),
    }


def test_mf1_is_only_in_the_rows_of_all_groups(report: Report, admin: Client) -> None:
    for row in rows_of(admin, report):
        if row["group"]:
            assert (row["mf1"], row["n_pairs"]) == ("", "")
            assert row["note"] == "mf1: between two groups, in the rows of all groups"
    whole = rows_of(admin, report)[0]
    assert (whole["group"], whole["slice"], whole["mf1"], whole["n_pairs"]) == ("", "all", "1.0", "6")


def test_with_three_groups_the_note_says_that_mf1_is_of_two(report: Report, admin: Client) -> None:
    group(report.benchmark, "C", {"w": [("case-0", "alpha")]}, 0)
    again = services.create_report(
        benchmark=report.benchmark, kind="scores", parameters={"rater": "group:A", "k": 1}, by=None, at=timezone.now()
    )
    services.run(report_id=again.pk, clock=timezone.now)
    again.refresh_from_db()
    whole = rows_of(admin, again)[0]
    assert (whole["group"], whole["mf1"], whole["n_pairs"]) == ("", "", "")
    assert whole["note"] == (
        "mf1: it is computed for exactly two expert groups with submitted work, and there are 3 "
        "(to compare two of them, create an agreement report)"
    )
    page = admin.get(place(again))
    assert page.status_code == 200 and "there are 3" in page.content.decode()


def test_the_page_has_a_column_for_the_group(report: Report, admin: Client) -> None:
    page = admin.get(place(report))
    assert [(row["group"], row["label"], row["n_annotators"]) for row in page.context["counts"]] == [
        ("", "All", 3), ("", "alpha", 3), ("", "beta", 1),
        ("A", "All", 2), ("A", "alpha", 2), ("A", "beta", 1),
        ("B", "All", 1), ("B", "alpha", 1),
    ]  # fmt: skip
    assert "All groups" in page.content.decode()


def test_a_report_of_before_shows_its_pooled_rows_as_those_of_all_groups(report: Report, admin: Client) -> None:
    table = ReportTable.objects.get(report=report, name="counts")
    at = table.columns.index("group")
    table.columns = [name for name in table.columns if name != "group"]
    table.save()
    for piece in ReportRows.objects.filter(table=table):
        piece.rows = [row[:at] + row[at + 1 :] for row in piece.rows if not row[at]]
        piece.save()
    page = admin.get(place(report))
    assert [(row["group"], row["n_annotators"]) for row in page.context["counts"]] == [("", 3), ("", 3), ("", 1)]
    assert page.content.decode().count("All groups") >= 3
