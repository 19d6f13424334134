"""What a physician waits for: opening a response, and its decisions being saved, under several clients at once.

    .venv/bin/python bench/grading.py [--responses 2750] [--clients 1 8 16] [--json FILE]

Makes a batch of that many responses × 30 criteria for annotators of one group, fills all but their next responses with
decisions, and starts the product's own web server on loopback. Each client works through its queue as the page does,
with session, CSRF token, versions and audit trail:

- *autosave*: one decision in a request, as after each key
- *send 30*: thirty decisions in a request, as after a lost connection
- *open next*: the next response as the page swaps it in; *open page*: as a page of its own

Floors, in the same run on the same server: `healthz`, the web server without a session; `psycopg`, the same decision
rows (same constraints and audit triggers) written over as many bare connections, one or thirty in a statement. CPU* is
*what the web processes used for one request, on both cores together: unlike the waiting time it does not depend on what
*else the machine does.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from processes import web_server
from scratch import family, memory, peak_memory, quantile, scratch_product, show

PORT = int(os.environ.get("BENCH_PORT", "8791"))
CRITERIA = 30
CASES = 250


def fill(home: Path, *, responses: int, clients: int, opens: int, rng: random.Random) -> list[list[str]]:
    """Make the batch; returns for each client the public ids of its open assignments, in order."""
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from accounts.models import User
    from annotation.models import Assignment
    from annotation.services import BatchTerms, ResponseFilter, add_member, create_batch, create_group, plan_batch
    from rubrics.models import Benchmark

    words = [f"word{n}" for n in range(400)]

    def text(count: int) -> str:
        return " ".join(rng.choice(words) for _ in range(count))

    cases = min(CASES, responses)
    with (home / "cases.jsonl").open("w") as file:
        for number in range(cases):
            row = {
                "prompt_id": f"c{number}",
                "prompt": [{"role": role, "content": text(80)} for role in ("user", "assistant", "user")],
                "rubrics": [{"criterion": text(18), "points": 1, "tags": ["axis:x"]} for _ in range(CRITERIA)],
                "example_tags": [],
                "ideal_completions_data": None,
                "canary": "",
            }
            file.write(json.dumps(row) + "\n")
    with (home / "responses.jsonl").open("w") as file:
        for number in range(responses):
            row = {"case": f"c{number % cases}", "candidate": f"m{number // cases}", "response": text(300)}
            file.write(json.dumps(row) + "\n")
    with open(os.devnull, "w") as quiet:
        call_command("import_cases", str(home / "cases.jsonl"), benchmark="bench", stdout=quiet)
        call_command("import_responses", str(home / "responses.jsonl"), benchmark="bench", stdout=quiet)
    group = create_group(benchmark=Benchmark.objects.get(slug="bench"), name="Bench")
    for number in range(clients):
        user = User.objects.create(username=f"u{number}", email=f"u{number}@example.org", name=f"Client {number}")
        add_member(group=group, email=user.email, role="annotator")
    terms = BatchTerms(title="Bench", check_policy="none", seed=3)
    batch = create_batch(plan=plan_batch(group=group, terms=terms, filter=ResponseFilter()), by=None, at=timezone.now())
    queues = []
    for user in User.objects.filter(username__startswith="u").order_by("pk"):
        rows = Assignment.objects.filter(batch=batch, annotator=user).order_by("position")
        queues.append(list(rows.values_list("public_id", flat=True)[:opens]))
    keep = [public_id for queue in queues for public_id in queue]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotation_decision (assignment_id, criterion_id, round, outcome, borderline, note, evidence,"
            " version, created_at, updated_at)"
            " SELECT a.id, i.criterion_id, 1, CASE WHEN random() < .5 THEN 'met' ELSE 'not_met' END, false, '', '[]',"
            " 1, now(), now() FROM annotation_assignment a JOIN rubrics_rubricitem i ON i.rubric_id = a.rubric_id"
            " WHERE NOT a.public_id = ANY(%s)",
            [keep],
        )
        cursor.execute(
            "UPDATE annotation_assignment SET status = 'accepted', submitted_at = now(), accepted_at = now()"
            " WHERE NOT public_id = ANY(%s)",
            [keep],
        )
        cursor.execute("ANALYZE")
    return queues


def sign_in(clients: int) -> list[str]:
    """A session cookie for each client."""
    from django.conf import settings
    from django.test import Client

    from accounts.models import User

    cookies = []
    for number in range(clients):
        client = Client()
        client.force_login(User.objects.get(username=f"u{number}"))
        cookies.append(client.cookies[settings.SESSION_COOKIE_NAME].value)
    return cookies


class Browser:
    """One client with one keep-alive connection."""

    def __init__(self, session: str = "") -> None:
        self.cookies = {"sessionid": session} if session else {}
        self.token = ""
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)

    def ask(self, method: str, path: str, body: object = None) -> tuple[float, str]:
        """Seconds and text of one request; RuntimeError on any other status than 200."""
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items()), "HX-Request": "true"}
        data = None
        if body is not None:
            headers |= {"Content-Type": "application/json", "X-CSRFToken": self.token}
            data = json.dumps(body)
        began = time.perf_counter()
        self.connection.request(method, path, data, headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        seconds = time.perf_counter() - began
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]!r}")
        if match := re.search(r"X-CSRFToken[^A-Za-z0-9]+([A-Za-z0-9]{32,})", text):
            self.token = match[1]
        return seconds, text


def in_threads(count: int, work: Callable[[int], list[float]]) -> tuple[list[float], float]:
    """Run ``work(number)`` in as many threads; returns all their times, and the seconds from start to end."""
    times: list[float] = []
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            times.extend(work(number))
        except Exception as failure:  # raised by the caller, once all threads are done
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return times, time.perf_counter() - began


def cpu_of(pid: int) -> float:
    """CPU seconds that a process and its descendants have used."""
    ticks = 0
    for member in family(pid):
        fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Measure:
    """Clients that work through responses of their own; nothing is saved twice."""

    RESPONSES = {1: 4, CRITERIA: 20}  # that each client decides, by the decisions in a request

    def __init__(self, queues: list[list[str]], cookies: list[str], server: int) -> None:
        self.queues, self.cookies, self.server = queues, cookies, server
        self.used = [0] * len(queues)
        self.results: list[dict[str, Any]] = []
        self.memory = 0  # KiB, the maximum seen between two lines

    def take(self, number: int, count: int) -> list[str]:
        """The next responses of a client's queue."""
        begin = self.used[number]
        self.used[number] += count
        taken = self.queues[number][begin : begin + count]
        if len(taken) < count:
            raise RuntimeError("the queues are too short for this run")
        return taken

    def run(self, name: str, clients: int, work: Callable[[int], list[float]]) -> None:
        """Measure one line of the table and keep it."""
        before = cpu_of(self.server)
        times, wall = in_threads(clients, work)
        used = cpu_of(self.server) - before
        self.memory = max(self.memory, memory(self.server))
        figures = {
            "p50": 1000 * quantile(times, 0.5),
            "p95": 1000 * quantile(times, 0.95),
            "cpu": 1000 * used / len(times),
        }
        self.results.append({"what": name, "clients": clients, "n": len(times), **figures, "per_s": len(times) / wall})

    def all(self, clients: int) -> None:
        """Measure all lines with that many clients."""
        self.run("open page", clients, self.opens("/work/{}/", 20))
        self.run("open next", clients, self.opens("/work/{}/next/", 20))
        self.run("  floor: healthz", clients, self.healthz)
        self.run("autosave", clients, self.saves(1))
        self.run("  floor: psycopg, 1 row", clients, self.inserts(1))
        self.run("send 30", clients, self.saves(CRITERIA))
        self.run("  floor: psycopg, 30 rows", clients, self.inserts(CRITERIA))

    def opens(self, path: str, count: int) -> Callable[[int], list[float]]:
        """Ask for ``count`` responses."""

        def work(number: int) -> list[float]:
            browser = Browser(self.cookies[number])
            return [browser.ask("GET", path.format(self.queues[number][at]))[0] for at in range(count)]

        return work

    def saves(self, at_once: int) -> Callable[[int], list[float]]:
        """Decide whole responses, ``at_once`` decisions in a request."""
        count = self.RESPONSES[at_once]
        ready: dict[int, list[tuple[str, list[int]]]] = {}
        browsers: dict[int, Browser] = {}
        for number in range(len(self.queues)):
            browsers[number], ready[number] = Browser(self.cookies[number]), []

        def work(number: int) -> list[float]:
            browser, times = browsers[number], []
            for public_id, ids in ready[number]:
                for at in range(0, CRITERIA, at_once):
                    rows = [
                        {"criterion": criterion, "outcome": "met", "version": 0, "client_id": str(uuid.uuid4())}
                        for criterion in ids[at : at + at_once]
                    ]
                    seconds, text = browser.ask("POST", f"/work/{public_id}/decisions/", {"decisions": rows})
                    times.append(seconds)
                    if text.count('"saved"') != at_once:
                        raise RuntimeError(text[:200])
            return times

        self._prepare(ready, browsers, count)
        return work

    def _prepare(self, ready: dict[int, list[tuple[str, list[int]]]], browsers: dict[int, Browser], count: int) -> None:
        from annotation.models import Assignment
        from rubrics.models import RubricItem

        for number in ready:
            browsers[number].ask("GET", f"/work/{self.queues[number][0]}/")  # cookies and token, as the page has them
            for public_id in self.take(number, count):
                rubric = Assignment.objects.get(public_id=public_id).rubric_id
                items = RubricItem.objects.filter(rubric=rubric).order_by("position")
                ready[number].append((public_id, list(items.values_list("criterion_id", flat=True))))
        for browser in browsers.values():
            browser.connection.close()  # the server has closed it meanwhile; the next request opens another

    def healthz(self, number: int) -> list[float]:
        """Request `healthz`, which does no work."""
        browser = Browser()
        return [browser.ask("GET", "/healthz")[0] for _ in range(200)]

    def inserts(self, at_once: int) -> Callable[[int], list[float]]:
        """Write rows over a bare connection, ``at_once`` in a statement."""

        def work(number: int) -> list[float]:
            import psycopg
            from django.db import connection

            times = []
            with psycopg.connect(**connection.get_connection_params(), autocommit=True) as bare:  # type: ignore[arg-type]
                rows = bare.execute(
                    "SELECT a.id, i.criterion_id FROM annotation_assignment a"
                    " JOIN rubrics_rubricitem i ON i.rubric_id = a.rubric_id WHERE a.public_id = ANY(%s)",
                    [self.queues[number][: self.RESPONSES[at_once]]],
                ).fetchall()
                number_of_round = 100 * len(self.results) + number
                for at in range(0, len(rows), at_once):
                    some = rows[at : at + at_once]
                    began = time.perf_counter()
                    bare.execute(
                        "INSERT INTO annotation_decision (assignment_id, criterion_id, round, outcome, borderline,"
                        " note, evidence, version, client_id, created_at, updated_at)"
                        " SELECT a, c, %s, 'met', false, '', '[]', 1, gen_random_uuid(), now(), now()"
                        " FROM unnest(%s::bigint[], %s::bigint[]) AS given (a, c)",
                        [number_of_round, [pk for pk, _ in some], [pk for _, pk in some]],
                    )
                    times.append(time.perf_counter() - began)
            return times

        return work


