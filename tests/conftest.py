"""What all tests share: the embedded server, real Celery workers, and a real browser that watches its pages."""

from __future__ import annotations

import asyncio
import functools
import gc
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from django.conf import settings
from django.core.cache import caches
from django.core.management.commands.flush import Command as FlushCommand
from django.db import OperationalError, connection, transaction
from django.utils import timezone, translation

from config import celery_app
from standalone.embedded import ensure
from tests.processes import Worker, kill_workers, redis_server
from tests.slow_tests import SlowTests
from tests.template import ROOT, ensure_template
from tests.waiting import open_pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

gc.disable()  # until all modules are there: what is imported stays, and looking through it takes a fifth of the time

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright's synchronous API runs inside an event loop

# How long an example takes, or its data, says more about the machine than about the code.
# A run of all tests is the same run each time; the full size (CONSILIUM_CHAOS=full) draws new examples.
hypothesis.settings.register_profile(
    "consilium",
    deadline=None,
    derandomize=os.environ.get("CONSILIUM_CHAOS") != "full",
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("consilium")

# Real data is not part of the checkout; where it is absent its tests do not exist, so none is skipped.
OF_REAL_DATA = ["test_real_*.py", "**/test_real_*.py", "**/test_acuity_*journey.py", "**/test_validity_*journey.py"]
collect_ignore_glob = [] if os.environ.get("CONSILIUM_REAL_DATA") else OF_REAL_DATA


def pytest_configure(config: pytest.Config) -> None:
    """Keep the server for the whole session: the controller outlives the workers of xdist."""
    config.pluginmanager.register(SlowTests(), "slow_tests")
    if settings.EMBEDDED and not config.option.collectonly:
        root = settings.CONSILIUM_HOME / "postgres"
        root.mkdir(parents=True, exist_ok=True)
        (root / "throwaway").touch()
        ensure(settings.CONSILIUM_HOME)
        if not hasattr(config, "workerinput"):
            # Migrating takes longest of all that comes before the first test, so it is begun first of all.
            threading.Thread(target=ensure_template, args=[settings], daemon=True).start()


# The tests of each of these modules go to one process: what a conftest sets up for the module takes longer than a test.
# So do those of every module that has a fixture of its own for the module. pytest-xdist 3.8 cannot do it by a marker:
# under pytest 9.2 its `xdist_group` has no effect.
TOGETHER = (
    "tests/access/test_blinding.py",
    "tests/access/test_nested_json.py",
    "tests/access/test_url_matrix.py",
)
# These start processes and servers of their own, and need no database of the tests, which is not there yet.
BEFORE_THE_DATABASE = ("tests/infra/test_embedded.py", "tests/infra/test_secret_key.py")
# These hold the longest tests. Begun last, one of them would run alone while the other process has nothing left.
FIRST = ("tests/e2e/", "tests/chaos/", "tests/access/", "tests/infra/", "tests/scoring/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what need not wait for the database, then with tests that share a worker, then with the longest."""

    def turn(item: pytest.Item) -> int:
        if item.nodeid.startswith(BEFORE_THE_DATABASE):
            return 0
        if "celery_worker" in getattr(item, "fixturenames", ()):
            return 1
        return 2 if item.nodeid.startswith(FIRST) else 3

    items.sort(key=turn)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Look for garbage seldom, and not among the modules and tests that stay to the end: a twentieth of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


@functools.cache
def stays_together(module: str) -> bool:
    """Whether the tests of ``module``, a path from the root of the checkout, go to one process."""
    return module in TOGETHER or 'scope="module"' in (ROOT / module).read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Single tests to whichever process is free; those of a module that `stays_together` to one process."""
    from xdist.scheduler import LoadScopeScheduling

    class TogetherOrSingle(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            module = nodeid.split("::")[0]
            return module if stays_together(module) else nodeid

    return TogetherOrSingle(config, log)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skipped test tests nothing: the run fails."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and reporter.stats.get("skipped") and session.exitstatus == 0:
        reporter.write_line("Tests were skipped; that counts as failure.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def mails_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the tasks that send mails in this process, where the test can read the mails.

    Invitations are mailed once the transaction is over, notices of an account at once.
    """
    from accounts import tasks

    def after_commit(invitation_id: int) -> None:
        transaction.on_commit(lambda: tasks.mail_invitation(invitation_id))

    monkeypatch.setattr(tasks.mail_invitation, "delay_on_commit", after_commit)
    monkeypatch.setattr(tasks.mail_account_notice, "delay_on_commit", tasks.mail_account_notice)


# Database ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def template_database() -> None:
    """The migrated database that others are copied from, as soon as it is whole."""
    if settings.EMBEDDED:
        ensure_template(settings)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None, template_database: None) -> None:
    """What pytest-django asks for before it makes the database of this process."""


KEPT_TABLES = ("django_migrations", "django_content_type", "auth_permission")


@pytest.fixture(scope="session", autouse=True)
def _flush_what_is_there() -> Iterator[None]:
    """Between tests empty the tables that hold rows, past triggers and foreign keys; nobody else may do that.

    Django's own flush truncates every table and makes all permissions anew, which takes longer than most tests.
    """
    handle = FlushCommand.handle

    def empty(self: FlushCommand, **options: Any) -> None:
        for attempt in range(5):
            try:
                # Once more after each deletion: a request of the test before, which a deletion waited for, has left
                # rows in a table that was empty by then.
                if not delete_all():
                    break
            except OperationalError:  # a deadlock with a worker that still writes for the test before
                if attempt == 4:
                    raise

    def delete_all() -> bool:
        """Whether there was anything to delete."""
        names = [name for name in connection.introspection.table_names() if name not in KEPT_TABLES]
        with transaction.atomic(), connection.cursor() as cursor:
            quoted = {name: connection.ops.quote_name(name) for name in names}
            cursor.execute(" UNION ALL ".join(f"(SELECT '{name}' FROM {quoted[name]} LIMIT 1)" for name in names))
            filled = [quoted[name] for (name,) in cursor.fetchall()]
            if filled:
                cursor.execute("SET LOCAL session_replication_role = replica")
            for name in filled:
                cursor.execute(f"DELETE FROM {name}")
            return bool(filled)

    FlushCommand.handle = empty
    yield
    FlushCommand.handle = handle


@pytest.fixture(autouse=True)
def _empty_caches() -> None:
    """No test sees the rates that another one used up."""
    for cache in caches.all(initialized_only=True):
        cache.clear()


@pytest.fixture(autouse=True)
def _language_and_zone_of_nobody() -> None:
    """A request leaves its reader's behind, which the next test would speak."""
    translation.deactivate()
    timezone.deactivate()


@pytest.fixture(autouse=True)
def _sessions_in_memory(request: pytest.FixtureRequest, settings: Any) -> None:
    """A dozen queries less for each sign-in and one for each request; those of a browser stay in the database."""
    if "live_server" not in request.fixturenames:
        settings.SESSION_ENGINE = "django.contrib.sessions.backends.cache"


# Processes --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def process_environment(django_db_setup: None) -> dict[str, str]:
    """Environment for a process that shall work on this test session's database and broker."""
    database = settings.DATABASES["default"]
    host, port = str(database["HOST"]), str(database.get("PORT") or "")
    login = database["USER"] + (f":{database['PASSWORD']}" if database.get("PASSWORD") else "")
    address = "" if host.startswith("/") else f"{host}:{port}" if port else host
    query = f"?host={host}" if host.startswith("/") else ""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": f"postgres://{login}@{address}/{settings.TEST_DATABASE}{query}",
        "REDIS_URL": "",
        "CONSILIUM_HOME": str(settings.CONSILIUM_HOME),
        "SECRET_KEY": settings.SECRET_KEY,
        "PYTHONUNBUFFERED": "1",
    }


