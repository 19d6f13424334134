"""What an admin waits for: the pages of progress, batches and one batch, with two groups at work.

    .venv/bin/python bench/dashboard.py [--physicians 40] [--responses 2750] [--requests 60] [--stay]

Two expert groups of that many annotators, and five batches each over that many responses × 30 criteria. The work is in
every state, with its decisions, checks, skips and conflicts, handed in over the last four weeks. Then an admin requests
each page from the product's own web server, one request after the other.

`healthz` in the same run is the web server's floor. With ``--stay`` the server stays up until Ctrl-C, for trying the
pages by hand: admin@example.org and researcher@example.org, password `consilium-bench`.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from processes import web_server
from scratch import quantile, scratch_product, show

CRITERIA = 30
CASES = 250
PASSWORD = "consilium-bench"  # of a scratch product, which is removed after the run
BATCHES = 5
SLUG = "bench"
PORT = int(os.environ.get("BENCH_PORT", "8791"))


def fill(home: Path, *, physicians: int, responses: int, rng: random.Random) -> None:
    """Two groups with batches, and work in every state."""
    from django.core.management import call_command
    from django.utils import timezone

    from accounts.models import User
    from annotation.services import BatchTerms, ResponseFilter, add_member, create_batch, create_group, plan_batch
    from rubrics.models import Benchmark, BenchmarkRole

    rows_of_cases_and_responses(home, responses, rng)
    with open(os.devnull, "w") as quiet:
        call_command("import_cases", str(home / "cases.jsonl"), benchmark=SLUG, stdout=quiet)
        call_command("import_responses", str(home / "responses.jsonl"), benchmark=SLUG, stdout=quiet)
    benchmark = Benchmark.objects.get(slug=SLUG)
    for role in ("admin", "researcher"):
        user = User.objects.create_user(role, f"{role}@example.org", PASSWORD, name=f"The {role}")
        BenchmarkRole.objects.create(benchmark=benchmark, user=user, role=role)
    for letter in "AB":
        group = create_group(benchmark=benchmark, name=f"Group {letter}")
        for role, number in (("annotator", physicians), ("checker", 4), ("adjudicator", 2)):
            for place in range(number):
                user = User.objects.create(
                    username=f"{letter}-{role}-{place}",
                    email=f"{role}{place}.{letter.lower()}@example.org",
                    name=f"{role.title()} {letter}{place + 1}",
                )
                add_member(group=group, user=user, role=role)
        for place in range(BATCHES):
            terms = BatchTerms(
                title=f"Part {place + 1}", annotators_per_item=1, check_policy="all", seed=place,
                due_date=timezone.localdate() + timedelta(days=10 * place - 5),
            )  # fmt: skip
            last = place == BATCHES - 1
            chosen = ResponseFilter(draw=None if last else responses // BATCHES)
            create_batch(plan=plan_batch(group=group, terms=terms, filter=chosen), by=None, at=timezone.now())
    in_every_state()


def rows_of_cases_and_responses(home: Path, responses: int, rng: random.Random) -> None:
    """The rows of the two files that the product imports."""
    import json

    words = [f"word{n}" for n in range(400)]

    def text(count: int) -> str:
        return " ".join(rng.choice(words) for _ in range(count))

    cases = min(CASES, responses)
    with (home / "cases.jsonl").open("w") as file:
        for number in range(cases):
            row = {
                "prompt_id": f"case-{number:03}", "prompt": [{"role": "user", "content": text(80)}],
                "rubrics": [{"criterion": text(18), "points": 1, "tags": ["axis:x"]} for _ in range(CRITERIA)],
                "example_tags": [], "ideal_completions_data": None, "canary": "",
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")
    with (home / "responses.jsonl").open("w") as file:
        for number in range(responses):
            row = {"case": f"case-{number % cases:03}", "candidate": f"model-{number // cases}", "response": text(100)}
            file.write(json.dumps(row) + "\n")


# Shares of a batch by how far along it is: the first batches of a group are nearly done, the last hardly begun. The
# state of a piece follows from its number, so that two runs measure the same work.
STATES = """
WITH placed AS (
    SELECT a.id, row_number() OVER (PARTITION BY a.batch_id ORDER BY md5(a.public_id)) * 100.0
               / count(*) OVER (PARTITION BY a.batch_id) AS share,
           substr(b.title, 6)::int AS part
    FROM annotation_assignment a JOIN annotation_batch b ON b.id = a.batch_id
), staged AS (
    SELECT id, (CASE
        WHEN share <= 105 - 25 * part THEN 'accepted'
        WHEN share <= 117 - 25 * part THEN 'submitted'
        WHEN share <= 119 - 25 * part THEN 'in_check'
        WHEN share <= 122 - 25 * part THEN 'returned'
        WHEN share <= 125 - 25 * part THEN 'draft'
        ELSE 'not_started' END) AS status
    FROM placed
)
UPDATE annotation_assignment a SET status = s.status, round = CASE WHEN s.status = 'returned' THEN 2 ELSE 1 END,
    started_at = CASE WHEN s.status <> 'not_started' THEN now() - (a.id % 28) * interval '1 day' END,
    submitted_at = CASE WHEN s.status NOT IN ('not_started', 'draft')
        THEN now() - (a.id % 28) * interval '1 day' + (a.id % 7) * interval '1 minute' - interval '10 minutes' END,
    accepted_at = CASE WHEN s.status = 'accepted' THEN now() END,
    checker_id = CASE WHEN s.status IN ('accepted', 'in_check', 'returned') THEN (
        SELECT m.user_id FROM annotation_membership m JOIN annotation_batch b ON b.group_id = m.group_id
        WHERE b.id = a.batch_id AND m.role = 'checker' ORDER BY (m.id + a.id) % 4 LIMIT 1) END
