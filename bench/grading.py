"""What a physician waits for: opening a response and saving a decision, under several clients at once.

    .venv/bin/python bench/grading.py [--responses 2750] [--clients 8] [--opens 20]

Makes a batch of that many responses × 30 criteria for `--clients` annotators of one group, fills all but their next
responses with decisions, and starts the product's own web server on loopback. Each client opens responses of its
queue and saves decisions one by one, with CSRF token, session, versions and audit trail, as the page does.

Named alternatives, in the same run on the same server: `healthz`, the web server's floor without a session, and
`psycopg INSERT`, the same decision rows (with the same constraints and audit triggers) written over as many bare
connections, which is the database's floor.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scratch import ROOT, quantile, scratch_product, show

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
    """One client on one kept-open connection."""

    def __init__(self, session: str = "") -> None:
        self.cookies = {"sessionid": session} if session else {}
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)

    def ask(self, method: str, path: str, body: dict[str, str] | None = None, token: str = "") -> tuple[float, str]:
        """Seconds and text of one request; RuntimeError on any other status than 200."""
        import urllib.parse

        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items()), "HX-Request": "true"}
        if body is not None:
            headers |= {"Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": token}
        began = time.perf_counter()
        self.connection.request(method, path, urllib.parse.urlencode(body) if body is not None else None, headers)
        answer = self.connection.getresponse()
        data = answer.read()
        seconds = time.perf_counter() - began
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {data[:200]!r}")
        return seconds, data.decode()


def in_threads(count: int, work: Callable[[int], list[float]]) -> tuple[list[float], float]:
    """Run ``work(number)`` in as many threads; all times they return, and the seconds from start to end."""
    times: list[float] = []
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            times.extend(work(number))
        except Exception as failure:  # told by the caller, once all threads are done
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


def row(name: str, clients: int, times: list[float], wall: float) -> tuple[Any, ...]:
    """A line of the table."""
    return name, clients, len(times), 1000 * quantile(times, 0.5), 1000 * quantile(times, 0.95), len(times) / wall


def measure(queues: list[list[str]], cookies: list[str], clients: int) -> list[tuple[Any, ...]]:
    """Opens and saves with that many clients, and both floors."""
    half = {
        number: queue[len(queue) // 2 :] if clients == 1 else queue[: len(queue) // 2]
        for number, queue in enumerate(queues)
    }
    pages: dict[str, str] = {}

    def open_pages(number: int) -> list[float]:
        browser, times = Browser(cookies[number]), []
        for public_id in half[number]:
            seconds, text = browser.ask("GET", f"/work/{public_id}/")
            times.append(seconds)
            pages[public_id] = text
        return times

    def save(number: int) -> list[float]:
        browser, times = Browser(cookies[number]), []
        for public_id in half[number]:
            text = browser.ask("GET", f"/work/{public_id}/")[1]
            token = re.search(r"X-CSRFToken[^A-Za-z0-9]+([A-Za-z0-9]{32,})", text)
            assert token is not None
            ids = sorted(set(map(int, re.findall(r"/criteria/(\d+)/", text))))
            assert len(ids) == CRITERIA, len(ids)
            for criterion in ids:
                body = {"outcome": "met", "note": "", "evidence": "[]", "version": "0", "client_id": str(uuid.uuid4())}
                times.append(browser.ask("POST", f"/work/{public_id}/criteria/{criterion}/", body, token[1])[0])
        return times

    def healthz(number: int) -> list[float]:
        browser = Browser()
        return [browser.ask("GET", "/healthz")[0] for _ in range(200)]

    def insert(number: int) -> list[float]:
        import psycopg
        from django.db import connection

        times = []
        with psycopg.connect(**connection.get_connection_params(), autocommit=True) as bare:  # type: ignore[arg-type]
            rows = bare.execute(
                "SELECT a.id, i.criterion_id FROM annotation_assignment a"
                " JOIN rubrics_rubricitem i ON i.rubric_id = a.rubric_id WHERE a.public_id = ANY(%s)",
                [half[number]],
            ).fetchall()
            for assignment, criterion in rows:
                began = time.perf_counter()
                bare.execute(
                    "INSERT INTO annotation_decision (assignment_id, criterion_id, round, outcome, borderline, note,"
                    " evidence, version, client_id, created_at, updated_at)"
                    " VALUES (%s, %s, 99, 'met', false, '', '[]', 1, %s, now(), now())",
                    [assignment, criterion, uuid.uuid4()],
                )
                times.append(time.perf_counter() - began)
        return times

    return [
        row("open a response", clients, *in_threads(clients, open_pages)),
        row("  floor: healthz", clients, *in_threads(clients, healthz)),
        row("save one decision", clients, *in_threads(clients, save)),
        row("  floor: psycopg INSERT", clients, *in_threads(clients, insert)),
    ]


def main() -> None:
    """Fill, serve, measure with one client and with all, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--responses", type=int, default=2750)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--opens", type=int, default=20, help="responses that each client opens and grades")
    options = parser.parse_args()
    with scratch_product() as home:
        from django.core.management import call_command
        from django.db import connection

        from consilium.processes import web

        queues = fill(
            home, responses=options.responses, clients=options.clients, opens=options.opens, rng=random.Random(7)
        )
        cookies = sign_in(options.clients)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM annotation_decision")
            print(f"{options.responses:,} responses, {cursor.fetchone()[0]:,} decisions in the batch before the run")
        with open(os.devnull, "w") as quiet:
            call_command("collectstatic", interactive=False, verbosity=0, stdout=quiet)
        server = subprocess.Popen(
            [sys.executable, *web(bind=f"127.0.0.1:{PORT}").arguments],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            wait_until_up()
            for _ in range(20):  # both processes have loaded their templates
                Browser(cookies[0]).ask("GET", f"/work/{queues[0][0]}/")
            rows = measure(queues, cookies, 1) + measure(queues, cookies, options.clients)
            memory = sum(resident(pid) for pid in family(server.pid))
        finally:
            server.terminate()
            server.wait()
    show("Grading", ("", "clients", "requests", "p50 ms", "p95 ms", "per s"), rows)
    print(f"web processes together: {memory / 1024:.0f} MiB resident")


def wait_until_up() -> None:
    """Return once the server answers; RuntimeError after 30 seconds."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            Browser().ask("GET", "/healthz")
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the web server did not come up")


def family(pid: int) -> list[int]:
    """A process and its descendants (Linux)."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(child for direct in children for child in family(int(direct)))]


def resident(pid: int) -> int:
    """KiB of resident memory."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0


if __name__ == "__main__":
    main()
