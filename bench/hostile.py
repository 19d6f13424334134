"""25 hostile files at every endpoint, at full size: what becomes of each, and how much memory it takes.

    .venv/bin/python bench/hostile.py [--importer NAME …] [--file WORDS …] [--small]

Each importer runs in a process of its own, over a scratch product. Each file goes through the handler that pages, the
API and commands use, in a transaction that is rolled back. Memory is the peak of the process while it reads the file,
less what it held after a sound file of the same kind; the promised maximum is 256 MiB.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import hostile_files
from bench.hostile_files import EITHER, HOSTILE, IMPORTED, REFUSED
from bench.hostile_importers import IMPORTERS, Importer, base, base_responses, plain
from bench.scratch import scratch_product, show

PROMISED_MIB = 256
SLUG, EMAIL = "hostile", "staff@example.org"


def main() -> None:
    """Run every importer in a process of its own and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--importer", nargs="*", default=[], help="only importers with these words in their name")
    parser.add_argument("--file", nargs="*", default=[], help="only files with these words in their name")
    parser.add_argument("--small", action="store_true", help="the sizes of the test suite")
    parser.add_argument("--lines", type=int, default=hostile_files.MANY_LINES, help="of the file whose last one is bad")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    hostile_files.MANY_LINES = options.lines
    importers = [
        importer
        for importer in IMPORTERS
        if not options.importer or any(word in importer.name for word in options.importer)
    ]
    names = [name for name in HOSTILE if not options.file or any(word in name for word in options.file)]
    if options.inside:
        inside(
            next(importer for importer in IMPORTERS if importer.name == options.inside), names, full=not options.small
        )
        return
    results: list[dict[str, Any]] = []
    with scratch_product():
        prepare()
        for importer in importers:
            command = [sys.executable, __file__, "--inside", importer.name, *(["--small"] if options.small else [])]
            command += ["--lines", str(options.lines), "--file", *names]
            done = subprocess.run(command, env=os.environ, stdout=subprocess.PIPE, text=True, check=False)
            rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            results += rows
            report(importer.name, rows)
            if done.returncode:
                print(f"{importer.name}: the process ended with {done.returncode}", flush=True)
    summary(results)


def prepare(slug: str = SLUG) -> Any:
    """Make a benchmark with what the rows refer to, and a user who uploads."""
    from django.db import transaction
    from django.utils import timezone

    from accounts.models import User
    from rubrics import imports
    from rubrics.models import Benchmark

    user = User.objects.filter(email=EMAIL).first() or User.objects.create_user(
        username="staff", email=EMAIL, name="Staff"
    )
    benchmark = Benchmark.objects.create(slug=slug, title="Hostile")
    for kind, data in (("cases", base()), ("responses", base_responses())):
        with transaction.atomic():
            imports.find(kind).handler(
                benchmark=benchmark,
                file=io.BytesIO(data),
                options={},
                by=user,
                at=timezone.now(),
                progress=lambda _n: None,
            )
    return benchmark


def inside(importer: Importer, names: list[str], *, full: bool) -> None:
    """Send the files to one importer and print a JSON line for each."""
    import django

    django.setup()
    send(importer, io.BytesIO(plain(importer, importer.row(0), importer.row(1))))
    for name in names:
        sent = HOSTILE[name](importer, full)
        if sent is None:
            continue
        before, began = resident(), time.perf_counter()
        forget_peak()
        row: dict[str, Any] = {"importer": importer.name, "file": name}
        try:
            row |= send(importer, sent.file)
        except Exception as error:  # shown in the table
            row |= {"outcome": "ERROR", "message": f"{type(error).__name__}: {error}"[:200]}
        row |= {"mib": round(peak() - before, 1), "seconds": round(time.perf_counter() - began, 2)}
        line_matches = sent.line is None or row.get("line") == sent.line
        field_matches = not sent.field or bool(row.get("field"))
        row["right"] = (
            row["outcome"] in ((REFUSED, IMPORTED) if sent.outcome == EITHER else (sent.outcome,))
            and (row["outcome"] == IMPORTED or (line_matches and field_matches))
            and not row.get("left_behind")
        )
        print(json.dumps(row), flush=True)


def send(importer: Importer, file: Any) -> dict[str, Any]:
    """Import a file and return the outcome; the import is rolled back."""
    from django.db import transaction
    from django.utils import timezone

    from accounts.models import User
    from consilium.core.errors import DomainError, ImportRefused
    from rubrics import imports
    from rubrics.models import Benchmark

    benchmark, user = Benchmark.objects.get(slug=SLUG), User.objects.get(email=EMAIL)
    with transaction.atomic():
        before = row_counts()
        try:
            with transaction.atomic():
                imports.find(importer.kind).handler(
                    benchmark=benchmark, file=file, options=importer.options, by=user, at=timezone.now(),
                    progress=lambda _read: None,
                )  # fmt: skip
            return {"outcome": IMPORTED}
        except ImportRefused as refused:
            first = refused.errors[0]
            details = {"line": first.line, "field": first.field, "message": str(first.message)[:100]}
            return {"outcome": REFUSED, **details, "left_behind": row_counts() != before}
        except DomainError as error:
            return {"outcome": REFUSED, "line": 0, "field": "", "message": str(error)[:100]}
        finally:
            transaction.set_rollback(True)


def row_counts() -> tuple[int, ...]:
    """Rows of every table, in one statement."""
    from django.apps import apps
    from django.db import connection

    tables = sorted(
        {model._meta.db_table for model in apps.get_models() if model._meta.managed and not model._meta.proxy}
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f'(SELECT count(*) FROM "{table}")' for table in tables))
        return tuple(cursor.fetchone())


def _status(name: str) -> float:
    match = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(match[1]) / 1024 if match else 0.0


def resident() -> float:
    """MiB that the process holds now."""
    return _status("VmRSS")


def peak() -> float:
    """MiB that it held at most since `forget_peak`."""
    return _status("VmHWM")


def forget_peak() -> None:
    """Reset the peak (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def report(importer: str, rows: list[dict[str, Any]]) -> None:
    """Print the table of one importer."""
    table = [
        (
            row["file"], row["outcome"] if row["right"] else f"{row['outcome']} (!)", row.get("line", ""),
            row.get("field", ""), row.get("message", "")[:48], row["mib"], row["seconds"],
        )
        for row in rows
    ]  # fmt: skip
    show(importer, ("file", "outcome", "line", "field", "message", "MiB", "s"), table)


def summary(rows: list[dict[str, Any]]) -> None:
    """Print what was promised: no error, no partial import, and the memory at most."""
    errors = [row for row in rows if row["outcome"] == "ERROR"]
    partial = [row for row in rows if row.get("left_behind")]
    most = max(rows, key=lambda row: row["mib"], default={"mib": 0, "importer": "", "file": ""})
    print(
        f"{len(rows)} files at {len({row['importer'] for row in rows})} importers: {len(errors)} errors, "
        f"{len(partial)} partial imports, {sum(not row['right'] for row in rows)} with another answer than is due; "
        f"at most {most['mib']} MiB above baseline ({most['importer']}: {most['file']}; promised {PROMISED_MIB})"
    )


if __name__ == "__main__":
    main()
