"""Hostile files through the running product: uploaded to the page *Imports*, imported by a worker.

    .venv/bin/python bench/hostile_web.py [--importer NAME …] [--file WORDS …] [--full]

`hostile.py` calls the handlers; here each file goes over HTTP to the product's own web server, onto its disk, and to a
Celery worker. Each file gets a benchmark of its own, which is not removed. Memory is the peak of any one process of the
web server and of the worker while they handle the file, less what that process held after a sound file. With ``--full``
files have the sizes of `hostile.py`, otherwise those of the test suite.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from processes import child, wait_for, web_server

from bench import hostile, hostile_files
from bench.hostile_files import EITHER, HOSTILE, IMPORTED, REFUSED, Sent
from bench.hostile_importers import IMPORTERS, Importer, plain
from bench.scratch import family, scratch_product

PORT = int(os.environ.get("BENCH_PORT", "8792"))
USUAL = ("healthbench", "decisions (CSV)", "rubrics (CSV)")
OUTCOMES = {"done": IMPORTED, "refused": REFUSED, "failed": "ERROR"}


def main() -> None:
    """Send the files and print a table for each importer."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--importer", nargs="*", default=USUAL, help="importers by their names")
    parser.add_argument("--file", nargs="*", default=[], help="only files with these words in their name")
    parser.add_argument("--full", action="store_true", help="at full size")
    options = parser.parse_args()
    importers = [importer for importer in IMPORTERS if importer.name in options.importer]
    names = [name for name in HOSTILE if not options.file or any(word in name for word in options.file)]
    results: list[dict[str, Any]] = []
    with scratch_product() as home, web_server(PORT) as web, worker(home) as pid:
        cookie = sign_in()
        for importer in importers:
            hear(upload(importer, hostile_files.bytes_file(plain(importer, importer.row(0), importer.row(1))), cookie))
            rows = [
                row
                for name in names
                if (row := tried(importer, name, cookie, [web.pid, pid], full=options.full)) is not None
            ]
            hostile.report(importer.name, rows)
            results += rows
    hostile.summary(results)


@contextmanager
def worker(home: Path) -> Iterator[int]:
    """The product's own worker, once it is ready; yields its process."""
    from standalone.processes import WORKER

    log = home / "worker.log"
    with log.open("w") as file, child(WORKER.arguments, stdout=file, stderr=subprocess.STDOUT) as process:
        wait_for(lambda: " ready." in log.read_text(), within_s=120, what="the worker is ready")
        yield process.pid


def sign_in() -> str:
    """Cookies of somebody who runs benchmarks, with the token that forms need."""
    from django.conf import settings
    from django.test import Client

    from accounts.models import User

    user = User.objects.create_user(username="staff", email=hostile.EMAIL, name="Staff")
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}; csrftoken={'c' * 32}"


def tried(importer: Importer, name: str, cookie: str, pids: list[int], *, full: bool) -> dict[str, Any] | None:
    """Send one file and return the outcome; None where the importer has no such file."""
    sent = HOSTILE[name](importer, full)
    if sent is None:
        return None
    processes = [member for pid in pids for member in family(pid)]
    before = {pid: _status(pid, "VmRSS") for pid in processes}
    for pid in processes:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    began = time.perf_counter()
    row = {"importer": importer.name, "file": name, **hear(upload(importer, sent.file, cookie))}
    row["seconds"] = round(time.perf_counter() - began, 2)
    row["mib"] = round(max(_status(pid, "VmHWM") - before[pid] for pid in processes), 1)
    row["right"] = _is_right(row, sent)
    return row


def _is_right(row: dict[str, Any], sent: Sent) -> bool:
    if row["outcome"] == IMPORTED:
        return sent.outcome in (IMPORTED, EITHER)
    placed = (sent.line is None or row["line"] == sent.line) and (not sent.field or bool(row["field"]))
    return row["outcome"] == REFUSED and sent.outcome in (REFUSED, EITHER) and placed and not row["left_behind"]


