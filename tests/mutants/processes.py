"""Runs of pytest in processes that are forked from one that has imported the libraries, which takes seconds."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.mutated_import import MUTANT, import_mutant, observe, reached
from tests.mutants.operators import ROOT

HOOK = ROOT / "tests/mutants/hook"
LIBRARIES = (
    *("django.db.models", "django.forms", "django.test", "django.contrib.auth", "django.contrib.staticfiles"),
    *("django.template.defaulttags", "django.template.loader_tags", "django.views.generic", "allauth.account"),
    *("rest_framework", "drf_spectacular", "django_filters", "celery", "kombu", "sqlalchemy", "psycopg", "structlog"),
    *("numpy", "scipy.stats", "scipy.optimize", "hypothesis", "playwright.sync_api", "factory", "nh3", "markdown_it"),
    *("xdist", "pytest_django.plugin", "time_machine", "httpx", "openpyxl", "lxml", "bs4", "httptools"),
)
OPTIONS = ("-q", "--no-header", "-n", "0", "-p", "no:cacheprovider", "-p", "no:slow_tests")


@dataclass
class TestCost:
    """What a test reached and how much CPU time it took."""

    lines: set[tuple[str, int]] = field(default_factory=set)
    seconds: float = 0.0


class Observer:
    """Plugin of pytest: notes for each test what it reaches, whether it passes, and its CPU seconds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._start = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Note one test as a line of JSON."""
        reached.clear()
        self._passed = True
        self._start = time.process_time()
        result = yield
        row = {
            "test": item.nodeid,
            "passed": self._passed,
            "seconds": round(time.process_time() - self._start, 3),
            "reached": sorted(reached),
        }
        with self._path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test passes if none of its phases fails."""
        self._passed = self._passed and not report.failed


class FirstFailure:
    """Plugin of pytest: writes down which test failed first, and why."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The test and the last line of its error."""
        if report.failed and not self._path.exists():
            crash = getattr(report.longrepr, "reprcrash", None)
            self._path.write_text(f"{report.nodeid}\n{crash.message if crash else report.longreprtext[-300:]}")


def import_libraries() -> None:
    """What every run needs, and none changes."""
    for name in LIBRARIES:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: S112  # it is imported later, or not needed
            continue


def start(work: Callable[[], int], *, database: str, log: Path, cpu_seconds: int) -> int:
    """Do ``work`` in a process of its own, the leader of its group; returns the id of the process."""
    process = os.fork()
    if process:
        return process
    code = 99
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
        os.environ["CONSILIUM_TEST_DB"] = database
        code = int(work())
    finally:
        os._exit(code)


def end(process: int) -> None:
    """Kill a process of `start` with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def observe_tests(modules: Sequence[str], tests: Sequence[str], path: Path) -> int:
    """Run tests and note in ``path`` which statements of the modules each of them reaches."""
    observe(modules)
    return int(pytest.main([*OPTIONS, *tests], plugins=[Observer(path)]))


def judge(mutant: str, tests: Sequence[str], failure: Path) -> int:
    """Run tests over a mutant until one fails; the exit code of pytest."""
    os.environ[MUTANT] = mutant
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HOOK), *filter(None, [os.environ.get("PYTHONPATH")])])
    import_mutant()
    return int(pytest.main([*OPTIONS, "-x", *tests], plugins=[FirstFailure(failure)]))
