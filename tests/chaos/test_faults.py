"""Six faults while a physician grades in a real browser: nothing acknowledged is lost, nothing silently overwritten.

Each run opens a response, lets chance decide what is pressed and when the fault comes, heals it, and compares the
database with what the person did. Chance is seeded by the number of the run, so a run that fails can be run again.

- *Acknowledged*: the page says "saved". From that moment the database holds what was decided, or something that the
  same person decided later.
- *Silently overwritten*: the stored decision is not the person's last one, and no conflict was shown.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

import pytest
from django.conf import settings
from django.core.cache import caches
from django.test import Client
from playwright.sync_api import BrowserContext, Page, Route, TimeoutError, expect

from accounts.models import User, UserSession
from annotation.models import Assignment, Decision
from annotation.services import criteria_of
from standalone.processes import web
from tests.annotation.conftest import Workshop, build_workshop
from tests.chaos import FULL
from tests.conftest import Watch
from tests.factories import PASSWORD
from tests.processes import ROOT
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
RUNS = int(os.environ.get("CONSILIUM_CHAOS_RUNS", "50" if FULL else "2"))
CRITERIA = 8
ACTS = 14 if FULL else 9
CLICK_MS = 10_000  # where a dialog lies over the button, each click waits so long
KEYS = {"m": "met", "n": "not_met", "c": "cannot_assess"}
Word = tuple[str, bool, str]  # outcome, borderline, note


def stored(row: Assignment) -> dict[int, Word]:
    """What the database holds."""
    rows = Decision.objects.filter(assignment=row, round=1).values_list("criterion", "outcome", "borderline", "note")
    return {criterion: (outcome or "", borderline, note) for criterion, outcome, borderline, note in rows}


@dataclass
class GradingSession:
    """What the person has done at one response, in whatever tab, and what the pages have acknowledged of it."""

    row: Assignment
    rng: random.Random
    history: dict[int, list[Word]] = field(default_factory=dict)  # everything decided, in order
    acknowledged: dict[int, int] = field(default_factory=dict)  # criterion → place in ``history``

    def __post_init__(self) -> None:
        self.criteria = criteria_of(self.row)

    def last(self) -> dict[int, Word]:
        """What ought to stand in the end."""
        return {criterion: words[-1] for criterion, words in self.history.items()}

    def act(self, page: Page) -> bool:
        """Decide something: by a key, by the mouse, borderline, or a note. False if a dialog came over the page.

        What was done must show on the page, or a dialog must have kept it from being done. A notice that comes above
        the criteria during a click moves the buttons away from the mouse.
        """
        notices = page.locator("#refusal [data-refused]").count()
        kind = self.rng.choice(("key", "key", "key", "click", "borderline", "note"))
        if kind == "click":
            criterion = self.rng.choice(self.criteria)
        else:
            criterion = int(page.evaluate("document.querySelector('.criterion.current').dataset.row"))
        row = page.locator(f"[data-row='{criterion}']")
        outcome, borderline, note = self.history.get(criterion, [("", False, "")])[-1]
        if kind == "note":
            note = f"note {self.rng.randrange(1000)}"
        elif kind == "borderline":
            borderline = not borderline and outcome != "cannot_assess"  # met or not met, only just
        else:
            key = self.rng.choice(list(KEYS))
            outcome = KEYS[key]
            borderline = borderline and outcome != "cannot_assess"
        try:
            if kind == "click":
                row.locator(f"[data-set={outcome}]").click(timeout=CLICK_MS)
            elif kind == "note":
                page.keyboard.press("t")
                row.locator("[data-note]").fill(note, timeout=CLICK_MS)
                page.keyboard.press("Escape")
            else:
                page.keyboard.press("b" if kind == "borderline" else key)
        except TimeoutError:
            pass  # the dialog was in the way, as the page shows
        words, dialog = shown(page, criterion)
        if words == (outcome, borderline, note):
            self.history.setdefault(criterion, []).append(words)
        else:
            moved = kind == "click" and page.locator("#refusal [data-refused]").count() > notices
            assert dialog or moved, f"a {kind} was lost: {words}"
        return not dialog

    def tell(self, tabs: list[Page]) -> None:
        """Wait until each tab shows what was done last in any: nobody is within milliseconds in two of them."""

        def is_shown() -> bool:
            states = [(tab, criterion, words[-1]) for tab in tabs for criterion, words in self.history.items()]
            return all(shown(tab, criterion)[0] == word for tab, criterion, word in states)

        with contextlib.suppress(AssertionError):  # a tab that asks which version holds may show another one
            wait_until(is_shown, within_s=5)

    def look(self, page: Page) -> None:
        """Where the page says "saved", all that was done in it so far is acknowledged."""
        if page.locator("#saved").get_attribute("data-state") == "saved":
            self.acknowledged = {criterion: len(words) - 1 for criterion, words in self.history.items()}
            self.nothing_lost()

    def nothing_lost(self) -> None:
        """The database holds what was acknowledged, or what was decided after it."""
        decisions = stored(self.row)
        for criterion, place in self.acknowledged.items():
            assert decisions.get(criterion) in self.history[criterion][place:], (
                f"acknowledged {self.history[criterion][place]}, stored {decisions.get(criterion)}"
            )

    def all_saved(self, page: Page) -> None:
        """Wait until the page says so; then exactly what was decided last stands."""
        expect(page.locator("#saved")).to_have_attribute("data-state", "saved", timeout=60_000)
        assert stored(self.row) == self.last()


def shown(page: Page, criterion: int) -> tuple[Word, bool]:
    """What the page shows of a criterion, and whether a dialog lies over it."""
    outcome, borderline, note, dialog = page.evaluate(
        """id => {
            const row = document.querySelector(`[data-row="${id}"]`);
            const note = row.querySelector("textarea[data-note]")?.value ?? row.dataset.note;
            const dialog = Boolean(document.querySelector("dialog[open]"));
            return [row.dataset.outcome, row.dataset.borderline, note.trim(), dialog];
        }""",
        str(criterion),
    )
    return (outcome, borderline == "1", note), dialog


def open_work(page: Page, row: Assignment, base: str = "") -> Page:
    """The grading page, its script running."""
    page.goto(f"{base}/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    return page


def sign_in(context: BrowserContext, user: User, base: str) -> None:
    """Give the browser a session of ``user``, as another tab's sign-in would."""
    client = Client()
    client.force_login(user)
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": base}])


