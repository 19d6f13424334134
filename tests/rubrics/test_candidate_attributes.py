"""Attributes of candidates: by page, API, table and command, with their history; nothing impossible is stored."""

from __future__ import annotations

import io
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone
from openpyxl import Workbook

from rubrics.models import Benchmark, Candidate, CandidateAttributes, ImportJob
from rubrics.services import import_jobs
from tests.factories import BenchmarkFactory, CandidateFactory, UserFactory, token_of

pytestmark = pytest.mark.django_db

FULL = {
    "family": "Orchid", "developer": "Example Laboratory", "base_model": "orchid-2", "effort": "high",
    "release_date": "2025-04-16", "size_total": "235", "size_active": "22.5", "open_weights": "true",
    "price_in": "0.15", "price_out": "2.4", "currency": "USD", "price_date": "2025-06-01",
}  # fmt: skip
HEADING = (
    "candidate,family,developer,base_model,effort,release_date,size_total,size_active,open_weights,price_in,"
    "price_out,currency,price_date\n"
)
FULL_LINE = "orchid high,Orchid,Example Laboratory,orchid-2,high,2025-04-16,235,22.5,true,0.15,2.4,USD,2025-06-01\n"


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="bench", admin=UserFactory(name="Ada Admin", email="ada@example.org"))


@pytest.fixture
def candidate(benchmark: Benchmark) -> Candidate:
    return CandidateFactory(benchmark=benchmark, name="orchid high")


@pytest.fixture
def signed_in(client: Client, benchmark: Benchmark) -> Client:
    client.force_login(benchmark.roles.get().user)
    return client


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def csv_of(client: Client, slug: str = "bench") -> str:
    return b"".join(client.get(f"/b/{slug}/candidates.csv").streaming_content).decode()


def command(tmp_path: Path, text: str, *options: str) -> tuple[str, str]:
    """What the command writes to stdout and stderr; a refusal is among the latter."""
    path = tmp_path / "candidates.csv"
    path.write_text(text)
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("import_candidates", path, *options, benchmark="bench", stdout=out, stderr=err)
    except CommandError as error:
        err.write(str(error))
    return out.getvalue(), err.getvalue()


def seen(client: Client, address: str) -> dict[str, str]:
    """What a form opened now sends back beside its fields."""
    return {"seen": client.get(address).context["seen"]}


