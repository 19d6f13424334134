"""The rubric editor behind the browser: saves that never overwrite, lint, tables, what each criterion rests on."""

from __future__ import annotations

import io
import json
import re
import uuid
from typing import Any

import pytest
from django.utils import timezone

from accounts.identity import opaque_name
from rubrics.models import AuthoringRole, Benchmark, Rubric, RubricDraft
from rubrics.services.drafts import open_draft
from rubrics.services.privacy import waive_finding
from tests import factories
from tests.results import result_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def author(client: Any) -> Any:
    user = factories.UserFactory()
    client.force_login(user)
    return user


@pytest.fixture
def benchmark(author: Any) -> Benchmark:
    benchmark = factories.BenchmarkFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    return benchmark


def item(name: str, text: str, points: int = 5, **more: Any) -> dict[str, Any]:
    return {"id": name, "text": text, "points": points, **more}


def send(client: Any, address: str, **body: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post(address, json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


@pytest.mark.slow
def test_the_first_save_begins_a_draft_and_looking_does_not(client: Any, benchmark: Benchmark, author: Any) -> None:
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    place = f"/b/{benchmark.slug}/write/{case.public_id}/rubric/"
    assert "Write the first criterion" in client.get(place).text
    assert not RubricDraft.objects.exists()
    save = {"who": opaque_name(author), "version": 0, "client_id": str(uuid.uuid4())}
    status, payload = send(client, f"{place}draft/", **save, items=[item("a", "Names the dose", 0)])
    assert (status, result_of(payload)["version"]) == (200, 2)
    assert [(fault["line"], fault["field"]) for fault in result_of(payload)["current"]["missing"]] == [
        (0, "points"),
        (1, "points"),
    ]
    page = client.get(place).text
    assert "Names the dose" in page.split('id="items"')[1].split("</ol>")[0]  # without a script as well
    # The menu leads to the page where a draft can be discarded, and to its question whether to do so.
    review = place.replace("/rubric/", "/review/")
    assert re.search(rf'<a data-of-draft href="{review}"\s*>\s*Read as the reviewer\s*</a>', page)
    assert re.search(rf'<a data-of-draft href="{review}\?discard=1"\s*>\s*Discard draft\s*</a>', page)
    question = re.compile(r'<dialog class="dialog" id="discard" aria-labelledby="discard-title"\s*(data-open)?\s*>')
    assert question.search(client.get(f"{review}?discard=1").text).group(1) == "data-open"  # type: ignore[union-attr]
    assert question.search(client.get(review).text).group(1) is None  # type: ignore[union-attr]
    assert client.get(f"{place}draft/?version=2").status_code == 204


@pytest.mark.slow
def test_what_names_a_person_in_a_criterion_is_marked_while_it_is_written(
    client: Any, benchmark: Benchmark, author: Any
) -> None:
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    place = f"/b/{benchmark.slug}/write/{case.public_id}/rubric/"
    text = "Advises to call the ward on (212) 555-0143 today"
    items = [item("a", text), item("b", "Names the dose", source="Ask Dr. Jane Roe")]
    _status, body = send(client, f"{place}lint/", items=items)
    marked = [row for row in body["remarks"] if row["rule"] == "privacy"]
    assert [(row["item"], row["severity"], text[row["start"] : row["end"]]) for row in marked] == [
        ("a", "problem", "(212) 555-0143"),
        ("b", "problem", ""),
    ]
    assert "“Dr. Jane Roe”" in marked[1]["why"]
    # Nor can it be sent: the dialog lists it, with the criterion.
    save = {"who": opaque_name(author), "version": 0, "client_id": str(uuid.uuid4())}
    _status, payload = send(client, f"{place}draft/", **save, items=items)
    missing = result_of(payload)["current"]["missing"]
    assert [(fault["line"], fault["field"]) for fault in missing] == [(1, "text"), (2, "source")]
    assert "“(212) 555-0143”" in missing[0]["message"]
    waive_finding(case=case, kind="phone", quote="(212) 555-0143", reason="Made up", by=author, at=timezone.now())
    _status, body = send(client, f"{place}lint/", items=items[:1])
    assert "privacy" not in {row["rule"] for row in body["remarks"]}


@pytest.mark.slow
def test_an_axis_that_no_other_criterion_has_is_remarked_on(client: Any, benchmark: Benchmark, author: Any) -> None:
    other, case = (factories.CaseFactory(benchmark=benchmark, rubric=0) for _ in range(2))
    place = f"/b/{benchmark.slug}/write/{case.public_id}/rubric/"
    items = [
        item("a", "Names the dose", tags=["axis:completness"]),
        item("b", "Asks about pregnancy", tags=["axis:completness", "axis:safety"]),
        item("c", "Greets the patient", tags=["axis:bedside manner"]),
        item("d", "Uses two sentences", tags=["axis:brevity"]),
        item("e", "Ends with a summary", tags=["axis:brevity", "theme:hedging"]),
    ]
    save = {"who": opaque_name(author), "version": 0, "client_id": str(uuid.uuid4())}
    assert send(client, f"{place.replace(case.public_id, other.public_id)}draft/", **save, items=items[2:3])[0] == 200
    assert send(client, f"{place}draft/", **save, items=items)[0] == 200  # its own draft does not make an axis known
    _status, body = send(client, f"{place}lint/", items=items)
    remarks = [row for row in body["remarks"] if row["rule"] == "axis"]
    assert [(row["item"], row["severity"]) for row in remarks] == [("a", "advice"), ("b", "advice"), ("d", "advice")]
    assert remarks[0]["why"] == "No other rubric of this benchmark has the axis “completness”."
    assert remarks[0]["advice"] == "Check its spelling: “completeness” is a known axis."
    assert "“brevity”" in remarks[2]["why"] and "is a known axis" not in remarks[2]["advice"]


@pytest.mark.slow
def test_an_empty_conversation_is_listed_before_sending(client: Any, benchmark: Benchmark, author: Any) -> None:
    turns = [{"role": "user", "content": "I cough"}, {"role": "user", "content": " "}]
    case = factories.CaseFactory(benchmark=benchmark, rubric=0, conversation=turns)
    place = f"/b/{benchmark.slug}/write/{case.public_id}/rubric/"
    save = {"who": opaque_name(author), "version": 0, "client_id": str(uuid.uuid4())}
    _status, payload = send(client, f"{place}draft/", **save, items=[item("a", "Names the dose")])
    missing = result_of(payload)["current"]["missing"]
    assert [(fault["line"], fault["field"]) for fault in missing] == [(0, "conversation")]
    assert missing[0]["message"] == "Turn 2 of the conversation is empty."


def test_a_save_over_another_one_gets_the_stored_version(client: Any, benchmark: Benchmark, author: Any) -> None:
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    open_draft(case=case, by=author, at=timezone.now())
    place = f"/b/{benchmark.slug}/write/{case.public_id}/rubric/draft/"
    mine = {"who": opaque_name(author), "version": 1}
    assert send(client, place, **mine, client_id=str(uuid.uuid4()), items=[item("a", "One")])[0] == 200
    status, payload = send(client, place, **mine, client_id=str(uuid.uuid4()), items=[item("b", "Two")])
    assert status == 409
    assert result_of(payload)["version"] == 2
    assert [row["text"] for row in result_of(payload)["current"]["items"]] == ["One"]
    assert send(client, place, who="0", version=2, client_id=str(uuid.uuid4()), items=[])[0] == 403
    status, payload = send(
        client, place, who=opaque_name(author), version=2, client_id=str(uuid.uuid4()), items=[item("a", "x", 11)]
    )
    assert (status, payload["errors"][0]["field"]) == (422, "points")
    Rubric.objects.update(status="in_review")
    status, payload = send(client, place, who=opaque_name(author), version=2, client_id=str(uuid.uuid4()), items=[])
    assert (status, payload["gone"]) == (409, True)
    assert RubricDraft.objects.get().content["items"][0]["text"] == "One"


@pytest.mark.slow
def test_a_published_rubric_is_read_until_a_new_version_is_begun(
    client: Any, benchmark: Benchmark, author: Any
) -> None:
    case = factories.CaseFactory(benchmark=benchmark, rubric=[5, 3])
    place = f"/b/{benchmark.slug}/write/{case.public_id}/rubric/"
    assert "data-draft-url" not in client.get(place).text
    save = {"who": opaque_name(author), "version": 1, "client_id": str(uuid.uuid4()), "items": []}
    assert send(client, f"{place}draft/", **save)[0] == 409
    assert client.post(f"{place}begin/").status_code == 302
    assert "data-draft-url" in client.get(place).text
    assert [row["points"] for row in client.get(f"{place}draft/").json()["items"]] == [5, 3]


def test_lint_speaks_the_language_of_the_page(client: Any, benchmark: Benchmark) -> None:
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    place = f"/b/{benchmark.slug}/write/{case.public_id}/rubric/lint/"
    status, payload = send(client, place, items=[item("a", "Names the drug and explains its risks")])
    assert status == 200
    (remark,) = payload["remarks"]
    assert (remark["rule"], remark["item"], remark["severity"]) == ("compound", "a", "problem")
    assert remark["fix"]["texts"] == ["Names the drug", "Explains its risks"]
    assert send(client, place, items="x")[0] == 422


def test_a_file_is_shown_before_it_is_inserted(client: Any, benchmark: Benchmark) -> None:
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    place = f"/b/{benchmark.slug}/write/{case.public_id}/rubric/"
    file = io.BytesIO(b"Kriterium,Points\nNames the dose,5\nAsks,twelve\n")
    file.name = "rubric.csv"
    payload = client.post(f"{place}paste/", {"file": file}).json()
    assert (payload["columns"], payload["has_heading"]) == (["criterion", "points"], True)
    assert [row["text"] for row in payload["rows"]] == ["Names the dose"]
    assert [(fault["line"], fault["field"]) for fault in payload["faults"]] == [(3, "points")]
    assert not RubricDraft.objects.exists()


@pytest.mark.slow
def test_tables_and_what_criteria_rest_on(client: Any, benchmark: Benchmark, author: Any) -> None:
    case = factories.CaseFactory(benchmark=benchmark, key="=one", rubric=0)
    place = f"/b/{benchmark.slug}/write/{case.public_id}"
    rows = [item("a", "Names the dose", source="WHO 2023", element="Weight"), item("b", "=Asks", -2)]
    save = {"who": opaque_name(author), "version": 0, "client_id": str(uuid.uuid4()), "items": rows}
    assert send(client, f"{place}/rubric/draft/", **save)[0] == 200
    lines = b"".join(client.get(f"{place}/rubric/table.csv").streaming_content).decode().splitlines()
    assert lines == [
        "position,criterion,points,tags,source,element,expectation,bank,citations",
        "1,Names the dose,5,,WHO 2023,Weight,,,",
        "2,'=Asks,-2,,,,,,",
    ]
    assert client.get(f"{place}/rubric/table.xlsx").content.startswith(b"PK")
    assert client.get(f"{place}/rubric/table.pdf").status_code == 404
    page = client.get(f"{place}/traceability/").text
    assert page.count('class="gap"') == 6  # neither criterion has a citation
    assert "WHO 2023" in page
    traced = b"".join(client.get(f"{place}/traceability.csv").streaming_content).decode().splitlines()
    assert traced[1] == "1,Names the dose,5,WHO 2023,Weight," + 11 * "," + "written,,,,,"


@pytest.mark.slow
@pytest.mark.parametrize(("rubric", "status"), [(1, "published"), (0, "")])
def test_the_api_refuses_a_draft_that_is_gone_and_begins_none(
    client: Any, benchmark: Benchmark, rubric: int, status: str
) -> None:
    case = factories.CaseFactory(benchmark=benchmark, rubric=rubric)
    place = f"/api/v1/benchmarks/{benchmark.slug}/cases/{case.public_id}/draft/"
    answer = client.put(place, json.dumps({"version": 3, "items": []}), content_type="application/json")
    assert (answer.status_code, answer.json()["current"]) == (409, client.get(place).json())
    assert (client.get(place).json()["status"], client.get(place).json()["version"]) == (status, 0)
    assert not RubricDraft.objects.filter(rubric__case=case).exists()


@pytest.mark.slow
def test_the_api_compares_versions_and_reads_tables(client: Any, benchmark: Benchmark) -> None:
    case = factories.CaseFactory(benchmark=benchmark, rubric=[5])
    place = f"/api/v1/benchmarks/{benchmark.slug}/cases/{case.public_id}/draft/"
    assert client.get(place).json()["status"] == "published"

    def put(**body: Any) -> Any:
        return client.put(place, json.dumps(body), content_type="application/json")

    answer = put(version=0, items=[item("a", "Names the dose")])
    assert (answer.status_code, answer.json()["version"]) == (200, 2)
    answer = put(version=1, items=[])
    assert (answer.status_code, answer.json()["current"]["items"][0]["text"]) == (409, "Names the dose")
    assert put(version=2, items=[item("a", "x", 5, status="published")]).status_code == 400
    wrong = put(version=2, items=[item("a", "x"), item("b", "y", points="five")])
    assert (wrong.status_code, list(wrong.json()["items"])) == (400, ["1"])
    assert list(wrong.json()["items"]["1"]) == ["points"]
    assert put(version=2, items=[], status="published").status_code == 400
    answer = client.post(
        f"{place}lint/", json.dumps({"items": [item("a", "Asks for [drug]")]}), content_type="application/json"
    )
    assert answer.json()["remarks"][0]["rule"] == "placeholder"
    file = io.BytesIO(b"criterion,points\nNames the dose,twelve\n")
    file.name = "rubric.csv"
    answer = client.post(f"{place}table/", {"file": file})
    assert (answer.status_code, answer.json()["errors"][0]["line"], answer.json()["errors"][0]["field"]) == (
        422,
        2,
        "points",
    )
    file = io.BytesIO(b"criterion,points\n" + b"Names the dose,5\n" * 501)
    file.name = "rubric.csv"
    answer = client.post(f"{place}table/", {"file": file})
    assert [answer.status_code, *answer.json()["errors"]] == [
        422,
        {"line": 502, "field": "criterion", "message": "A rubric can have at most 500 criteria."},
    ]


@pytest.mark.slow
def test_the_page_asks_the_database_the_same_number_of_times_for_any_rubric(client: Any, benchmark: Benchmark) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for points in ([5], [5] * 40):
        case = factories.CaseFactory(benchmark=benchmark, rubric=points)
        client.post(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/begin/")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/")
        counts.append(len(queries))
    assert counts[0] == counts[1]
