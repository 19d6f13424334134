"""Contributions: pieces and time by role, what is owed, who is named, and counts that single nobody out."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import PhysicianProfile, User
from annotation.contributions import acknowledged_names, credential_counts
from annotation.contributions.counted_work import Contributor, Period, Work, contributors
from annotation.contributions.credentials import MIN_CELL, merged
from annotation.contributions.payment import Rates, payment_rows
from annotation.models import Assignment, Attention, Batch, ExpertGroup
from rubrics.models import Benchmark, Candidate, Response
from rubrics.models.drafts import AuthoringTime, RubricContributor, RubricReview
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory, UserFactory

AT = datetime(2026, 3, 31, 23, 59, tzinfo=UTC)
db = pytest.mark.django_db


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    return BenchmarkFactory(slug="worked", admin=UserFactory(username="boss", name="Boss"))


def graded(
    benchmark: Benchmark, user: User, seconds: Sequence[int], *, at: datetime = AT, **batch: Any
) -> list[Assignment]:
    """Work handed in by ``user``: a response for each of ``seconds``, 0 for one without a time."""
    group, _created = ExpertGroup.objects.get_or_create(benchmark=benchmark, name="A")
    new_batch = Batch.objects.create(group=group, title="Batch", seed=1, created_at=at, **batch)
    candidate = Candidate.objects.filter(benchmark=benchmark).first() or CandidateFactory(benchmark=benchmark)
    rows = []
    for number in seconds:
        response = ResponseFactory(case=CaseFactory(benchmark=benchmark), candidate=candidate)
        row = Assignment.objects.create(
            batch=new_batch, case=response.case, response=response, rubric=response.case.rubrics.get(), annotator=user,
            status="submitted", submitted_at=at,
        )  # fmt: skip
        if number:
            Attention.objects.create(user=user, assignment=row, seconds=number, reported_at=at)
        rows.append(row)
    return rows


@db
def test_a_page_that_was_left_open_is_not_paid(benchmark: Benchmark) -> None:
    grader = UserFactory(name="Grader")
    graded(benchmark, grader, [600, 1200, 36_000, 0])
    graded(benchmark, grader, [500], imported=True, status="closed", closed_at=AT)
    graded(benchmark, grader, [500], kind="qualify")
    graded(benchmark, UserFactory(name="Imported", email=""), [500])
    (person,) = contributors(benchmark)
    (work,) = person.rows
    assert (work.role, work.items, work.timed, work.seconds) == ("annotator", 4, 3, 37_800)
    # The median of 600, 1,200 and 36,000 is 1,200 s; four of these are 80 minutes.
    assert (work.median, work.hours) == (1200, Decimal("1.33"))


@db
def test_writing_and_reviewing_count_by_case_and_on_the_first_day(benchmark: Benchmark) -> None:
    author, reviewer = UserFactory(name="Author"), UserFactory(name="Reviewer")
    case = CaseFactory(benchmark=benchmark)
    for version, days in enumerate((0, 40)):
        rubric = case.rubrics.create(track="gold", version=version + 2, status="draft")
        seen = AT + timedelta(days=days)
        RubricContributor.objects.create(rubric=rubric, user=author, first_at=seen, last_at=seen)
        RubricReview.objects.create(
            rubric=rubric, reviewer=reviewer, outcome="approved", digest="d" * 64, created_at=seen
        )
        case.rubrics.filter(pk=rubric.pk).update(status="superseded")
    AuthoringTime.objects.create(case=case, user=author, activity="write", seconds=5400, reported_at=AT)
    work_by_name = {person.name: person.work for person in contributors(benchmark)}
    assert work_by_name["Author"]["author"].items == work_by_name["Reviewer"]["reviewer"].items == 1
    assert work_by_name["Author"]["author"].hours == Decimal("1.50")
    assert work_by_name["Reviewer"]["reviewer"].hours is None
    # Handed in a minute before April in UTC: the last day of March has it, and April has nothing.
    assert len(contributors(benchmark, Period(date(2026, 3, 31), date(2026, 3, 31)))) == 2
    assert contributors(benchmark, Period(since=date(2026, 4, 1))) == []
    assert contributors(benchmark, Period(until=date(2026, 3, 30))) == []


def somebody(user: int, items: int, median: float | None, role: str = "annotator") -> Contributor:
    work = Work(role, items, items, 0, median, AT, AT)
    return Contributor(user, f"Person {user}", f"p{user}@example.org", {role: work})


def test_amounts_are_rounded_half_to_even_and_the_total_adds_what_is_printed() -> None:
    people = [somebody(1, 1, 1800.0), somebody(2, 3, None)]
    rates = Rates("EUR", hour=Decimal("0.25"), item={"annotator": Decimal("0.01")})
    rows = list(payment_rows(people, {1: "P-B", 2: "P-A"}, rates))
    # 1 · 0.01 + 0.50 h · 0.25 = 0.135, of which the even neighbour is 0.14; 3 · 0.01 = 0.03.
    assert [(row[0], row[1], row[-3], row[-2], row[-1]) for row in rows] == [
        ("physician", "P-A", "0.00", "0.03", "EUR"),
        ("physician", "P-B", "0.50", "0.14", "EUR"),
        ("total", "", "0.50", "0.17", "EUR"),
    ]
    # 0.125 lies between 0.12 and 0.13: the even one.
    owed, _total = payment_rows([somebody(3, 1, 1800.0)], {3: "P"}, Rates("", Decimal("0.25")))
    assert owed[-2] == "0.12"
    unpaid, _total = payment_rows([somebody(1, 1, None)], {1: "P"}, Rates())
    assert unpaid[-2:] == (None, "")


@db
def test_only_those_who_opted_in_are_named(benchmark: Benchmark, client: Client) -> None:
    wishes = [("Zoe", True, "Dr. Zoe Z."), ("Bea", True, ""), ("Max", False, "Max M."), ("Ann", None, "")]
    for name, wish, printed in wishes:
        user = UserFactory(name=name)
        graded(benchmark, user, [60])
        if wish is not None:
            PhysicianProfile.objects.create(user=user, acknowledge=wish, acknowledged_as=printed)
    idle = UserFactory(name="Idle")
    PhysicianProfile.objects.create(user=idle, acknowledge=True, acknowledged_as="Idle I.")
    assert acknowledged_names(benchmark) == ["Bea", "Dr. Zoe Z."]
    client.force_login(User.objects.get(username="boss"))
    text = client.get(reverse("annotation:acknowledgement", args=["worked"])).content.decode()
    assert text == "Bea\nDr. Zoe Z.\nand 2 other physicians\n"


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from([*"abcdefg", "other", "not said"]), st.integers(0, 9)))
def test_no_cell_is_small_and_none_can_be_computed_from_the_total(counts: dict[str, int]) -> None:
    cells = dict(merged(Counter(counts)))
    assert all(number >= MIN_CELL for number in cells.values())
    assert not cells or sum(cells.values()) == sum(counts.values())


def test_small_cells_are_merged_and_the_next_smallest_hides_a_lone_one() -> None:
    assert merged(Counter(a=5, b=2, c=1)) == (("a", 5), ("other", 3))
    assert merged(Counter(a=5, b=4, c=1)) == (("a", 5), ("other", 5))  # 1 alone would be told by the difference
    assert merged(Counter(a=2, b=2)) == ()
    assert merged(Counter({"a": 3, "not said": 4, "b": 3})) == (("a", 3), ("b", 3), ("not said", 4))


@pytest.mark.slow
@db
def test_credentials_leave_as_counts(benchmark: Benchmark) -> None:
    kinds = [("Neurology", 4), ("neurology ", 12), (" NEUROLOGY", 35), ("Surgery", None)]
    for specialty, years in kinds:
        user = UserFactory()
        graded(benchmark, user, [60])
        PhysicianProfile.objects.create(user=user, specialty=specialty, years_in_practice=years, licence_country="DE")
    assert credential_counts(benchmark) == {"physicians": 4, "licence_country": {"DE": 4}, "seniority": {"not said": 4}}
    for _ in range(2):
        user = UserFactory()
        graded(benchmark, user, [60])
    assert credential_counts(benchmark)["specialty"] == {"neurology": 3, "other": 3}


@pytest.mark.slow
@db
def test_the_page_costs_the_same_for_many_and_pays_by_pseudonym(benchmark: Benchmark, client: Client) -> None:
    client.force_login(User.objects.get(username="boss"))
    page = reverse("annotation:contributions", args=["worked"])

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert client.get(page).status_code == 200
        return len(seen)

    graded(benchmark, UserFactory(name="=1+1"), [3600])
    queries()
    few = queries()
    for _ in range(12):
        graded(benchmark, UserFactory(), [60, 120])
    assert queries() == few
    wrong = client.post(reverse("annotation:payment-csv", args=["worked"]), {"hour": "-1", "currency": "EUR"})
    assert wrong.status_code == 422
    answer = client.post(reverse("annotation:payment-csv", args=["worked"]), {"hour": "80", "currency": "EUR"})
    rows = list(csv.DictReader(b"".join(answer).decode().splitlines()))  # type: ignore[arg-type]
    assert [row["row"] for row in rows] == ["physician"] * 13 + ["total"]
    assert all(row["pseudonym"].startswith("P-") for row in rows[:-1])
    (formula,) = [row for row in rows if row["name"] == "'=1+1"]
    assert (formula["hours"], formula["amount"], formula["currency"]) == ("1.00", "80.00", "EUR")
    # 12 physicians at 2 · 90 s = 0.05 h each: 4.00 and 80.00.
    assert rows[-1]["amount"] == "128.00"
    assert Response.objects.count() == 25


@pytest.mark.slow
@db
def test_the_profile_keeps_credentials_apart(client: Client) -> None:
    user = UserFactory(name="Dr. A")
    client.force_login(user)
    form = {
        "name": "Dr. A", "time_zone": "UTC", "language": "en", "specialty": "Neurology", "licence_country": "DE",
        "years_in_practice": "12", "seniority": "senior", "acknowledge": "on", "acknowledged_as": "Anna A., MD",
    }  # fmt: skip
    page = reverse("accounts:profile")
    assert client.post(page, {**form, "years_in_practice": "-3"}).status_code == 422
    assert not PhysicianProfile.objects.exists()
    assert client.post(page, form).status_code == 302
    profile = PhysicianProfile.objects.get(user=user)
    assert (profile.seniority, profile.acknowledge, profile.acknowledged_as) == ("senior", True, "Anna A., MD")
    assert client.get(page).content.decode().count("Anna A., MD") == 1
    del form["acknowledge"]
    client.post(page, form)
    profile.refresh_from_db()
    assert not profile.acknowledge