@pytest.mark.slow
def test_what_is_entered_on_the_page_of_a_candidate_is_shown_listed_and_written(
    signed_in: Client, candidate: Candidate
) -> None:
    address = f"/b/bench/candidates/{candidate.public_id}/attributes/"
    assert signed_in.post(address, FULL | seen(signed_in, address)).status_code == 302
    for page in (text_of(signed_in.get(f"/b/bench/candidates/{candidate.public_id}/")),
                 text_of(signed_in.get("/b/bench/candidates/attributes/"))):  # fmt: skip
        for value in ("Orchid", "Example Laboratory", "orchid-2", "2025-04-16", ">235<", ">22.5<", ">2.4<", ">Yes<"):
            assert value in page, value
    assert csv_of(signed_in) == HEADING + FULL_LINE
    form = text_of(signed_in.get(address))
    assert 'value="22.5"' in form
    assert 'value="2025-04-16"' in form
    assert '<option value="true" selected>' in form
    # Everything may be unknown again, and the trail has both changes.
    assert signed_in.post(address, seen(signed_in, address)).status_code == 302
    assert csv_of(signed_in) == HEADING + "orchid high,,,,,,,,,,,,\n"
    events = candidate.attributes.events.order_by("pgh_id")
    assert [(event.pgh_label, event.family, event.size_active) for event in events] == [
        ("insert", "Orchid", Decimal("22.5")), ("update", "", None),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_save_over_values_that_its_author_did_not_see_is_refused_and_keeps_what_was_typed(
    signed_in: Client, candidate: Candidate
) -> None:
    address = f"/b/bench/candidates/{candidate.public_id}/attributes/"
    mine, theirs = (seen(signed_in, address) for _ in range(2))
    assert signed_in.post(address, FULL | theirs).status_code == 302
    refused = signed_in.post(address, FULL | mine | {"family": "Tulip", "effort": ""})
    assert refused.status_code == 409
    page = text_of(refused)
    assert "These attributes were changed after you opened this page." in page
    assert "<li>Family: Orchid</li> <li>Effort: high</li>" in page
    assert "Developer: Example" not in page
    assert 'value="Tulip"' in page
    assert csv_of(signed_in) == HEADING + FULL_LINE
    # Sent again from the page that showed them, it replaces them.
    again = FULL | {"family": "Tulip", "seen": refused.context["seen"]}
    assert f'name="seen" value="{again["seen"]}"' in page
    assert signed_in.post(address, again).status_code == 302
    assert "Tulip" in csv_of(signed_in)


def test_the_same_values_again_or_after_an_error_beside_a_field_are_no_conflict(
    signed_in: Client, candidate: Candidate
) -> None:
    address = f"/b/bench/candidates/{candidate.public_id}/attributes/"
    first = seen(signed_in, address)
    assert signed_in.post(address, FULL | first).status_code == 302
    assert signed_in.post(address, FULL | first).status_code == 302  # a double click
    faulty = signed_in.post(address, FULL | seen(signed_in, address) | {"size_total": "0"})
    assert faulty.status_code == 422
    assert signed_in.post(address, FULL | {"effort": "low", "seen": faulty.context["seen"]}).status_code == 302
    assert signed_in.post(address, FULL).status_code == 409  # no page sends that


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"size_total": "0"}, "size_total", "Enter 0.001 or more."),
        ({"size_active": "300"}, "size_active", "The active size is above the total size."),
        ({"price_in": "-1"}, "price_in", "Enter 0 or more."),
        ({"currency": ""}, "currency", "A price needs its currency."),
        ({"currency": "usd"}, "currency", "A currency is three capital letters, such as USD."),
        ({"price_date": ""}, "price_date", "A price needs its date."),
        ({"price_in": "", "price_out": ""}, "price_date", "There is no price, so leave its date empty."),
        ({"release_date": "soon"}, "release_date", "Enter a valid date."),
        ({"family": "x" * 201}, "family", "at most 200 characters"),
    ],
)
def test_what_cannot_be_is_refused_beside_its_field_and_by_the_api(
    signed_in: Client, candidate: Candidate, change: dict[str, str], field: str, message: str
) -> None:
    answer = signed_in.post(f"/b/bench/candidates/{candidate.public_id}/attributes/", FULL | change)
    assert answer.status_code == 422
    assert any(message in error for error in answer.context["form"].errors[field])
    assert message in text_of(answer)
    payload = {name: value or None for name, value in (FULL | change).items()}
    payload = {name: "" if name == "currency" and value is None else value for name, value in payload.items()}
    url = f"/api/v1/benchmarks/bench/candidates/{candidate.public_id}/attributes/"
    answer = signed_in.put(url, payload, content_type="application/json")
    assert answer.status_code == 400
    assert field in answer.json()
    assert not CandidateAttributes.objects.exists()