@pytest.fixture(scope="session")
def new_worker(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Worker]:
    """Start a worker that outlives the test; whoever starts it ends it."""

    def start(*, concurrency: int = 1, queue: str = "celery", **environment: str) -> Worker:
        log = tmp_path_factory.mktemp("worker") / "worker.log"
        return Worker({**process_environment, **environment}, log, concurrency=concurrency, queue=queue)

    return start


@pytest.fixture
def start_worker(new_worker: Callable[..., Worker]) -> Iterator[Callable[..., Worker]]:
    """Start real Celery workers: ``start_worker(concurrency=1, queue="celery", **environment)``.

    They are killed at the end of the test, or they would take the tasks of those that follow.
    """
    started: list[Worker] = []

    def start(**arguments: Any) -> Worker:
        started.append(new_worker(**arguments))
        return started[-1]

    yield start
    kill_workers(started)


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """Address of a Redis of the test's own."""
    with redis_server(tmp_path) as address:
        yield address


@pytest.fixture(autouse=True)
def _empty_broker(request: pytest.FixtureRequest) -> None:
    """A worker sees no task that an earlier test left, such as a mail about a changed password."""
    if "new_worker" in request.fixturenames:
        celery_app.control.purge()


@pytest.fixture(scope="session")
def _worker_at_hand() -> Iterator[list[Worker]]:
    """The shared worker of this process, where there is one now."""
    workers: list[Worker] = []
    yield workers
    kill_workers(workers)


