"""How fast decisions are exported as CSV: 165,000 of two groups, beside Label Studio's export of as many choices.

    .venv/bin/python bench/export.py [--venv /tmp/ls] [--cases 250] [--repeats 3]
    .venv/bin/python bench/export.py --decisions 1000000 10000000

The decisions are made up as for ``agreement.py``. The product exports both groups together: by the command, into a
file; and by the page's link, through its own web server and a session. For comparison, in the same run:

* bare `COPY … TO STDOUT (FORMAT csv)` of a query that joins the same columns: the time of the database alone; with
* ``--venv`` (see ``label_studio.py``) Label Studio's export of 2,750 items with two annotations of 30 choices each
  through its API: as CSV, a row an annotation, and as JSON.

With ``--decisions`` each group gets that many decisions instead, and a separate process exports one group. Reported are
its seconds and its peak resident memory.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import label_studio
from processes import child
from scratch import ROOT, Clock, peak_of_this_process, scratch_product, show
from two_groups import populate

PORT = int(os.environ.get("BENCH_PORT", "8792"))
GROUPS = ("group:A@checked", "group:B@checked")
# The same columns, found by joins alone: no rules for ties, checks and positions of earlier rubrics.
BARE = """
    SELECT c.key AS case, m.name AS candidate, r.sample, i.position AS criterion, g.name AS rater, d.outcome,
           'annotator' AS stage, d.note
    FROM annotation_decision d
    JOIN annotation_assignment a ON a.id = d.assignment_id
    JOIN annotation_batch b ON b.id = a.batch_id
    JOIN annotation_expertgroup g ON g.id = b.group_id
    JOIN rubrics_response r ON r.id = a.response_id
    JOIN rubrics_case c ON c.id = r.case_id
    JOIN rubrics_candidate m ON m.id = r.candidate_id
    JOIN rubrics_rubricitem i ON i.rubric_id = a.rubric_id AND i.criterion_id = d.criterion_id
    ORDER BY g.id, r.id, i.criterion_id
"""


def bare_copy() -> int:
    """Export by a bare ``COPY``; returns the number of bytes."""
    from django.db import connection

    connection.ensure_connection()
    with (
        connection.connection.cursor() as cursor,
        cursor.copy(f"COPY ({BARE}) TO STDOUT (FORMAT csv, HEADER)") as copy,
    ):
        return sum(len(block) for block in copy)


def by_command(benchmark: Any, folder: Path) -> int:
    """Decisions of both groups, written to files."""
    from agreement.exports.decisions import export_decisions

    return sum(
        export_decisions(benchmark=benchmark, rater=rater, out=folder / f"{place}.csv").written
        for place, rater in enumerate(GROUPS)
    )


def session(benchmark: Any) -> str:
    """The session cookie of somebody who runs the benchmark."""
    from django.conf import settings
    from django.test import Client

    from accounts.models import User
    from rubrics.models import BenchmarkRole

    user = User.objects.create(username="bench-admin", email="bench@example.org")
    BenchmarkRole.objects.create(benchmark=benchmark, user=user, role="admin")
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def by_page(slug: str, cookie: str) -> int:
    """Lines of both groups, downloaded by the page's link."""
    lines = 0
    for rater in GROUPS:
        link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=120)
        link.request(
            "GET", f"/b/{slug}/agreement/decisions.csv?rater={rater}", headers={"Cookie": f"sessionid={cookie}"}
        )
        answer = link.getresponse()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {answer.read()[:200]!r}")
        while block := answer.read(1 << 20):
            lines += block.count(b"\n")
        link.close()
    return lines - len(GROUPS)