@pytest.mark.slow
def test_the_api_replaces_all_of_them_and_lists_them(client: Client, candidate: Candidate) -> None:
    bearer = {"Authorization": f"Bearer {token_of(candidate.benchmark.roles.get().user, 'read', 'run')}"}
    url = f"/api/v1/benchmarks/bench/candidates/{candidate.public_id}/attributes/"
    unknown = client.get(url, headers=bearer).json()
    assert set(unknown) == set(FULL)
    assert set(unknown.values()) == {"", None}
    answer = client.put(url, {**FULL, "open_weights": True}, content_type="application/json", headers=bearer)
    assert answer.status_code == 200, answer.content
    expected = {
        **FULL, "size_total": "235.000", "size_active": "22.500", "open_weights": True,
        "price_in": "0.150000", "price_out": "2.400000",
    }  # fmt: skip
    assert answer.json() == expected
    listed = client.get("/api/v1/benchmarks/bench/candidates/", headers=bearer).json()["results"]
    assert listed[0]["attributes"] == expected
    answer = client.put(url, {"family": "Orchid"}, content_type="application/json", headers=bearer)
    assert answer.json() == {**unknown, "family": "Orchid"}
    assert client.put(url, {"vendor": "x"}, content_type="application/json", headers=bearer).status_code == 400


PRICED = {"price_in": 1, "currency": "USD", "price_date": date(2025, 1, 1)}


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"size_total": 0}, "rubrics_size_total_positive"),
        ({"size_active": -1}, "rubrics_size_active_positive"),
        ({"size_total": 7, "size_active": 8}, "rubrics_size_active_within_total"),
        ({**PRICED, "price_in": -1}, "rubrics_price_not_negative"),
        ({**PRICED, "price_out": -1}, "rubrics_price_not_negative"),
        ({**PRICED, "currency": ""}, "rubrics_price_complete"),
        ({**PRICED, "currency": "U1D"}, "rubrics_price_complete"),
        ({**PRICED, "price_date": None}, "rubrics_price_complete"),
        ({**PRICED, "price_in": None}, "rubrics_price_complete"),
        ({"currency": "USD"}, "rubrics_price_complete"),
    ],
)
def test_the_database_refuses_what_cannot_be(candidate: Candidate, values: dict[str, Any], constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        CandidateAttributes.objects.create(candidate=candidate, **values)
    # What the case differs from is accepted.
    CandidateAttributes.objects.create(candidate=candidate, size_total=8, size_active=8, **PRICED)


def test_a_table_changes_the_attributes_it_has_columns_for(
    benchmark: Benchmark, candidate: Candidate, tmp_path: Path
) -> None:
    other = CandidateFactory(benchmark=benchmark, name="=fern")
    out, _err = command(tmp_path, HEADING + FULL_LINE + "'=fern,Fern,,,,,,,,,,,\n")
    assert "attributes: 2 created, 0 changed, 0 unchanged" in out
    out, _err = command(tmp_path, HEADING + FULL_LINE)
    assert "attributes: 0 created, 0 changed, 1 unchanged" in out
    # Columns in another order under other names; one that is not there keeps what it says, an empty cell empties.
    out, _err = command(tmp_path, "Reasoning effort;Model;Open weights\nlow;orchid high;\n")
    assert "attributes: 0 created, 1 changed, 0 unchanged" in out
    own = CandidateAttributes.objects.get(candidate=candidate)
    assert (own.effort, own.open_weights, own.family, own.size_active) == ("low", None, "Orchid", Decimal("22.5"))
    assert own.events.count() == 2
    out, _err = command(tmp_path, "candidate,developer\n'=fern,Fern Company\n", "--preview")
    assert "Preview: nothing was written." in out
    other.attributes.refresh_from_db()
    assert (other.attributes.family, other.attributes.developer) == ("Fern", "")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("orchid low,,,,,,,,,,,,", "line 3, candidate: There is no candidate “orchid low”."),
        (",x,,,,,,,,,,,", "line 3, candidate: The row does not name a candidate."),
        ("fern,,,,,,,,,,,,", "line 3, candidate: This candidate is already in row 2."),
        ("orchid high,,,,,16 April,,,,,,,", "line 3, release_date: “16 April” is not a date such as 2025-04-16."),
        ("orchid high,,,,,2025-02-30,,,,,,,", "line 3, release_date: “2025-02-30” is not a date such as 2025-04-16."),
        ("orchid high,,,,,,7B,,,,,,", "line 3, size_total: “7B” is not a number."),
        ("orchid high,,,,,,nan,,,,,,", "line 3, size_total: “nan” is not a number."),
        ("orchid high,,,,,,1e999,,,,,,", "line 3, size_total: Enter less than 1,000,000,000."),
        ("orchid high,,,,,,0,,,,,,", "line 3, size_total: Enter 0.001 or more."),
        ("orchid high,,,,,,7,8,,,,,", "line 3, size_active: The active size is above the total size."),
        ("orchid high,,,,,,,,maybe,,,,", "line 3, open_weights: “maybe” must be true or false."),
        ("orchid high,,,,,,,,,-1,,USD,2025-01-01", "line 3, price_in: Enter 0 or more."),
        (
            "orchid high,,,,,,,,,0.0000001,,USD,2025-01-01",
            "line 3, price_in: The number has more than 6 decimal places.",
        ),
        (
            "orchid high,,,,,,,,,1,,usd,2025-01-01",
            "line 3, currency: A currency is three capital letters, such as USD.",
        ),
        ("orchid high,,,,,,,,,1,,,2025-01-01", "line 3, currency: A price needs its currency."),
        ("orchid high,,,,,,,,,1,,USD,", "line 3, price_date: A price needs its date."),
    ],
)
def test_a_bad_line_is_refused_by_its_line_and_field_and_nothing_is_stored(
    benchmark: Benchmark, candidate: Candidate, tmp_path: Path, line: str, fault: str
) -> None:
    CandidateFactory(benchmark=benchmark, name="fern")
    _out, err = command(tmp_path, f"{HEADING}fern,Fern,,,,,,,,,,,\n{line}\n")
    assert fault in err
    assert "1 fault refused, nothing was imported" in err
    assert not CandidateAttributes.objects.exists()


