"""What an author and an admin wait for in a large benchmark: the list of cases, its search, the dashboard, the editors.

    .venv/bin/python bench/authoring.py [--cases 5000] [--clients 8] [--requests 25] [--stay]

The benchmark is that of `imports.py` (5,000 cases with about as many criteria as HealthBench has; its text is made up),
imported by the product. Each page is requested by that many clients at once through the product's own web server; a
response ends with its last byte. `healthz` in the same run is the web server's floor. Two columns give the CPU that the
web processes and the database used for one request, on all cores together: unlike the waiting times they depend little
on what else the machine does. The database's CPU is known where it runs on the same machine.

With ``--stay`` the server stays up until Ctrl-C: admin@example.org and author@example.org, password `consilium-bench`.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from grading import PORT, Browser, cpu_of, in_threads
from imports import WORDS, write_cases
from processes import web_server
from scratch import quantile, scratch_product, show

SLUG = "bench"
PASSWORD = "consilium-bench"  # of a scratch product, which is removed after the run


def fill(home: Path, cases: int) -> tuple[int, list[str]]:
    """Import the cases and make an admin and an author; returns the number of criteria and ids of cases."""
    from django.core.management import call_command
    from django.db import connection

    from accounts.models import User
    from rubrics.models import AuthoringRole, Benchmark, BenchmarkRole, Case

    path = home / "cases.jsonl"
    criteria = write_cases(path, cases=cases, rng=random.Random(7))
    with open(os.devnull, "w") as quiet:
        call_command("import_cases", str(path), benchmark=SLUG, stdout=quiet)
    benchmark = Benchmark.objects.get(slug=SLUG)
    for name in ("admin", "author"):
        User.objects.create_user(name, f"{name}@example.org", PASSWORD, name=f"The {name}")
    BenchmarkRole.objects.create(benchmark=benchmark, user=User.objects.get(username="admin"), role="admin")
    AuthoringRole.objects.create(benchmark=benchmark, user=User.objects.get(username="author"), role="author")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum does within a minute or two
    return criteria, list(Case.objects.order_by("pk").values_list("public_id", flat=True))


def session_of(name: str) -> str:
    """A session cookie of that user."""
    from django.conf import settings
    from django.test import Client

    from accounts.models import User

    client = Client()
    client.force_login(User.objects.get(username=name))
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def pages(ids: list[str], rng: random.Random) -> list[tuple[str, str, Callable[[], str]]]:
    """The pages: a name, who requests it, and a function that gives an address (a new one each time if it can)."""
    from django.urls import reverse

    cases, dashboard = reverse("rubrics:cases", args=[SLUG]), reverse("rubrics:write", args=[SLUG])

    def of_a_case(name: str) -> Callable[[], str]:
        return lambda: reverse(name, args=[SLUG, rng.choice(ids)])

    def words() -> str:
        return f"{rng.choice(WORDS)}+{rng.choice(WORDS)}"

    return [
        ("cases", "admin", lambda: cases),
        ("  page 40, by criteria", "admin", lambda: f"{cases}?sort=-criteria&page=40"),
        ("  search, two words", "admin", lambda: f"{cases}?q={words()}"),
        ("  search, one key", "admin", lambda: f"{cases}?q=case-00{rng.randint(1000, 4999)}"),
        ("  search, nothing found", "admin", lambda: f"{cases}?q=xylophone"),
        ("one case", "admin", of_a_case("rubrics:case")),
        ("authors’ dashboard", "author", lambda: dashboard),
        ("  search, two words", "author", lambda: f"{dashboard}?q={words()}"),
        ("case editor", "author", of_a_case("rubrics:write-case")),
        ("rubric editor", "author", of_a_case("rubrics:write-rubric")),
        ("  floor: healthz", "admin", lambda: "/healthz"),
    ]


def cpu_of_database() -> float:
    """CPU seconds that the database's processes for this product have used; 0 where they run elsewhere."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        backends = [pid for (pid,) in cursor.fetchall()]
    seconds = 0.0
    for pid in backends:
        with suppress(OSError):
            seconds += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    return seconds


def measure(server: int, ids: list[str], clients: int, requests: int) -> list[tuple[Any, ...]]:
    """Times of every page under ``clients`` at once."""
    sessions = {name: session_of(name) for name in ("admin", "author")}
    rows = []
    for name, who, address in pages(ids, random.Random(11)):
        addresses = [[address() for _ in range(requests)] for _ in range(clients)]

        def work(number: int, session: str = sessions[who], addresses: list[list[str]] = addresses) -> list[float]:
            browser = Browser(session)
            return [browser.ask("GET", path)[0] for path in addresses[number]]

        in_threads(clients, work)  # templates are loaded, caches are warm
        web, database = cpu_of(server), cpu_of_database()
        times, wall = in_threads(clients, work)
        used = [1000 * (cpu_of(server) - web) / len(times), 1000 * (cpu_of_database() - database) / len(times)]
        figures = (1000 * quantile(times, 0.5), 1000 * quantile(times, 0.95), *used, len(times) / wall)
        rows.append((name, who, len(times), *figures))
    return rows


def main() -> None:
    """Fill, serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=25, help="of each client, for each page")
    parser.add_argument("--stay", action="store_true", help="keep serving until Ctrl-C")
    options = parser.parse_args()
    with scratch_product() as home:
        criteria, ids = fill(home, options.cases)
        print(f"{options.cases:,} cases, {criteria:,} criteria, {options.clients} clients at once")
        with web_server(PORT) as server:
            rows = measure(server.pid, ids, options.clients, options.requests)
            show("Authoring", ("", "as", "requests", "p50 ms", "p95 ms", "web CPU ms", "database", "per s"), rows)
            if options.stay:
                print(f"http://127.0.0.1:{PORT}/ (Ctrl-C ends it)", flush=True)
                with suppress(KeyboardInterrupt):
                    server.wait()


if __name__ == "__main__":
    main()
