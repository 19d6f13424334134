"""The API: the same rows and rules as the pages, and nothing that was not asked for by name."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response as Answer
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from accounts.models import Invitation
from consilium.core.parameters import DeclaredParameters
from rubrics.models import Benchmark, Candidate, ImportJob, Response
from rubrics.services import import_jobs
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    member,
    token_of,
)

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/benchmarks/"


class Caller:
    """A client with a token."""

    def __init__(self, user: Any) -> None:
        self.headers = {"Authorization": f"Token {token_of(user)}"}
        self.client = Client()

    def get(self, path: str) -> Any:
        return self.client.get(ROOT + path, headers=self.headers)

    def send(self, path: str, body: Any, method: str = "post") -> Any:
        return getattr(self.client, method)(ROOT + path, body, content_type="application/json", headers=self.headers)


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="bench", admin=UserFactory(is_staff=True), researcher=UserFactory())


@pytest.fixture
def admin(benchmark: Benchmark) -> Caller:
    return Caller(benchmark.roles.get(role="admin").user)


@pytest.fixture
def researcher(benchmark: Benchmark) -> Caller:
    return Caller(benchmark.roles.get(role="researcher").user)


def test_a_method_that_an_endpoint_does_not_have_is_refused_as_such_whatever_the_parameters(admin) -> None:
    """The parameters of this list are declared for GET alone, since POST has none."""
    for method in ("put", "delete"):
        call = getattr(admin.client, method)
        codes = [call(f"{ROOT}{query}", headers=admin.headers).status_code for query in ("", "?limit=1", "?x=1")]
        assert codes == [405, 405, 405], method
    answers = [admin.client.head(f"{ROOT}{query}", headers=admin.headers) for query in ("", "?limit=1", "?x=1")]
    assert [(answer.status_code, answer.content) for answer in answers] == [(200, b""), (200, b""), (400, b"")]
    assert int(answers[0]["Content-Length"]) == len(admin.client.get(ROOT, headers=admin.headers).content)


def test_the_bounds_of_a_page_are_named_for_any_number(researcher, benchmark) -> None:
    for number in ("0", "-1", "501", "9" * 20, "-" + "9" * 20):
        answer = researcher.get(f"bench/cases/?limit={number}")
        assert (answer.status_code, answer.json()) == (400, {"limit": ["This must be a whole number from 1 to 500."]})
    for number in ("-1", "1000000000"):
        answer = researcher.get(f"bench/cases/?offset={number}")
        assert answer.json() == {"offset": ["This must be a whole number from 0 to 999999999."]}
    for number in ("ten", "1.5", "--1"):
        assert researcher.get(f"bench/cases/?limit={number}").json() == {"limit": ["This must be a whole number."]}


def test_a_filter_whose_values_the_benchmark_knows_is_refused_with_them(researcher, benchmark) -> None:
    for n in range(60):
        CaseFactory(benchmark=benchmark, key=f"c{n}", tags=[f"theme:t{n:02}"])
    refused = researcher.get("bench/cases/?tag=theme:none")
    assert refused.status_code == 400
    [message] = refused.json()["tag"]
    named = message.removeprefix("One of: ").rstrip(".…").rstrip(", ").split(", ")
    assert len(named) == 50 and set(named) <= {f"theme:t{n:02}" for n in range(60)}
    assert "…" in message
    language = researcher.get("bench/cases/?language=xx").json()["language"]
    assert language == ["One of: en, none."], language


def test_head_takes_the_parameters_of_get_where_the_endpoint_has_both() -> None:
    class Rows(APIView):
        permission_classes = (DeclaredParameters,)
        authentication_classes = ()

        @extend_schema(methods=["GET"], parameters=[OpenApiParameter("limit", int)])
        def get(self, request: object) -> Answer:
            return Answer([])

    codes = [
        Rows.as_view()(getattr(APIRequestFactory(), method)(f"/?{query}")).status_code
        for method in ("get", "head")
        for query in ("limit=1", "limit=x", "offset=1")
    ]
    assert codes == [200, 400, 400] * 2


def test_benchmarks_are_listed_made_and_described(admin, researcher, benchmark) -> None:
    BenchmarkFactory(slug="foreign")
    assert [row["slug"] for row in admin.get("").json()["results"]] == ["bench"]
    assert admin.get("foreign/").status_code == 404
    response = admin.send("", {"slug": "second", "title": "Second"})
    assert (response.status_code, response.json()["slug"]) == (201, "second")
    assert admin.send("", {"slug": "second", "title": "Again"}).status_code == 409
    assert researcher.send("", {"slug": "third", "title": "Third"}).status_code == 403
    changed = admin.send("bench/", {"rule_sheet": "All parts."}, "patch")
    assert (changed.status_code, changed.json()["rule_sheet"]) == (200, "All parts.")
    assert changed.json()["title"] == benchmark.title
    assert researcher.send("bench/", {"title": "x"}, "patch").status_code == 404


@pytest.mark.parametrize("extra", ["slug", "is_demo", "maps", "created_at", "id", "roles", "canary", "nonsense"])
def test_keys_that_may_not_be_set_are_refused(admin, benchmark, extra) -> None:
    answer = admin.send("bench/", {"title": "New", extra: "x"}, "patch")
    assert answer.status_code == 400
    assert list(answer.json()) == [extra]
    benchmark.refresh_from_db()
    assert benchmark.title != "New"


def test_cases_come_with_their_criteria(researcher, benchmark) -> None:
    case = CaseFactory(benchmark=benchmark, key="k", rubric=[5, -2], difficulty="high")
    CaseFactory(benchmark=benchmark, key="l")
    CaseFactory()
    answer = researcher.get("bench/cases/?sort=-key").json()
    assert answer["count"] == 2
    assert [row["key"] for row in answer["results"]] == ["l", "k"]
    row = answer["results"][1]
    assert (row["criterion_count"], row["response_count"]) == (2, 0)
    assert [
        row["key"] for row in researcher.get("bench/cases/?difficulty=high&tag=theme:hedging").json()["results"]
    ] == ["k"]
    detail = researcher.get(f"bench/cases/{case.public_id}/").json()
    assert [(each["position"], each["points"], each["text"]) for each in detail["criteria"]] == [
        (1, 5, "Criterion 1 of k"),
        (2, -2, "Criterion 2 of k"),
    ]
    assert detail["conversation"] == case.conversation


@pytest.mark.parametrize(
    "query", ["user__password__startswith=x", "difficulty=impossible", "sort=benchmark__canary", "benchmark=1"]
)
def test_filters_that_are_not_offered_are_refused(researcher, query) -> None:
    assert researcher.get(f"bench/cases/?{query}").status_code == 400


def test_candidates_and_responses_are_read(researcher, benchmark) -> None:
    case = CaseFactory(benchmark=benchmark)
    candidate = CandidateFactory(benchmark=benchmark, name="m")
    response = ResponseFactory(case=case, candidate=candidate)
    ResponseFactory()
    [row] = researcher.get("bench/candidates/").json()["results"]
    assert (row["name"], row["kind"], row["response_count"]) == ("m", "model", 1)
    assert researcher.get(f"bench/candidates/{candidate.public_id}/").json() == row
    [listed] = researcher.get("bench/responses/?candidate=m").json()["results"]
    # An id is accepted as well, unless a candidate has it as its name.
    [by_id] = researcher.get(f"bench/responses/?candidate={candidate.public_id}").json()["results"]
    assert by_id == listed
    assert (listed["case"], listed["candidate"], listed["response"]) == (case.key, "m", response.text)
    assert researcher.get(f"bench/responses/{response.public_id}/").json() == listed
    for named in (case.key, case.public_id):
        assert researcher.get(f"bench/responses/?case={named}").json()["results"] == [listed]
    for name in ("case", "candidate"):
        answer = researcher.get(f"bench/responses/?{name}=Nobody")
        assert (answer.status_code, list(answer.json())) == (400, [name])
    CandidateFactory(benchmark=benchmark, name=candidate.public_id)
    assert researcher.get(f"bench/responses/?candidate={candidate.public_id}").json()["results"] == []


@pytest.mark.parametrize("query", ["bank=nope", "section=nope", "points=nope"])
def test_a_value_that_no_filter_of_the_bank_offers_is_refused(researcher, benchmark, query) -> None:
    answer = researcher.get(f"bench/bank/?{query}")
    assert (answer.status_code, list(answer.json())) == (400, [query.partition("=")[0]])
    assert researcher.get("bench/bank/?bank=").status_code == 200


@pytest.mark.slow
def test_responses_are_added_all_or_none(researcher, benchmark) -> None:
    CaseFactory(benchmark=benchmark, key="k")
    body = {
        "responses": [
            {"case": "k", "candidate": "m", "response": " As ChatGPT, \u2028 I say rest. "},
            {"case": "k", "candidate": "m", "response": "", "sample": 1, "metadata": {"t": 0.5}},
        ]
    }
    answer = researcher.send("bench/responses/", body)
    assert (answer.status_code, answer.json()["counts"]["responses"]) == (201, {"created": 2, "unchanged": 0})
    assert Response.objects.get(sample=0).text == " As ChatGPT, \u2028 I say rest. "
    assert researcher.send("bench/responses/", body).json()["counts"]["responses"] == {"created": 0, "unchanged": 2}

    new = {"case": "k", "candidate": "other", "response": "x"}
    refused = researcher.send("bench/responses/", {"responses": [new, {**new, "case": "nowhere", "sample": 2}]})
    assert refused.status_code == 422
    assert [(fault["line"], fault["field"]) for fault in refused.json()["errors"]] == [(2, "case")]
    assert not Candidate.objects.filter(name="other").exists()
    for wrong in ({"responses": []}, {"responses": [{**new, "author": 1}]}, {"responses": [new], "benchmark": 2}, []):
        assert researcher.send("bench/responses/", wrong).status_code == 400


def test_a_file_is_uploaded_and_asked_after(researcher, benchmark) -> None:
    def upload(**fields: Any) -> Any:
        file = SimpleUploadedFile("f.jsonl", b'{"prompt_id": 1}')
        return researcher.client.post(ROOT + "bench/imports/", {"file": file, **fields}, headers=researcher.headers)

    answer = upload(kind="cases", format="healthbench")
    assert answer.status_code == 201
    job = ImportJob.objects.get()
    assert (job.options, job.created_by) == ({"format": "healthbench"}, benchmark.roles.get(role="researcher").user)
    state = researcher.get(f"bench/imports/{answer.json()['id']}/").json()
    assert (state["status"], state["bytes_total"], state["faults"]) == ("pending", 16, [])
    assert researcher.get("bench/imports/").json()["count"] == 1
    assert upload(kind="cases", status="done").status_code == 400
    for fields, named in (({"kind": "cases", "group": "A"}, "group"), ({"kind": "decisions"}, "group")):
        refused = upload(**fields)
        assert refused.status_code == 422
        assert refused.json()["errors"] == [{"line": 0, "field": named, "message": refused.json()["detail"]}]
    assert researcher.send(f"bench/imports/{job.public_id}/restart/", {}).status_code == 409
    ImportJob.objects.update(status="done", finished_at=timezone.now(), bytes_read=16, started_at=timezone.now())
    finished = researcher.send(f"bench/imports/{job.public_id}/restart/", {})
    assert (finished.status_code, "“finished”" in finished.json()["detail"]) == (409, True), finished.json()
    job.file.delete()


@pytest.mark.parametrize(
    ("kind", "option", "value", "status"),
    [
        ("cases", "format", "csvv", 400),
        ("cases", "format", "matrix-csv", 422),  # a shape of acuity
        ("responses", "candidate_kind", "robot", 400),
        ("responses", "columns", "not JSON", 422),
        ("responses", "columns", "[" * 100_000, 422),
        ("cases", "columns", '{"a": 1}', 422),
        ("rubrics", "author", "nobody@example.org", 422),
        ("verdicts", "replicate", "x", 400),
        ("verdicts", "replicate", "1000", 400),
        ("verdicts", "judge", "run:x", 422),
        ("acuity", "reading_format", "essay", 400),
        ("acuity", "format", "healthbench", 422),
        ("acuity", "dataset", "Not a slug", 422),
        ("decisions", "group", "g" * 500, 422),
    ],
)
def test_an_option_that_cannot_be_right_is_refused_at_once(researcher, benchmark, kind, option, value, status) -> None:
    needed = {"verdicts": {"judge": "Elsewhere"}, "acuity": {"dataset": "portal"}}.get(kind, {})
    file = SimpleUploadedFile("f.jsonl", b'{"prompt_id": 1}')
    data = {"file": file, "kind": kind, **needed, option: value}
    answer = researcher.client.post(ROOT + "bench/imports/", data, headers=researcher.headers)
    assert answer.status_code == status, answer.content
    named = list(answer.json()) if status == 400 else [error["field"] for error in answer.json()["errors"]]
    assert named == [option]
    assert not ImportJob.objects.exists()


@pytest.mark.slow
def test_an_option_that_is_refused_later_is_named(researcher, benchmark) -> None:
    file = SimpleUploadedFile("f.jsonl", b'{"case": "p-1", "candidate": "m", "response": "x"}')
    data = {"file": file, "kind": "responses", "candidate_kind": "model"}
    answer = researcher.client.post(ROOT + "bench/imports/", data, headers=researcher.headers)
    job = ImportJob.objects.get(public_id=answer.json()["id"])
    ImportJob.objects.update(options={"candidate_kind": "robot"})  # as an earlier version stored it
    import_jobs.run(job_id=job.pk, clock=timezone.now)
    state = researcher.get(f"bench/imports/{job.public_id}/").json()
    assert [(fault["line"], fault["field"]) for fault in state["faults"]] == [(0, "candidate_kind")]
    job.file.delete()


@pytest.mark.slow
def test_a_preview_lists_the_faults_where_an_import_does(researcher, benchmark) -> None:
    def upload(preview: str) -> Any:
        file = SimpleUploadedFile("f.jsonl", b'{"case": "nowhere", "candidate": "m", "response": "x"}')
        data = {"file": file, "kind": "responses", "preview": preview}
        return researcher.client.post(ROOT + "bench/imports/", data, headers=researcher.headers)

    for preview in ("true", "1"):
        job = ImportJob.objects.get(public_id=upload(preview).json()["id"])
        assert job.options == {"preview": "1"}
        import_jobs.run(job_id=job.pk, clock=timezone.now)
        state = researcher.get(f"bench/imports/{job.public_id}/").json()
        assert (state["status"], state["fault_total"]) == ("finished", 1)
        assert [(fault["line"], fault["field"]) for fault in state["faults"]] == [(1, "case")]
        job.file.delete()
    assert "preview" in upload("maybe").json()
    assert ImportJob.objects.count() == 2
    job = ImportJob.objects.get(public_id=upload("false").json()["id"])
    assert job.options == {}
    job.file.delete()


def test_an_admin_adds_people_who_run_the_benchmark(admin, researcher, benchmark) -> None:
    body = {"email": "New.Person@example.org", "name": "Dr. New", "role": "researcher"}
    assert researcher.get("bench/staff/").status_code == 404
    assert researcher.send("bench/staff/", body).status_code == 404
    answer = admin.send("bench/staff/", body)
    assert answer.status_code == 201, answer.content
    added = answer.json()
    assert (added["email"], added["name"], added["role"]) == ("new.person@example.org", "Dr. New", "researcher")
    assert Invitation.objects.get().user.email == "new.person@example.org"
    assert added["invitation"] in ("mail", "link") and answer["Cache-Control"] == "no-store"
    assert benchmark.roles.get(pk=added["id"]).role == "researcher"
    # The same address again, with another role, is the same person.
    assert admin.send("bench/staff/", {**body, "role": "admin"}).json()["id"] == added["id"]
    assert [row["role"] for row in admin.get("bench/staff/").json()] == ["admin", "admin", "researcher"]
    for wrong in ({**body, "role": "author"}, {**body, "email": "x"}, {"role": "admin"}, {**body, "active": False}):
        assert admin.send("bench/staff/", wrong).status_code == 400, wrong
    assert admin.send(f"bench/staff/{added['id']}/", {"active": False}, "patch").json()["active"] is False
    own = benchmark.roles.get(role="admin", active=True).pk
    last = admin.send(f"bench/staff/{own}/", {"active": False}, "patch")
    assert (last.status_code, "at least one admin" in last.json()["detail"]) == (422, True)
    # A physician of a group of the benchmark must not see the names of its candidates.
    physician = member(ExpertGroupFactory(benchmark=benchmark), "annotator")
    refused = admin.send("bench/staff/", {"email": physician.email, "role": "researcher"})
    assert (refused.status_code, "expert group" in refused.json()["detail"]) == (422, True)
    assert not benchmark.roles.filter(user=physician).exists()


def test_nobody_else_gets_in(benchmark) -> None:
    case = CaseFactory(benchmark=benchmark)
    outsider = Caller(UserFactory(is_superuser=True))
    for path in (
        "bench/",
        "bench/cases/",
        f"bench/cases/{case.public_id}/",
        "bench/candidates/",
        "bench/responses/",
        "bench/imports/",
    ):
        assert outsider.get(path).status_code == 404
        assert Client().get(ROOT + path).status_code in (401, 403)