@pytest.mark.slow
def test_a_workbook_is_previewed_and_then_imported(
    signed_in: Client, candidate: Candidate, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    book = Workbook()
    book.active.append(["模型", "Family", "Release date", "Size", "Open weights", "Comment"])
    book.active.append(["orchid high", "Orchid", date(2025, 4, 16), 7.5, True, "left out"])
    content = io.BytesIO()
    book.save(content)
    file = SimpleUploadedFile("candidates.xlsx", content.getvalue())
    answer = signed_in.post("/b/bench/imports/", {"kind": "candidates", "file": file})
    assert answer.status_code == 302, answer.content.decode()
    job = ImportJob.objects.get()
    import_jobs.run(job_id=job.pk, clock=timezone.now)
    page = text_of(signed_in.get(f"/b/bench/imports/{job.public_id}/"))
    assert "First candidates" in page
    assert "release_date: 2025-04-16 · size_total: 7.5 · open_weights: true" in page
    assert not CandidateAttributes.objects.exists()
    answer = signed_in.post(f"/b/bench/imports/{job.public_id}/preview/", {"action": "import"})
    import_jobs.run(job_id=ImportJob.objects.exclude(pk=job.pk).get().pk, clock=timezone.now)
    assert csv_of(signed_in) == HEADING + "orchid high,Orchid,,,,2025-04-16,7.5,,true,,,,\n"
    page = text_of(signed_in.get(answer.url))
    assert "Candidates’ attributes" in page


def test_what_is_written_as_a_file_gives_the_same_in_another_benchmark(
    signed_in: Client, benchmark: Benchmark, candidate: Candidate, tmp_path: Path
) -> None:
    command(tmp_path, HEADING + FULL_LINE)
    second = BenchmarkFactory(slug="second", admin=benchmark.roles.get().user)
    CandidateFactory(benchmark=second, name="orchid high")
    path = tmp_path / "out.csv"
    path.write_text(csv_of(signed_in))
    call_command("import_candidates", path, benchmark="second", stdout=io.StringIO(), stderr=io.StringIO())
    assert csv_of(signed_in, "second") == csv_of(signed_in) == HEADING + FULL_LINE