def grading_sessions(workshop: Workshop) -> Iterator[tuple[GradingSession, int]]:
    """A response and a seed for each run."""
    queue = workshop.queue()
    assert len(queue) >= RUNS
    for run in range(RUNS):
        yield GradingSession(queue[run], random.Random(run)), run


@pytest.fixture
def workshop(db: None) -> Workshop:
    """A response for each run, and each of them for both annotators."""
    return build_workshop(criteria=CRITERIA, responses=RUNS, annotators_per_item=2)


def test_a_killed_tab(workshop: Workshop, new_page: NewPage) -> None:
    page = new_page(workshop.annotator)
    for session, _run in grading_sessions(workshop):
        fatal = session.rng.randrange(ACTS)
        open_work(page, session.row)
        for number in range(ACTS):
            session.act(page)
            session.look(page)
            if number == fatal:
                context = page.context
                page.close()
                session.nothing_lost()
                page = open_work(context.new_page(), session.row)
        session.all_saved(page)


def test_an_expired_session(workshop: Workshop, new_page: NewPage, watch: Watch) -> None:
    watch.allow("status of 401")
    page = new_page(workshop.annotator)
    for session, _run in grading_sessions(workshop):
        for cache in caches.all(initialized_only=True):
            cache.clear()  # nobody signs in as often within minutes as all runs together
        ended = session.rng.randrange(ACTS - 2)
        open_work(page, session.row)
        for number in range(ACTS):
            if number == ended:
                UserSession.objects.all().delete()
            if not session.act(page):
                break  # the dialog lies over the page; nothing can be pressed below it
            session.look(page)
        sign_in_over_the_page(page, workshop.annotator)
        session.all_saved(page)


def sign_in_over_the_page(page: Page, user: User) -> None:
    """Fill in the dialog that has come up, and see it go."""
    dialog = page.locator("#session-ended")
    expect(dialog).to_be_visible()
    dialog.locator("input[name=login]").fill(user.email)
    dialog.locator("input[name=password]").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    expect(dialog).to_be_hidden()


