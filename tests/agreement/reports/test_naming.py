"""The name, note and archive of a report, on pages and by the API; its figures and files stay as they are."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement import access, services
from agreement.models import Report
from agreement.reports.files import archive
from consilium.core.limits import MAX_TITLE_LENGTH
from tests.agreement.study import Study, coin, make_study, noisy

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def shared_study(rows_of_the_module: None) -> Study:
    study = make_study(cases=4, points=(1, 1))
    study.group("A", coin(1, "met", "not_met"))
    study.judge("echo", noisy(study, "A", 3, 0.1))
    return study


def new_report(study: Study, *, run: bool = True) -> Report:
    report = services.create_report(
        benchmark=study.benchmark,
        kind="agreement",
        parameters={"rater_a": "group:A", "rater_b": "echo"},
        by=study.admin,
        at=timezone.now(),
    )
    if run:
        services.run(report_id=report.pk, clock=timezone.now)
        report.refresh_from_db()
    return report


@pytest.fixture
def client(study: Study) -> Client:
    client = Client()
    client.force_login(study.admin)
    return client


def words(response: object) -> str:
    return " ".join(response.content.decode().split())  # type: ignore[attr-defined]


def test_a_name_and_a_note_are_in_the_list_and_on_the_page_but_in_no_file(study: Study, client: Client) -> None:
    report = new_report(study)
    with archive(report) as file:
        before = file.read()
    page = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/"
    response = client.post(f"{page}naming", {"name": "  Table 2 <b>  ", "note": "for the revision"})
    assert (response.status_code, response["Location"]) == (302, page)
    shown, listed = words(client.get(page)), words(client.get(f"/b/{study.benchmark.slug}/agreement/"))
    for text in (shown, listed):
        assert "Table 2 &lt;b&gt;" in text and "for the revision" in text
        assert "Group" in text or "A" in text
    title = client.get(page).context["full_title"]
    assert title and title in listed
    with archive(Report.objects.get(pk=report.pk)) as file:
        assert file.read() == before
    again = services.recompute_report(report=Report.objects.get(pk=report.pk), at=timezone.now())
    assert (again.name, again.note) == ("Table 2 <b>", "")
    both = words(client.get(f"/b/{study.benchmark.slug}/agreement/"))
    assert (both.count("for the revision"), both.count("computed again")) == (2, 1)
    assert both.count("Note of the earlier report: for the revision") == 1
    assert "computed again" not in listed
    later = words(client.get(f"/b/{study.benchmark.slug}/agreement/{again.public_id}/"))
    assert "Note of the earlier report: for the revision" in later


def test_reports_of_one_name_show_the_time_of_day(study: Study, client: Client) -> None:
    section = f"/b/{study.benchmark.slug}/agreement/"
    first = new_report(study, run=False)
    assert [row["is_namesake"] for row in client.get(section).context["rows"]] == [False]
    second = new_report(study, run=False)
    Report.objects.filter(pk=first.pk).update(created_at=datetime(2026, 3, 2, 9, 41, tzinfo=UTC))
    Report.objects.filter(pk=second.pk).update(created_at=datetime(2026, 3, 2, 9, 56, tzinfo=UTC))
    with timezone.override(UTC):
        shown = re.sub("<[^>]+>", "", words(client.get(section)))
    assert "09:41" in shown and "09:56" in shown


def test_an_archived_report_is_in_no_list_until_it_is_asked_for(study: Study, client: Client) -> None:
    kept, old = new_report(study), new_report(study)
    section = f"/b/{study.benchmark.slug}/agreement/"
    client.post(f"{section}{old.public_id}/naming", {"name": "", "note": "", "archived": "on"})
    assert old.public_id not in words(client.get(section)) and kept.public_id in words(client.get(section))
    assert "1 archived report" in words(client.get(section))
    archived = words(client.get(f"{section}?archived=1"))
    assert old.public_id in archived and kept.public_id not in archived
    assert "This report is not listed" in words(client.get(f"{section}{old.public_id}/"))
    since = Report.objects.get(pk=old.pk).archived_at
    client.post(f"{section}{old.public_id}/naming", {"name": "x", "note": "", "archived": "on"})
    assert Report.objects.get(pk=old.pk).archived_at == since
    client.post(f"{section}{old.public_id}/naming", {"name": "x", "note": ""})
    assert "archived report" not in words(client.get(section))


def test_a_report_that_is_computed_cannot_be_archived_and_a_long_name_is_refused(study: Study, client: Client) -> None:
    report = new_report(study, run=False)
    address = f"/b/{study.benchmark.slug}/agreement/{report.public_id}/naming"
    response = client.post(address, {"archived": "on"})
    assert "only after it is done or has failed" in words(response)
    assert response.status_code >= 400
    assert client.post(address, {"name": "n" * (MAX_TITLE_LENGTH + 1)}).status_code == 422
    report.refresh_from_db()
    assert (report.name, report.archived_at) == ("", None)


def test_the_api_loses_no_change_that_is_stored_after_it_read_the_report(
    study: Study, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = new_report(study)
    read = access.get_report

    def read_before_another_change(*args: Any) -> Report:
        stale = read(*args)
        Report.objects.filter(pk=stale.pk).update(name="Table 2", archived_at=timezone.now())
        return stale

    monkeypatch.setattr(access, "get_report", read_before_another_change)
    address = f"/api/v1/benchmarks/{study.benchmark.slug}/reports/{report.public_id}/"
    assert client.patch(address, {"note": "n"}, content_type="application/json").status_code == 200
    report.refresh_from_db()
    assert (report.name, report.note) == ("Table 2", "n")
    assert report.archived_at is not None


def test_the_api_changes_what_is_named_and_filters_by_it(study: Study, client: Client) -> None:
    report, other = new_report(study), new_report(study)
    reports = f"/api/v1/benchmarks/{study.benchmark.slug}/reports/"

    def change(**values: object):
        return client.patch(f"{reports}{report.public_id}/", values, content_type="application/json")

    assert change(name="Figure 1", note="n").json()["name"] == "Figure 1"
    answer = change(archived=True).json()
    assert (answer["name"], answer["note"], answer["status"]) == ("Figure 1", "n", "finished")
    assert answer["archived_at"]

    def ids(query: str) -> set[str]:
        return {each["id"] for each in client.get(f"{reports}{query}").json()["results"]}

    assert ids("?archived=true") == {report.public_id}
    assert ids("?archived=false") == {other.public_id}
    assert ids("") == {report.public_id, other.public_id}
    assert client.get(f"{reports}?archived=x").status_code == 400
    assert set(change(name="n" * (MAX_TITLE_LENGTH + 1)).json()) == {"name"}
    assert set(change(title="x").json()) == {"title"}
    assert change(archived=False).json()["archived_at"] is None
