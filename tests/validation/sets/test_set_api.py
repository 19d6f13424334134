"""Rubric sets in the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from rubrics.models import Benchmark, Case, ImportJob
from rubrics.services.import_jobs import run
from tests.factories import UserFactory
from tests.validation.sets.conftest import Import, lines_of
from validation.models import RubricSet

pytestmark = pytest.mark.django_db

SETS = "/api/v1/benchmarks/bench/rubric-sets/"


@pytest.fixture
def staff(client: Client, benchmark: Benchmark) -> Client:
    user = UserFactory()
    benchmark.roles.create(user=user, role="admin")
    client.force_login(user)
    return client


def post(client: Client, address: str, values: dict[str, Any]) -> Any:
    return client.post(address, values, content_type="application/json")


def test_a_set_is_made_listed_and_read(staff: Client) -> None:
    values = {"name": "Ours", "description": "d", "source": "track", "criteria": "3-4", "tags": ["theme:urgency"]}
    answer = post(staff, SETS, values)
    assert answer.status_code == 201
    body = answer.json()
    row = RubricSet.objects.get()
    assert body == {
        "id": row.public_id,
        "name": "Ours",
        "description": "d",
        "origin": "gold",
        "track": "gold",
        "file_name": "",
        "file_digest": "",
        "frame": row.frame,
        "digest": row.digest,
        "cases": 1,
        "items": 4,
        "mends": 0,
        "split_of": None,
        "drafting_run": None,
        "unsplit": 0,
        "corrected": 0,
        "created_at": body["created_at"],
    }
    assert staff.get(SETS).json()["results"] == [body]
    assert staff.get(f"{SETS}{row.public_id}/").json() == body
    items = staff.get(f"{SETS}{row.public_id}/items/?limit=2").json()
    assert items["count"] == 4
    assert items["results"] == [
        {
            "case": "c",
            "case_id": Case.objects.get(key="c").public_id,
            "position": place,
            "criterion": f"Criterion {place} of c",
            "points": 4,
            "axis": "accuracy",
            "of_criterion": None,
        }
        for place in (1, 2)
    ]
    assert staff.get(f"{SETS}{row.public_id}/mends/").json()["results"] == []


def test_the_frame_is_shown_before_a_set_is_made(staff: Client) -> None:
    steps = post(staff, f"{SETS}frame/", {"source": "generic", "language": "zh"}).json()
    assert steps == [
        {"condition": "included", "value": "", "alone": 3, "together": 3},
        {"condition": "language", "value": "zh", "alone": 1, "together": 1},
    ]
    assert not RubricSet.objects.exists()


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"source": "track"}, 400),
        ({"name": "x"}, 400),
        ({"name": "x", "source": "file"}, 400),
        ({"name": "x", "source": "generic", "track": "gold"}, 400),
        ({"name": "x", "source": "generic", "digest": "0"}, 400),
        ({"name": "x", "source": "generic", "tags": "theme:urgency"}, 400),
        ({"name": "x", "source": "generic", "criteria": "many"}, 422),
        ({"name": "x", "source": "track", "track": "silver"}, 422),
    ],
)
def test_what_is_refused(staff: Client, values: dict[str, Any], status: int) -> None:
    assert post(staff, SETS, values).status_code == status
    assert not RubricSet.objects.exists()


@pytest.mark.parametrize("field", ["criteria", "axes"])
def test_a_range_that_cannot_be_read_names_its_field(staff: Client, field: str) -> None:
    refused = post(staff, SETS, {"name": "x", "source": "generic", field: "many"})
    message = "“many” is neither a number such as 3 nor a range such as 8-10."
    assert (refused.status_code, refused.json()["errors"]) == (
        422,
        [{"line": 0, "field": field, "message": message}],
    )


def test_a_name_that_is_taken_is_a_conflict(staff: Client) -> None:
    assert post(staff, SETS, {"name": "x", "source": "generic"}).status_code == 201
    assert post(staff, SETS, {"name": "x", "source": "track"}).status_code == 409


def test_a_file_is_uploaded_and_its_mends_are_listed(staff: Client) -> None:
    content = lines_of({"case": "a", "rubrics": [{"criterion": "One", "points": 3.6}]})
    file = SimpleUploadedFile("theirs.jsonl", content)
    answer = staff.post(f"{SETS}uploads/", {"name": "Theirs", "file": file, "mend": "1"})
    assert (answer.status_code, answer.json()["kind"]) == (201, "rubric_set")
    run(job_id=ImportJob.objects.get().pk, clock=timezone.now)
    row = RubricSet.objects.get()
    assert staff.get(f"{SETS}{row.public_id}/mends/").json()["results"] == [
        {
            "line": 1,
            "case": "a",
            "case_id": Case.objects.get(key="a").public_id,
            "number": 1,
            "field": "rubrics[0].points",
            "how": "rounded",
            "before": "3.6",
            "after": "4",
            "criterion": "One",
        }
    ]


def test_two_sets_are_compared(staff: Client, import_set: Import) -> None:
    pair = [
        import_set(lines_of({"case": "a", "rubrics": [{"criterion": "One", "points": points}]}), name=str(points))
        for points in (1, 3)
    ]
    rows = staff.get(f"{SETS}compare/{pair[0].public_id}/{pair[1].public_id}/").json()
    assert {"measure": "positive_points", "axis": "", "first": 1, "second": 3, "difference": 2, "note": ""} in rows
    assert staff.get(f"{SETS}compare/{pair[0].public_id}/x/").status_code == 404
    assert staff.get(f"{SETS}compare/{pair[0].public_id}/{pair[1].public_id}/?third=c").status_code == 400