def upload(importer: Importer, file: Any, cookie: str) -> dict[str, Any]:
    """Send a file to the page of a new benchmark, as a browser does; returns the answer of the page."""
    from accounts.models import User
    from rubrics.services import grant_role

    slug = f"h-{uuid4().hex[:12]}"
    benchmark = hostile.prepare(slug)
    grant_role(benchmark=benchmark, user=User.objects.get(email=hostile.EMAIL), role="admin")
    before = work_in(benchmark)
    boundary = uuid4().hex
    fields = {"kind": importer.kind, **importer.options}
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    head += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="f.dat"\r\n'
    head += "Content-Type: application/octet-stream\r\n\r\n"
    tail = f"\r\n--{boundary}--\r\n"
    size = file.seek(0, os.SEEK_END)
    file.seek(0)

    def body() -> Iterator[bytes]:
        yield head.encode()
        while piece := file.read(1 << 20):
            yield piece
        yield tail.encode()

    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=600)
    headers = {
        "Cookie": cookie,
        "X-CSRFToken": "c" * 32,
        "Content-Type": f"multipart/form-data; boundary={boundary}",
        "Content-Length": str(len(head) + size + len(tail)),
    }
    connection.request("POST", f"/b/{slug}/imports/", body(), headers)
    answer = connection.getresponse()
    page = answer.read().decode()
    connection.close()
    match = re.search(r"/imports/([^/]+)/", answer.headers.get("Location", ""))
    job = match[1] if match else ""
    return {"benchmark": benchmark, "before": before, "status": answer.status, "page": page, "job": job}


def hear(answer: dict[str, Any]) -> dict[str, Any]:
    """The outcome: what the page answered, or what the job holds when the worker is done."""
    from rubrics.models import ImportJob
    from rubrics.services.import_jobs import FINISHED

    if not answer["job"]:  # refused by the form
        message = " ".join(re.findall(r'class="error[^"]*"[^>]*>([^<]+)', answer["page"]))
        outcome = REFUSED if answer["status"] == 422 else "ERROR"
        row = {"outcome": outcome, "line": 0, "field": "", "message": message or f"HTTP {answer['status']}"}
    else:
        jobs = ImportJob.objects.filter(public_id=answer["job"])
        wait_for(lambda: jobs.get().status in FINISHED, within_s=1800, what="the worker is done with a file")
        job = jobs.get()
        # The page shows a table before it imports it; a preview with faults is what a refusal is elsewhere.
        faults = [*job.errors, *(fault for shown in job.counts.get("previews", []) for fault in shown["faults"])]
        outcome = REFUSED if faults and OUTCOMES[job.status] == IMPORTED else OUTCOMES[job.status]
        row = {"outcome": outcome, **(faults[0] if faults else {})}
    row["left_behind"] = row["outcome"] == REFUSED and work_in(answer["benchmark"]) != answer["before"]
    return row


def work_in(benchmark: Any) -> tuple[int, ...]:
    """The number of rows of each kind that an import can create."""
    from annotation.models import Decision, ExpertGroup
    from rubrics.models import BankItem, Candidate, Case, Criterion, Response, RubricItem
    from scoring.models import JudgeRun, Verdict

    places = {
        Case: "benchmark", Criterion: "case__benchmark", RubricItem: "rubric__case__benchmark", Candidate: "benchmark",
        Response: "case__benchmark", ExpertGroup: "benchmark", Decision: "criterion__case__benchmark",
        BankItem: "bank__benchmark", JudgeRun: "benchmark", Verdict: "run__benchmark",
    }  # fmt: skip
    return tuple(model._default_manager.filter(**{place: benchmark}).count() for model, place in places.items())


def _status(pid: int, name: str) -> float:
    match = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(match[1]) / 1024 if match else 0.0


if __name__ == "__main__":
    main()
