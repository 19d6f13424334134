"""Lists of names have bounds: thousands of names are refused with the field that holds them, and quickly."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.test import Client

from annotation.models import ExpertGroup
from rubrics.models import Benchmark
from scoring.selectors.raters import UnknownRater, resolve_rater
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
JURY = "jury:" + "+".join(f"model {number}" for number in range(5000))
API = "/api/v1/benchmarks/study"


@pytest.fixture
def study() -> Benchmark:
    benchmark = BenchmarkFactory(slug="study", admin=UserFactory())
    ExpertGroup.objects.create(benchmark=benchmark, name="A+B")
    return benchmark


@pytest.fixture
def admin(study: Benchmark) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(study.roles.get().user)
    return client


def post(admin: Client, path: str, body: Any) -> Any:
    return admin.post(path, json.dumps(body), content_type="application/json")


@pytest.mark.parametrize(
    ("kind", "parameters", "field"),
    [
        ("agreement", {"rater_a": "group:A+B", "rater_b": JURY}, "rater_b"),
        ("items", {"rater_a": JURY, "rater_b": "group:A+B"}, "rater_a"),
        ("scores", {"rater": JURY, "k": 1}, "rater"),
        ("scores", {"rater": "group:A+B", "also": ["m"] * 5000}, "also"),
        ("acuity", {"candidates": ["m"] * 201}, "candidates"),
        ("calibration", {"group": "A+B", "judges": ["m"] * 5000}, "judges"),
    ],
)
def test_a_report_names_the_field_that_is_too_long(
    admin: Client, kind: str, parameters: dict[str, Any], field: str
) -> None:
    admin.get(f"{API}/reports/")  # what the first request imports is not measured
    began = time.process_time()
    answer = post(admin, f"{API}/reports/", {"kind": kind, "parameters": parameters})
    assert time.process_time() - began < 5
    assert answer.status_code in (400, 422), answer.content[:300]
    assert field in answer.content.decode()


def test_slices_name_the_list(admin: Client) -> None:
    body = {"title": "T", "rule": "hard", "rater": "group:A+B", "candidates": ["m"] * 5000, "n": 1}
    answer = post(admin, f"{API}/slices/", body)
    assert (answer.status_code, list(answer.json())) == (400, ["candidates"])


@pytest.mark.parametrize(("members", "words"), [(50, "model 0"), (51, "at most 50 members"), (5000, "at most 50")])
def test_a_jury_has_at_most_fifty_members(study: Benchmark, members: int, words: str) -> None:
    names = "+".join(f"model {number}" for number in range(members))
    with pytest.raises(UnknownRater, match=words):
        resolve_rater(study, f"jury:{names}")


def test_plus_signs_in_names_of_groups_count_once(study: Benchmark) -> None:
    names = "+".join(["group:A+B"] * 50)
    with pytest.raises(UnknownRater, match="at most 50"):
        resolve_rater(study, f"jury:{names}+group:A+B")


@pytest.mark.parametrize(("length", "status"), [(8192, 200), (8193, 414)])
def test_a_long_query_is_refused(admin: Client, length: int, status: int) -> None:
    query = "q=" + "x" * (length - 2)
    assert admin.get(f"/b/study/judges/?{query}").status_code == status
    answer = admin.get(f"{API}/judges/?{query}", headers={"accept": "application/json"})
    assert answer.status_code == (414 if status == 414 else 400)  # q is no parameter there