@pytest.fixture
def celery_worker(new_worker: Callable[..., Worker], _worker_at_hand: list[Worker]) -> Worker:
    """One real Celery worker for the tests of this process that want one. The test itself needs ``transactional_db``.

    Its tasks see only what is committed. A test that kills its worker takes ``start_worker``.
    """
    if not _worker_at_hand:
        _worker_at_hand.append(new_worker())
    return _worker_at_hand[0]


@pytest.fixture(autouse=True)
def _no_idle_worker(request: pytest.FixtureRequest, _worker_at_hand: list[Worker]) -> None:
    """It would ask the broker ten times a second to the end of all tests, and take what they send to nobody."""
    if _worker_at_hand and "celery_worker" not in request.fixturenames:
        _worker_at_hand.pop().kill()


# Browser ----------------------------------------------------------------------------------------------------------

# Ten times what a page takes on a machine that has nothing else to do: only a page that fails waits so long.
PAGE_TIMEOUT_MS = 45_000
# The shell is the same engine without windows, and takes a good third less time over the tests.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Take Playwright's event loop away from tests without a page.

    It is left as running between Playwright's calls. It would forbid them a loop of their own, and give them another
    of Django's connections, which go by the running loop, than the one on which their transaction was begun.
    """
    if "chromium" in getattr(item, "fixturenames", ()):
        return (yield)
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return (yield)
    finally:
        asyncio._set_running_loop(loop)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, driven by Playwright."""
    from playwright.sync_api import expect, sync_playwright

    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        pytest.fail("No Chromium found: install the package chromium, or set CHROMIUM to its path.", pytrace=False)
    with sync_playwright() as playwright:
        expect.set_options(timeout=PAGE_TIMEOUT_MS)
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        loop = asyncio._get_running_loop()
        yield browser
        asyncio._set_running_loop(loop)  # the last test may have been one without a page
        browser.close()


class Watch:
    """What went wrong in the pages of one test. ``allow`` takes patterns of console errors that the test expects."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.allowed: list[re.Pattern[str]] = []
        self.errors: list[str] = []
        self.outside: list[str] = []

    def allow(self, *patterns: str) -> None:
        """Expect console errors that match one of ``patterns``, such as ``"status of 409"``."""
        self.allowed += map(re.compile, patterns)

    def console(self, message: ConsoleMessage) -> None:
        """Note an error of the console; refused inline styles and scripts arrive here too."""
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def request(self, request: Request) -> None:
        """Note a request that leaves the site."""
        if not request.url.startswith((self.origin, "data:", "blob:", "about:")):
            self.outside.append(request.url)

    def verdict(self) -> str:
        """What the test has to be failed for; empty where nothing."""
        errors = [text for text in self._without_aborted() if not any(each.search(text) for each in self.allowed)]
        return "\n".join([f"console error: {text}" for text in errors] + [f"outside: {url}" for url in self.outside])

    def _without_aborted(self) -> Iterator[str]:
        """The errors but those of requests that a page gave up itself: for a later one, or because it was closed."""
        for text, following in pairwise([*self.errors, ""]):
            is_of_aborted = text.startswith("htmx:afterRequest") and following.startswith("htmx:sendAbort")
            if not is_of_aborted and not text.startswith("htmx:sendAbort"):
                yield text


@pytest.fixture
def watch(live_server: Any) -> Watch:
    """Collects console errors and outside requests of all pages of this test."""
    return Watch(live_server.url)


@pytest.fixture
def new_page(chromium: Browser, live_server: Any, watch: Watch) -> Iterator[Callable[..., Page]]:
    """Open a page of its own browser context: ``new_page(user=None, **context_options)``; a user is signed in.

    Addresses may be relative. The test fails if a page logs an error or asks for anything outside the site.
    """
    from django.test import Client

    contexts = []

    def open_page(user: Any = None, **options: Any) -> Page:
        context = chromium.new_context(
            **{
                "base_url": live_server.url,
                "viewport": {"width": 1280, "height": 800},
                "locale": "en-GB",
                "reduced_motion": "reduce",  # frames of transitions are drawn for nobody
                **options,
            }
        )
        contexts.append(context)
        context.set_default_timeout(PAGE_TIMEOUT_MS)
        if user is not None:
            client = Client()
            client.force_login(user)
            value = client.cookies[settings.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": live_server.url}])
        page = context.new_page()
        page.on("console", watch.console)
        page.on("pageerror", lambda error: watch.errors.append(str(error)))
        page.on("request", watch.request)
        open_pages.append(page)
        return page

    yield open_page
    open_pages.clear()
    for context in contexts:
        context.close()
    verdict = watch.verdict()
    if verdict:
        pytest.fail(verdict, pytrace=False)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page where nobody is signed in."""
    return new_page()