def wait_until_up() -> None:
    """Return once the web server answers; RuntimeError after 30 seconds."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=5)
            link.request("GET", "/healthz")
            if link.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the web server did not come up")


def ours(options: argparse.Namespace) -> dict[str, float]:
    """Median seconds of each way to export."""
    with scratch_product() as home:
        from standalone.processes import web

        benchmark = populate(cases=options.cases, candidates=options.candidates, criteria=options.criteria)
        expected = 2 * options.cases * options.candidates * options.criteria
        cookie = session(benchmark)
        times: dict[str, list[float]] = {"command": [], "page": [], "bare": []}
        serving = child(
            web(bind=f"127.0.0.1:{PORT}").arguments,
            env={**os.environ, "PORT": str(PORT)},  # requests for another port are refused
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with serving:
            wait_until_up()
            for turn in range(options.repeats + 1):
                clock = Clock()
                bare_copy()
                bare = clock.seconds
                clock = Clock()
                assert by_command(benchmark, home) == expected
                command = clock.seconds
                clock = Clock()
                assert by_page(benchmark.slug, cookie) == expected
                page = clock.seconds
                if turn:  # the first loads imports and fills caches
                    for name, seconds in (("bare", bare), ("command", command), ("page", page)):
                        times[name].append(seconds)
    return {name: statistics.median(durations) for name, durations in times.items()}


def theirs(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds of Label Studio's exports, and its version."""
    sys.path.insert(0, str(ROOT))
    items = options.cases * options.candidates
    with tempfile.TemporaryDirectory(prefix="label-studio-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)
        with (
            label_studio.database_server(options.postgres or label_studio.system_postgres(), home) as sockets,
            label_studio.served(options.venv.resolve(), sockets, home),
        ):
            client = label_studio.Client()
            version = json.loads(client.ask("GET", "/api/version")[1])["release"]
            number = label_studio.project(client)
            label_studio.fill(client, number, items, random.Random(7), annotations=2)
            result: dict[str, Any] = {"version": version}
            for kind in ("CSV", "JSON"):
                tried = [
                    client.ask("GET", f"/api/projects/{number}/export?exportType={kind}")
                    for _ in range(max(1, options.repeats - 1))
                ]
                result[kind] = statistics.median(seconds for seconds, _text in tried)
            assert len(json.loads(tried[-1][1])) == items
    return result


def as_a_process(slug: str) -> dict[str, float]:
    """Export one group's decisions in this process."""
    import django

    django.setup()
    from agreement.exports.decisions import export_decisions
    from rubrics.models import Benchmark

    with tempfile.TemporaryDirectory(prefix="consilium-bench-export-") as folder:
        out = Path(folder) / "out.csv"
        clock = Clock()
        export = export_decisions(benchmark=Benchmark.objects.get(slug=slug), rater=GROUPS[0], out=out)
        return {
            "seconds": clock.seconds,
            "mib": peak_of_this_process(),
            "written": export.written,
            "file": out.stat().st_size / 2**20,
        }


def sizes(options: argparse.Namespace) -> None:
    """Measure exports of several sizes, each in a process of its own."""
    rows: list[list[object]] = []
    with scratch_product():
        for number in options.decisions:
            cases = round(number / options.candidates / options.criteria)
            benchmark = populate(
                cases=cases, candidates=options.candidates, criteria=options.criteria, slug=f"bench-{number}"
            )
            command = [sys.executable, __file__, "--worker", benchmark.slug]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            result = json.loads(output.splitlines()[-1])
            rows.append([f"{result['written']:,}", result["seconds"], result["file"], result["mib"]])
    show("One group's decisions as CSV", ["decisions", "seconds", "file, MiB", "peak of the process, MiB"], rows)


def main() -> None:
    """Measure, divide, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=250)
    parser.add_argument("--candidates", type=int, default=11)
    parser.add_argument("--criteria", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--venv", type=Path, help="an environment with label-studio and gunicorn")
    parser.add_argument("--postgres", type=Path, help="folder of initdb and pg_ctl (default: the system's newest)")
    parser.add_argument("--decisions", type=int, nargs="+", help="so many of each group, by a process of its own")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        sys.path.insert(0, str(ROOT))
        print(json.dumps(as_a_process(options.worker)))
        return
    if options.decisions:
        sizes(options)
        return
    times = ours(options)
    rows: list[list[object]] = [
        ["by the command", times["command"], 1.0],
        ["by the page's link, through the web server", times["page"], times["page"] / times["command"]],
        ["bare COPY of the joined rows as CSV", times["bare"], times["bare"] / times["command"]],
    ]
    total = 2 * options.cases * options.candidates * options.criteria
    print(f"{total:,} decisions: {times}", flush=True)
    if options.venv:
        peer = theirs(options)
        rows += [
            [f"Label Studio {peer['version']}, {kind}", peer[kind], peer[kind] / times["page"]]
            for kind in ("CSV", "JSON")
        ]
    show(f"{total:,} decisions as CSV", ["", "seconds", "times ours (peer: times the page's link)"], rows)


if __name__ == "__main__":
    main()