def test_a_lost_connection(workshop: Workshop, new_page: NewPage, watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    page = new_page(workshop.annotator)
    for session, _run in grading_sessions(workshop):
        lost = session.rng.randrange(ACTS)
        restored_at = session.rng.randrange(lost, ACTS)
        open_work(page, session.row)
        for number in range(ACTS):
            if number == lost:
                page.context.set_offline(True)
            session.act(page)
            session.look(page)
            if number == restored_at:
                page.context.set_offline(False)
        session.all_saved(page)


def test_two_tabs(workshop: Workshop, new_page: NewPage, watch: Watch) -> None:
    """Now and then one of the tabs loses its connection, so that its decisions come late."""
    watch.allow("ERR_CONNECTION_RESET", "ERR_FAILED", "status of 409")
    first = new_page(workshop.annotator)
    tabs = [first, first.context.new_page()]

    def cut(route: Route) -> None:
        if route.request.method == "POST":
            route.abort("connectionreset")
        else:
            route.continue_()

    for session, _run in grading_sessions(workshop):
        for tab in tabs:
            open_work(tab, session.row)
        late = session.rng.choice(tabs)
        lost = session.rng.randrange(ACTS)
        restored_at = session.rng.randrange(lost, ACTS)
        for number in range(ACTS):
            if number == lost:
                late.route("**/work/**", cut)
            tab = session.rng.choice(tabs)
            tab.bring_to_front()
            session.act(tab)
            session.tell(tabs)
            if number == restored_at:
                late.unroute("**/work/**", cut)
        for tab in tabs:
            tab.bring_to_front()
            keep_the_last_word(tab, session)
        session.all_saved(tabs[0])
        session.all_saved(tabs[1])


def keep_the_last_word(page: Page, session: GradingSession) -> None:
    """Wait for "saved"; where the page asks which of two versions holds, answer with what was decided last."""
    choice = page.locator("#choice[open] [data-choice]")
    state = page.locator("#saved")

    def settled() -> bool:
        if choice.count():
            criterion = int(choice.get_attribute("data-choice") or 0)
            mine = stored(session.row).get(criterion) != session.last()[criterion]
            page.locator("#choice [data-keep-mine]" if mine else "#choice [data-take-saved]").click()
            return False
        return state.get_attribute("data-state") == "saved"

    try:
        wait_until(settled, within_s=60)
    except AssertionError:
        raise AssertionError(
            f"{state.text_content()}; {page.locator('#choice').text_content()}; "
            f"{page.locator('#refusal').text_content()}; decided {session.last()}, stored {stored(session.row)}"
        ) from None


def test_somebody_else_signs_in_elsewhere(workshop: Workshop, new_page: NewPage, watch: Watch) -> None:
    """Their own decisions on the same response stay theirs, and mine wait for me."""
    watch.allow("status of 40[1349]")
    base = watch.origin
    page = new_page(workshop.annotator)
    other = workshop.people()[1]
    for session, _run in grading_sessions(workshop):
        theirs = Assignment.objects.get(response=session.row.response, annotator=other)
        swapped = session.rng.randrange(ACTS - 1)
        open_work(page, session.row)
        for number in range(ACTS):
            if number == swapped:
                sign_in(page.context, other, base)
            session.act(page)
            if number < swapped:
                session.look(page)
        session.nothing_lost()
        assert stored(theirs) == {}
        sign_in(page.context, workshop.annotator, base)
        page.evaluate("window.dispatchEvent(new Event('focus'))")  # the person comes back to this tab
        session.all_saved(page)
        assert stored(theirs) == {}


class Server:
    """The product's web server on loopback over the test database; it can be killed and started again."""

    def __init__(self, environment: dict[str, str]) -> None:
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {**environment, "DJANGO_SETTINGS_MODULE": "tests.settings", "CONSILIUM_WEB": "1"}
        self.start()

    def start(self) -> None:
        """Start it; the page may find it by itself before this returns."""
        self.process = subprocess.Popen(
            [sys.executable, *web(bind=f"127.0.0.1:{self.port}").arguments],
            cwd=ROOT, env=self.environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(self.answers, within_s=60, message="the web server answers")

    def answers(self) -> bool:
        """Whether it takes connections."""
        with closing(socket.socket()) as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        """``kill -9`` with all its processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        wait_until(lambda: not self.answers(), within_s=60, message="nobody listens any more")


@pytest.fixture
def server(process_environment: dict[str, str]) -> Iterator[Server]:
    """A real web server, gone at the end."""
    running = Server(process_environment)
    yield running
    running.kill()


def test_the_server_restarts_in_the_middle_of_a_save(
    workshop: Workshop, new_page: NewPage, server: Server, watch: Watch
) -> None:
    # The last but one is an answer that was cut off.
    watch.allow(
        "ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_SOCKET", "ERR_CONTENT_LENGTH_MISMATCH", "status of 50[234]"
    )
    watch.origin = server.url
    page = new_page(base_url=server.url)
    sign_in(page.context, workshop.annotator, server.url)
    for session, _run in grading_sessions(workshop):
        fatal = session.rng.randrange(ACTS)
        open_work(page, session.row)
        for number in range(ACTS):
            session.act(page)
            if number == fatal:
                page.wait_for_timeout(session.rng.uniform(0, 30))  # somewhere between sending and answering
                server.kill()
                session.nothing_lost()
                server.start()
            session.look(page)
        session.all_saved(page)
