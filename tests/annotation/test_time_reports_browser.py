"""Active time as a page reports it: after signing in again, and where a report does not arrive."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Request, Route, expect

from annotation.models import Assignment, Attention
from rubrics.models import AuthoringTime
from rubrics.services import give_authoring_role
from tests.annotation.conftest import Workshop, build_workshop
from tests.conftest import Watch
from tests.factories import PASSWORD, BenchmarkFactory, CaseFactory, UserFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
SETTLED_MS = 3_000
LONG_AGO = timedelta(minutes=30)


def stop_clock(page: Page) -> None:
    """The seconds that the test itself takes, more of them on a busy machine, are none of the page's."""
    now = timezone.now()
    page.clock.install(time=now)
    page.clock.pause_at(now + timedelta(hours=1))  # a time that the clock has not reached by itself


def open_response(page: Page, row: Assignment) -> list[Request]:
    """Open it with a clock that only `work` moves; returns the list that fills with the requests of time reports."""
    reports: list[Request] = []
    page.on("request", lambda request: request.url.endswith("/time/") and reports.append(request))
    stop_clock(page)
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)  # the page's script has started
    page.clock.run_for(SETTLED_MS)
    wait_until(lambda: Attention.objects.exists())
    Attention.objects.update(reported_at=timezone.now() - LONG_AGO)  # the server's clock is not the page's
    return reports


def work(page: Page, seconds: int) -> None:
    """Let so many active seconds pass on the page."""
    page.mouse.move(200, 200)
    page.mouse.move(300, 300)
    page.clock.run_for(seconds * 1_000)


def wait_on(page: Page, condition: Callable[[], bool]) -> None:
    """Wait while Playwright goes on: requests are seen and answered by routes."""

    def is_met() -> bool:
        page.wait_for_timeout(20)
        return condition()

    wait_until(is_met)


def seconds_stored() -> int:
    return Attention.objects.get().seconds


def refusals(caplog: pytest.LogCaptureFixture) -> list[int]:
    """Statuses from 400 on of reports of time, as the server's log has them: the browser does not always hand over the
    answer to a request that may outlive its page. Requests of an earlier test may still end meanwhile.
    """
    return [
        record.status_code  # type: ignore[attr-defined]
        for record in caplog.records
        if getattr(record, "status_code", 0) >= 400 and "/time/" in record.getMessage()
    ]


def sign_in_over_the_page(page: Page, workshop: Workshop) -> None:
    dialog = page.locator("#session-ended")
    dialog.get_by_label("Email address").fill(workshop.annotator.email)
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    expect(dialog).to_be_hidden()


def test_a_report_with_an_old_token_is_sent_again_with_the_new_one(
    new_page: NewPage, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    watch.allow("status of 403")
    workshop = build_workshop()
    page = new_page(workshop.annotator)
    reports = open_response(page, workshop.queue()[0])
    page.context.clear_cookies(name="csrftoken")  # as signing in again in another tab does
    work(page, 61)
    # The one that started the clock, the refused one, and the same again. The browser tells of them a little later.
    wait_on(page, lambda: seconds_stored() > 0 and len(reports) >= 3)
    assert 59 <= seconds_stored() <= 61
    assert len(reports) == 3
    assert refusals(caplog) == [403]


def test_nothing_is_reported_while_the_person_signs_in_again_and_nothing_is_lost(
    new_page: NewPage, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    watch.allow("status of 401")
    workshop = build_workshop()
    page = new_page(workshop.annotator)
    reports = open_response(page, workshop.queue()[0])
    work(page, 40)
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("m")
    expect(page.locator("#session-ended")).to_be_visible()
    work(page, 70)
    assert len(reports) == 1  # the one that started the clock
    sign_in_over_the_page(page, workshop)
    work(page, 2)
    wait_on(page, lambda: seconds_stored() > 0 and len(reports) >= 2)
    assert 108 <= seconds_stored() <= 113
    assert len(reports) == 2
    assert 403 not in refusals(caplog)


def test_work_that_is_opened_when_the_session_has_ended_begins_after_signing_in(
    new_page: NewPage, watch: Watch
) -> None:
    watch.allow("status of 401")
    workshop = build_workshop()
    page = new_page(workshop.annotator)
    reports: list[Request] = []
    page.on("request", lambda request: request.url.endswith("/time/") and reports.append(request))
    stop_clock(page)
    page.goto(f"/work/{workshop.queue()[0].public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("m")
    expect(page.locator("#session-ended")).to_be_visible()
    page.clock.run_for(SETTLED_MS)
    assert reports == []
    sign_in_over_the_page(page, workshop)
    wait_until(lambda: Attention.objects.exists())
    wait_on(page, lambda: len(reports) == 1)


def test_the_seconds_of_a_report_that_did_not_arrive_go_with_the_next_one(new_page: NewPage, watch: Watch) -> None:
    watch.allow("ERR_FAILED", "status of 500")
    workshop = build_workshop()
    page = new_page(workshop.annotator)
    reports = open_response(page, workshop.queue()[0])

    def fail(route: Route) -> None:
        if len(reports) == 2:
            route.abort()
        else:
            route.fulfill(status=500)

    page.route("**/time/", fail)
    for number in (2, 3):
        work(page, 60)
        wait_on(page, lambda number=number: len(reports) == number)  # type: ignore[misc]
        work(page, 5)
    assert len(reports) == 3  # one a minute, not one a second
    assert seconds_stored() == 0
    page.unroute("**/time/")
    work(page, 60)
    wait_on(page, lambda: seconds_stored() > 0)
    assert 170 <= seconds_stored() <= 192


def test_time_is_not_reported_for_somebody_else(
    new_page: NewPage, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody else has signed in to this browser, in another tab."""
    watch.allow("status of 403")
    benchmark = BenchmarkFactory(slug="b")
    authors = [UserFactory(), UserFactory()]
    for author in authors:
        give_authoring_role(benchmark=benchmark, user=author, role="author", at=timezone.now())
    case = CaseFactory(benchmark=benchmark)
    page, other = new_page(authors[0]), new_page(authors[1])
    reports: list[Request] = []
    questions: list[Request] = []
    page.on("request", lambda request: request.url.endswith("/time/") and reports.append(request))
    page.on("requestfinished", lambda request: request.url.endswith("/session") and questions.append(request))
    stop_clock(page)
    page.goto(f"/b/b/write/{case.public_id}/")
    wait_until(lambda: AuthoringTime.objects.exists())
    page.context.clear_cookies()
    page.context.add_cookies(other.context.cookies())  # type: ignore[arg-type]
    work(page, 31)
    wait_on(page, lambda: len(reports) == 2 and refusals(caplog) == [403])
    # Until the page knows of the refusal, and who is signed in.
    wait_on(page, lambda: bool(questions))
    page.wait_for_timeout(200)
    work(page, 65)
    page.wait_for_timeout(200)
    assert AuthoringTime.objects.get().user == authors[0]
    assert len(reports) == 2
