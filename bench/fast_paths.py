"""What each fast path of the web pages saves: CPU milliseconds of Python and of PostgreSQL for one request.

    .venv/bin/python bench/fast_paths.py [--blocks 24] [--requests 5] [--route NAME …] [--profile NAME]

All in one process, over the rows of `dashboard.py`, through Django's test client (middleware, session, templates and
audit trail included). The variants take turns block by block, so that other load on the machine affects them alike. A
figure is the mean of the better half of the blocks.

- *as it is*: the product
- *ordinary queries*: each compiled query is replaced by an ordinary query of Django, built again for each request
- *no kept plans*: compiled queries, but the connection keeps no plans

``--profile`` prints where the time of one route goes instead.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import random
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from authoring import cpu_of_database
from dashboard import CRITERIA, SLUG, fill
from scratch import scratch_product, show

Route = Callable[[], Any]


class _Key(int):
    """A primary key in place of its row, for filters that take a row."""

    @property
    def pk(self) -> int:
        return int(self)


class _OrdinaryQuery:
    """Has the methods of a compiled query, and runs an ordinary one."""

    @staticmethod
    def _query(compiled: Any, values: dict[str, Any]) -> Any:
        from django.db.models import Value

        # As a `Parameter`, each value is an expression or has a key of its own.
        return compiled._build(
            **{name: _Key(value) if isinstance(value, int) else Value(value) for name, value in values.items()}
        )

    @staticmethod
    def rows(compiled: Any, **values: Any) -> list[Any]:
        return list(_OrdinaryQuery._query(compiled, values))

    @staticmethod
    def objects(compiled: Any, **values: Any) -> list[Any]:
        return list(_OrdinaryQuery._query(compiled, values))

    @staticmethod
    def first(compiled: Any, **values: Any) -> Any:
        return next(iter(_OrdinaryQuery._query(compiled, values)), None)

    @staticmethod
    def count(compiled: Any, **values: Any) -> int:
        return int(_OrdinaryQuery._query(compiled, values).count())

    @staticmethod
    def exists(compiled: Any, **values: Any) -> bool:
        return bool(_OrdinaryQuery._query(compiled, values).exists())


def _fetch(sql: str, parameters: Any) -> list[Any]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


@contextmanager
def ordinary_queries() -> Iterator[None]:
    """Replace compiled queries by ordinary ones."""
    from consilium.core import compiled_queries
    from rubrics.selectors import lists

    with ExitStack() as stack:
        for name in ("rows", "objects", "first", "count", "exists"):
            plain = getattr(_OrdinaryQuery, name)
            method = (lambda run: lambda self, **values: run(self, **values))(plain)
            stack.enter_context(mock.patch.object(compiled_queries.CompiledQuery, name, method))
        stack.enter_context(mock.patch.object(lists, "fetch_prepared", _fetch))
        yield


@contextmanager
def no_plans() -> Iterator[None]:
    """Make connections keep no plans: those that are open, and those that the pool opens."""
    from standalone.postgres import base

    with mock.patch.object(base.DatabaseWrapper, "prepared_cursor", lambda self: self.cursor()):
        yield


@contextmanager
def as_it_is() -> Iterator[None]:
    """The product unchanged."""
    yield


VARIANTS = {
    "as it is": as_it_is,
    "ordinary queries": ordinary_queries,
    "no kept plans": no_plans,
}


def routes() -> dict[str, Route]:
    """Name → a function that makes one request as a signed-in user; RuntimeError on any other status than 200."""
    from django.test import Client
    from django.urls import reverse

    from accounts.models import User
    from annotation.models import Assignment, Decision
    from rubrics.models import AuthoringRole, Benchmark, Case

    benchmark = Benchmark.objects.get(slug=SLUG)
    author = User.objects.create_user("author", "author@example.org", name="The author")
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    draft = Assignment.objects.filter(status="draft", batch__status="open").order_by("position", "pk")[0]
    physician = draft.annotator
    clients = {}
    for user in (User.objects.get(username="admin"), author, physician):
        clients[user.username] = Client()
        clients[user.username].force_login(user)
    case = Case.objects.filter(benchmark=benchmark).order_by("pk")[7]
    decision = Decision.objects.filter(assignment=draft).order_by("pk")[0]

    def page(username: str, address: str) -> Route:
        def get() -> None:
            answer = clients[username].get(address)
            if answer.status_code != 200:
                raise RuntimeError(f"{address}: {answer.status_code}")

        return get

    versions = {"next": decision.version}

    def autosave() -> None:
        version = versions["next"]
        row = {
            "criterion": decision.criterion_id,
            "outcome": "met" if version % 2 else "not_met",
            "version": version,
            "client_id": str(uuid.uuid4()),
        }
        address = f"/work/{draft.public_id}/decisions/"
        answer = clients[physician.username].post(
            address, json.dumps({"decisions": [row]}), content_type="application/json"
        )
        if answer.status_code != 200 or b'"saved"' not in answer.content:
            raise RuntimeError(f"{address}: {answer.status_code} {answer.content[:200]!r}")
        versions["next"] = version + 1

    def address(name: str, *args: str) -> str:
        return reverse(name, args=[SLUG, *args])

    return {
        "autosave of one decision": autosave,
        "grading page": page(physician.username, f"/work/{draft.public_id}/"),
        "next response": page(physician.username, f"/work/{draft.public_id}/next/"),
        "my work": page(physician.username, "/work/"),
        "list of cases": page("admin", address("rubrics:cases")),
        "overview": page("admin", address("rubrics:overview")),
        "batches": page("admin", address("annotation:batches")),
        "a case": page("admin", address("rubrics:case", case.public_id)),
        "authors' dashboard": page("author", address("rubrics:write")),
        "case editor": page("author", address("rubrics:write-case", case.public_id)),
        "rubric editor": page("author", address("rubrics:write-rubric", case.public_id)),
    }


def better_half(times: Sequence[float]) -> float:
    """Mean of the smaller half of ``times``."""
    smaller = sorted(times)[: max(1, len(times) // 2)]
    return sum(smaller) / len(smaller)


def measure(route: Route, *, variants: Sequence[str], blocks: int, requests: int) -> dict[str, tuple[float, float]]:
    """Variant → CPU milliseconds of Python and of PostgreSQL for one request."""
    python: dict[str, list[float]] = {name: [] for name in variants}
    database: dict[str, list[float]] = {name: [] for name in variants}
    for block in range(-1, blocks):  # the first warms everything up and does not count
        turn = block % len(variants)
        for name in (*variants[turn:], *variants[:turn]):
            with VARIANTS[name]():
                begin_database, begin = cpu_of_database(), time.process_time()
                for _ in range(requests):
                    route()
                python_seconds = time.process_time() - begin
                database_seconds = cpu_of_database() - begin_database
            if block >= 0:
                python[name].append(1000 * python_seconds / requests)
                database[name].append(1000 * database_seconds / requests)
    return {name: (better_half(python[name]), better_half(database[name])) for name in variants}


def profile(route: Route, requests: int = 200) -> None:
    """Print where the time of ``requests`` requests goes."""
    for _ in range(5):
        route()
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(requests):
        route()
    profiler.disable()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats(120)


def main() -> None:
    """Fill, measure in turn, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=24)
    parser.add_argument("--requests", type=int, default=5, help="in each block")
    parser.add_argument("--route", nargs="+", help="these alone")
    parser.add_argument("--variant", nargs="+", choices=list(VARIANTS), default=list(VARIANTS), help="these alone")
    parser.add_argument("--profile", metavar="ROUTE", help="where the time of this route goes, instead of measuring")
    options = parser.parse_args()
    os.environ["CONSILIUM_WEB"] = "1"  # connections as web processes have them
    with scratch_product() as home:
        from django.core.management import call_command

        with open(os.devnull, "w") as quiet:
            call_command("collectstatic", interactive=False, stdout=quiet)
        fill(home, physicians=5, responses=250, rng=random.Random(7))
        every = routes()
        if options.profile:
            profile(every[options.profile])
            return
        rows = []
        for name in options.route or every:
            figures = measure(every[name], variants=options.variant, blocks=options.blocks, requests=options.requests)
            first = figures[options.variant[0]]
            row: list[object] = [name, f"{first[0]:.2f} + {first[1]:.2f}"]
            for variant in options.variant[1:]:
                own, database = figures[variant]
                row.append(f"{own:.2f} ({own / first[0] - 1:+.0%}) + {database:.2f}")
            rows.append(row)
            print(*row, sep="  ", flush=True)
    show(
        f"CPU ms of Python + PostgreSQL for one request, {CRITERIA} criteria a response",
        ("route", *options.variant), rows,
    )  # fmt: skip


if __name__ == "__main__":
    main()
