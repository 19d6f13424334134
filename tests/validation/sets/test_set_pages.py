"""Pages of rubric sets: list, new set with its preview, set, files, comparison."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from rubrics.models import Benchmark, Case, ImportJob, Rubric, RubricItem
from rubrics.services.import_jobs import run
from tests.factories import UserFactory, publish_rubric
from tests.validation.sets.conftest import Import, lines_of
from validation.models import RubricSet

pytestmark = pytest.mark.django_db

PAGE = "/b/bench/rubric-sets/"


@pytest.fixture
def staff(client: Client, benchmark: Benchmark) -> Client:
    user = UserFactory()
    benchmark.roles.create(user=user, role="researcher")
    client.force_login(user)
    return client


def text_of(response: Any) -> str:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return " ".join(body.decode().split())


def test_an_empty_list_leads_to_a_new_set(staff: Client) -> None:
    page = text_of(staff.get(PAGE))
    assert "No rubric sets yet" in page
    assert f"{PAGE}new/" in page


def test_a_set_of_a_track_is_made_by_the_form(staff: Client) -> None:
    answer = staff.post(f"{PAGE}new/", {"source": "track", "track": "gold", "name": "Ours", "criteria": "2-3"})
    row = RubricSet.objects.get()
    assert answer["Location"] == f"{PAGE}{row.public_id}/"
    assert (row.origin, row.case_count, row.item_count) == ("gold", 2, 5)
    assert row.created_by == row.benchmark.roles.get().user
    page = text_of(staff.get(answer["Location"]))
    assert row.digest in page
    assert "Criterion 1 of a" in page
    assert "Criterion 1 of c" not in page
    assert "Ours" in text_of(staff.get(PAGE))


def test_one_set_is_not_compared_with_itself(staff: Client) -> None:
    for name in ("Ours", "Theirs"):
        staff.post(f"{PAGE}new/", {"source": "track", "track": "gold", "name": name})
    first, second = RubricSet.objects.order_by("name")
    same = text_of(staff.get(f"{PAGE}compare/", {"first": first.public_id, "second": first.public_id}))
    assert "This is the first set. Choose another set to compare with it." in same
    assert "Criteria of each axis" not in same
    both = text_of(staff.get(f"{PAGE}compare/", {"first": first.public_id, "second": second.public_id}))
    assert "Criteria of each axis" in both and "This is the first set" not in both


def test_a_generic_set_is_made_by_the_form(staff: Client) -> None:
    staff.post(f"{PAGE}new/", {"source": "generic", "name": "Generic", "language": "zh"})
    assert RubricSet.objects.values_list("origin", "case_count", "item_count").get() == ("generic", 1, 6)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"source": "track", "track": "gold"}, "This field is required"),
        ({"source": "track", "name": "x"}, "Choose a track"),
        ({"source": "track", "track": "silver", "name": "x"}, "Select a valid choice"),
        ({"source": "generic", "name": "x", "criteria": "many"}, "is neither a number such as 3"),
        ({"source": "generic", "name": "x", "tags": "\n".join(map(str, range(21)))}, "At most 20 tags"),
        ({"source": "generic", "name": "x", "criteria": "9"}, "No case is in the frame"),
        ({"source": "file", "name": "x"}, "Choose the file"),
        ({"source": "elsewhere", "name": "x"}, "Select a valid choice"),
    ],
)
def test_a_form_that_is_refused_says_why(staff: Client, values: dict[str, str], words: str) -> None:
    answer = staff.post(f"{PAGE}new/", values)
    assert answer.status_code == 422
    assert words in text_of(answer)
    assert not RubricSet.objects.exists()


def test_a_name_that_is_taken_is_refused(staff: Client) -> None:
    values = {"source": "generic", "name": "Twice"}
    staff.post(f"{PAGE}new/", values)
    answer = staff.post(f"{PAGE}new/", values)
    assert answer.status_code == 409
    assert "There is already a rubric set called “Twice”" in text_of(answer)


def test_the_preview_counts_each_condition(staff: Client, benchmark: Benchmark) -> None:
    publish_rubric(benchmark.cases.get(key="a"), [7], track="second")
    preview = text_of(staff.get(f"{PAGE}frame/", {"source": "track", "track": "gold", "criteria": "3-4"}))
    assert "<b>2</b> cases are in the frame." in preview
    assert "<b>1</b> case is in the frame." in text_of(
        staff.get(f"{PAGE}frame/", {"source": "track", "track": "second"})
    )
    assert "The file is read when you create the set." in text_of(staff.get(f"{PAGE}frame/", {"source": "file"}))
    assert "is neither a number such as 3" in text_of(staff.get(f"{PAGE}frame/", {"source": "generic", "axes": "x"}))
    assert not RubricSet.objects.exists()


def upload(client: Client, content: bytes, **more: str) -> ImportJob:
    file = SimpleUploadedFile("theirs.jsonl", content)
    answer = client.post(f"{PAGE}new/", {"source": "file", "name": "Theirs", "file": file, **more})
    assert answer.status_code == 302, answer.content.decode()
    job = ImportJob.objects.get()
    assert answer["Location"] == f"/b/bench/imports/{job.public_id}/"
    run(job_id=job.pk, clock=timezone.now)
    job.refresh_from_db()
    return job


def test_a_file_becomes_a_set_by_an_import(staff: Client) -> None:
    criteria = [{"criterion": "<b>One</b>", "points": 30, "axis": "safety"}]
    job = upload(staff, lines_of({"case": "a", "rubrics": criteria}), mend="on", tags="theme:hedging\r\n\r\n")
    assert job.status == "done", job.errors
    assert job.counts["mends"] == {"created": 1, "unchanged": 0}
    row = RubricSet.objects.get()
    assert (row.origin, row.file_name, row.frame["tags"]) == ("file", "theirs.jsonl", ["theme:hedging"])
    imported = text_of(staff.get(f"/b/bench/imports/{job.public_id}/"))
    assert f'href="{PAGE}"' in imported
    page = text_of(staff.get(f"{PAGE}{row.public_id}/"))
    assert "Points beyond ±10 limited to ±10" in page
    assert "&lt;b&gt;One&lt;/b&gt;" in page
    mends = csv.DictReader(io.StringIO(_file(staff, f"{PAGE}{row.public_id}/mends.csv")))
    assert [(mend["case"], mend["how"], mend["before"], mend["after"]) for mend in mends] == [
        ("a", "clamped", "30", "10")
    ]


def test_a_refused_file_leads_back_to_the_form(staff: Client) -> None:
    job = upload(staff, lines_of({"case": "z", "rubrics": [{"criterion": "One", "points": 1}]}))
    assert (job.status, job.errors[0]["line"], job.errors[0]["field"]) == ("refused", 1, "case")
    page = text_of(staff.get(f"/b/bench/imports/{job.public_id}/"))
    assert "There is no case “z” in this benchmark." in page
    assert f"{PAGE}new/?source=file" in page
    assert not RubricSet.objects.exists()


def _publish_with_axis(case: Case, tag: str) -> Rubric:
    rubric = Rubric.objects.create(case=case, track="second")
    criterion = case.criteria.create(text="Asks for the age")
    RubricItem.objects.create(rubric=rubric, criterion=criterion, position=1, points=1, tags=[tag])
    rubric.status = Rubric.Status.PUBLISHED
    rubric.save()
    return rubric


def test_an_axis_that_is_too_long_for_a_set_is_named(staff: Client, benchmark: Benchmark) -> None:
    _publish_with_axis(benchmark.cases.get(key="b"), f"axis:{'x' * 201}")
    answer = staff.post(f"{PAGE}new/", {"source": "track", "track": "second", "name": "Long"})
    assert answer.status_code == 422
    assert "Case “b”, criterion 1: the axis is longer than 200 characters." in text_of(answer)
    assert not RubricSet.objects.exists()


@pytest.mark.parametrize("tag", ["axis: bedside manner ", "axis:axis:bedside manner", f"axis:{'x' * 200}"])
def test_a_set_reads_back_when_its_axis_is_in_no_published_rubric_any_more(
    staff: Client, benchmark: Benchmark, import_set: Import, tag: str
) -> None:
    rubric = _publish_with_axis(benchmark.cases.get(key="b"), tag)
    staff.post(f"{PAGE}new/", {"source": "track", "track": "second", "name": "Own"})
    row = RubricSet.objects.get()
    assert row.items.get().axis == tag.removeprefix("axis:").removeprefix("axis:").strip()
    Rubric.objects.filter(pk=rubric.pk).update(status="superseded")
    lines = _file(staff, f"{PAGE}{row.public_id}/items.jsonl")
    assert import_set(lines.encode(), name="Back").digest == row.digest


def _file(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    return b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]


def test_the_files_of_a_set(staff: Client, import_set: Import) -> None:
    row = import_set(lines_of({"case": "b", "rubrics": [{"criterion": "=1+1", "points": -2, "axis": "safety"}]}))
    assert json.loads(_file(staff, f"{PAGE}{row.public_id}/items.jsonl")) == {
        "case": "b",
        "rubrics": [{"criterion": "=1+1", "points": -2, "axis": "safety"}],
    }
    assert _file(staff, f"{PAGE}{row.public_id}/items.csv") == (
        "case,position,criterion,points,axis\nb,1,'=1+1,-2,safety\n"
    )
    assert _file(staff, f"{PAGE}{row.public_id}/mends.csv") == "line,case,number,field,how,before,after,criterion\n"


def test_a_set_is_shown_in_pages_with_as_many_queries_for_many_cases(
    staff: Client, import_set: Import, benchmark: Benchmark, django_assert_max_num_queries: Any
) -> None:
    from tests.factories import CaseFactory

    for number in range(12):
        CaseFactory(benchmark=benchmark, key=f"more-{number}", rubric=0)
    rows = [{"index": place, "rubrics": [{"criterion": f"Of {place}.", "points": 1}]} for place in range(15)]
    row = import_set(lines_of(*rows))
    staff.get(f"{PAGE}{row.public_id}/")
    with django_assert_max_num_queries(12):
        first = text_of(staff.get(f"{PAGE}{row.public_id}/"))
    second = text_of(staff.get(f"{PAGE}{row.public_id}/?page=2"))
    assert ["Of 9." in page for page in (first, second)] == [True, False]
    assert ["Of 10." in page for page in (first, second)] == [False, True]


@pytest.mark.slow
def test_two_sets_are_compared(staff: Client, import_set: Import) -> None:
    assert "Two rubric sets are needed" in text_of(staff.get(f"{PAGE}compare/"))
    first = import_set(lines_of({"case": "a", "rubrics": [{"criterion": "One", "points": 1}]}), name="one")
    assert "Two rubric sets are needed" in text_of(staff.get(f"{PAGE}compare/"))
    second = import_set(lines_of({"case": "b", "rubrics": [{"criterion": "Two", "points": 3}]}), name="two")
    assert "Compare" in text_of(staff.get(f"{PAGE}compare/"))
    for chosen, other in ((first, second), (second, first)):  # never a set with itself
        form = staff.get(f"{PAGE}compare/?first={chosen.public_id}").context["form"]
        assert (form["first"].value(), form["second"].value()) == (chosen.public_id, other.public_id)
    pair = f"{PAGE}compare/{first.public_id}/{second.public_id}"
    page = text_of(staff.get(f"{PAGE}compare/?first={first.public_id}&second={second.public_id}"))
    assert "Sum of positive points" in page
    table = list(csv.DictReader(io.StringIO(_file(staff, f"{pair}/measures.csv"))))
    points = next(row for row in table if row["measure"] == "positive_points")
    assert (points["first"], points["second"], points["difference"]) == ("1", "3", "2")
    cases = list(csv.DictReader(io.StringIO(_file(staff, f"{pair}/cases.csv"))))
    assert [(row["case"], row["criteria_first"], row["criteria_second"]) for row in cases] == [
        ("a", "1", ""),
        ("b", "", "1"),
    ]
    assert f"{pair}/measures.csv" in page
    for address in (f"?first={first.public_id}&second=nothing", f"nothing/{first.public_id}/cases.csv"):
        assert staff.get(f"{PAGE}compare/{address}").status_code == 404


def test_a_set_of_another_benchmark_is_not_there(staff: Client, import_set: Import) -> None:
    from tests.factories import BenchmarkFactory

    row = import_set(lines_of({"case": "a", "rubrics": [{"criterion": "One", "points": 1}]}))
    other = BenchmarkFactory(slug="other")
    other.roles.create(user=UserFactory(), role="researcher")
    staff.force_login(other.roles.get().user)
    for address in (f"{PAGE}{row.public_id}/", f"/b/other/rubric-sets/{row.public_id}/"):
        assert staff.get(address).status_code == 404