FROM staged s WHERE s.id = a.id
"""
DECISIONS = """
INSERT INTO annotation_decision (assignment_id, criterion_id, round, outcome, borderline, note, evidence, version,
                                 created_at, updated_at)
SELECT a.id, i.criterion_id, 1, CASE WHEN i.criterion_id % 3 = 0 THEN 'met' ELSE 'not_met' END, false, '', '[]', 1,
       a.started_at, a.started_at
FROM annotation_assignment a JOIN rubrics_rubricitem i ON i.rubric_id = a.rubric_id WHERE a.status <> 'not_started'
"""
CHECKS = """
INSERT INTO annotation_check (assignment_id, round, checker_id, result, note, created_at, finished_at)
SELECT a.id, 1, a.checker_id,
       CASE a.status WHEN 'accepted' THEN 'accepted' WHEN 'returned' THEN 'returned' ELSE '' END,
       CASE a.status WHEN 'returned' THEN 'Look at 3 again.' ELSE '' END,
       a.submitted_at, CASE WHEN a.status <> 'in_check' THEN a.submitted_at + interval '1 hour' END
FROM annotation_assignment a WHERE a.checker_id IS NOT NULL
"""
SKIPS = """
INSERT INTO annotation_skip (assignment_id, reason, note, created_at)
SELECT id, 'later', '', now() FROM annotation_assignment WHERE id % 37 = 0
"""
CONFLICTS = """
INSERT INTO annotation_adjudication (public_id, response_id, rubric_id, group_id, criteria, agreement, status,
                                     created_at, finished_at)
SELECT substr(md5(a.id::text), 1, 16), a.response_id, a.rubric_id, b.group_id, ARRAY[1::bigint], 0.9,
       CASE WHEN a.id % 2 = 0 THEN 'open' ELSE 'done' END, now() - interval '3 days',
       CASE WHEN a.id % 2 = 1 THEN now() END
FROM annotation_assignment a JOIN annotation_batch b ON b.id = a.batch_id WHERE a.status = 'accepted' AND a.id % 9 = 0
"""


def in_every_state() -> None:
    """Bring the work into every state by SQL statements: through the pages it would take an hour."""
    from django.db import connection

    with connection.cursor() as cursor:
        for statement in (STATES, DECISIONS, CHECKS, SKIPS, CONFLICTS, "ANALYZE"):
            cursor.execute(statement)


class Browser:
    """The single keep-alive connection of an admin."""

    def __init__(self, session: str = "") -> None:
        self.headers = {"Cookie": f"sessionid={session}"}
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)

    def get(self, path: str) -> tuple[float, int]:
        """Seconds and bytes of one page; RuntimeError on any other status than 200."""
        began = time.perf_counter()
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        size = len(answer.read())
        seconds = time.perf_counter() - began
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}")
        return seconds, size


def measure(session: str, requests: int) -> list[tuple[Any, ...]]:
    """Each page asked for so many times."""
    from annotation.models import Batch, Physician

    batch = Batch.objects.filter(title="Part 3").order_by("pk")[0]
    physician = Physician.objects.filter(user__assignments__batch=batch).order_by("pk")[0]
    base = f"/b/{SLUG}"
    pages: Sequence[tuple[str, str]] = (
        ("progress", f"{base}/progress/"),
        ("batches", f"{base}/batches/"),
        ("one batch", f"{base}/batches/{batch.public_id}/"),
        ("  its pieces, page 5", f"{base}/batches/{batch.public_id}/?page=5"),
        ("  hand over a physician’s work", f"{base}/batches/{batch.public_id}/handover/?physician={physician}"),
        ("conflicts", f"{base}/conflicts/"),
        ("  floor: healthz", "/healthz"),
    )
    browser, rows = Browser(session), []
    for name, path in pages:
        for _ in range(5):  # templates are loaded, caches are warm
            size = browser.get(path)[1]
        times = [browser.get(path)[0] for _ in range(requests)]
        rows.append((name, requests, 1000 * quantile(times, 0.5), 1000 * quantile(times, 0.95), size // 1024))
    return rows


def main() -> None:
    """Fill, serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--physicians", type=int, default=40)
    parser.add_argument("--responses", type=int, default=2750)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--stay", action="store_true", help="keep serving until Ctrl-C")
    options = parser.parse_args()
    with scratch_product() as home:
        from django.conf import settings
        from django.db import connection
        from django.test import Client

        from accounts.models import User

        fill(home, physicians=options.physicians, responses=options.responses, rng=random.Random(7))
        client = Client()
        client.force_login(User.objects.get(username="admin"))
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM annotation_decision")
            print(
                f"2 groups of {options.physicians} annotators, {options.responses:,} responses each,"
                f" {cursor.fetchone()[0]:,} decisions"
            )
        with web_server(PORT) as server, suppress(KeyboardInterrupt):
            show("Pages of an admin", ("", "requests", "p50 ms", "p95 ms", "KiB"), measure(session, options.requests))
            if options.stay:
                print(f"http://127.0.0.1:{PORT}/ (Ctrl-C ends it)", flush=True)
                server.wait()


if __name__ == "__main__":
    main()