def main() -> None:
    """Fill, serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--responses", type=int, default=2750, help="responses that are decided before the run")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 16])
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    options = parser.parse_args()
    with scratch_product() as home:
        from django.db import connection

        most = max(options.clients)
        # Every client needs responses of its own for each of the runs.
        opens = 25 * len(options.clients)
        queues = fill(home, responses=options.responses + most * opens, clients=most, opens=opens, rng=random.Random(7))
        cookies = sign_in(most)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM annotation_decision")
            print(f"{cursor.fetchone()[0]:,} decisions in the batch before the run")
        with web_server(PORT) as server:
            measure = Measure(queues, cookies, server.pid)
            in_threads(most, measure.opens("/work/{}/", 10))  # every thread has its connection and its templates
            for clients in options.clients:
                measure.all(clients)
            peak = peak_memory(server.pid) / 1024
    columns = ("", "clients", "requests", "p50 ms", "p95 ms", "CPU ms", "per s")
    show("Grading", columns, [tuple(row.values()) for row in measure.results])
    once = measure.memory / 1024
    print(f"web processes together: {once:.0f} MiB; {peak:.0f} MiB at their peaks where what they share counts in each")
    if options.json:
        options.json.write_text(json.dumps({"results": measure.results, "mib": once, "peak_mib": peak}))


if __name__ == "__main__":
    main()
