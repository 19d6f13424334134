"""Time and memory of `import_acuity` and of a report on acuity from the database.

    .venv/bin/python bench/acuity_database.py [--cases 914] [--candidates 12] [--samples 5] [--repeats 3]

The same made-up readings as in `acuity.py`. Beside the import: reading the file with `csv` and a bare COPY of the same
rows into a table without keys, constraints or triggers; and a COPY of the stored rows into a table with the keys,
indexes and constraints of the readings. Beside the report: the tables from the file's arrays, without a
database. All run against the same server, in turn; printed are medians.
"""

from __future__ import annotations

import argparse
import csv
import io
import resource
import time
from pathlib import Path
from statistics import median
from typing import Any

from scratch import Clock, scratch_product


def bare_copy(path: Path) -> float:
    """Seconds to read the file and COPY its rows into a bare table."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bare_reading")
        cursor.execute(
            'CREATE TABLE bare_reading ("case" text, candidate text, format text, sample int, level text,'
            " reference text)"
        )
    clock = Clock()
    with (
        path.open(encoding="utf-8", newline="") as file,
        connection.connection.cursor() as cursor,
        cursor.copy("COPY bare_reading FROM STDIN") as copy,
    ):
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            copy.write_row(row)
    return clock.seconds


def copy_with_constraints() -> float:
    """Seconds to COPY the stored readings into an empty table that is made like theirs, foreign keys too."""
    from django.db import connection

    columns = "id, scale_id, case_id, candidate_id, format, sample, source, acuity_import_id, line, state, level, text"
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS like_reading")
        cursor.execute("CREATE TABLE like_reading (LIKE scoring_acuityreading INCLUDING ALL)")
        for column, table in (
            ("scale_id", "rubrics_acuityscale"),
            ("case_id", "rubrics_case"),
            ("candidate_id", "rubrics_candidate"),
            ("acuity_import_id", "rubrics_acuityimport"),
        ):
            cursor.execute(f"ALTER TABLE like_reading ADD FOREIGN KEY ({column}) REFERENCES {table} (id)")
        newest = "(SELECT max(scale_id) FROM scoring_acuityreading)"
        cursor.execute(f"SELECT {columns} FROM scoring_acuityreading WHERE scale_id = {newest}")
        rows = cursor.fetchall()
    clock = Clock()
    with (
        connection.connection.cursor() as cursor,
        cursor.copy(f"COPY like_reading ({columns}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)
    return clock.seconds


def imported(path: Path, slug: str) -> float:
    """Seconds of the command, for a benchmark of its own."""
    from django.core.management import call_command

    clock = Clock()
    call_command("import_acuity", str(path), "--benchmark", slug, "--dataset", "bench", stdout=io.StringIO())
    return clock.seconds


def peak() -> float:
    """The largest size of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(slug: str) -> tuple[float, float, float]:
    """Seconds to read the inputs, to compute the whole report, and of that the processor's."""
    from agreement.acuity.inputs import read_inputs
    from agreement.kinds import KINDS
    from annotation.models import ReferenceSet
    from rubrics.models import Benchmark

    benchmark = Benchmark.objects.get(slug=slug)
    kind = KINDS["acuity"]
    parameters = kind.complete(benchmark, {})
    clock = Clock()
    read_inputs(ReferenceSet.objects.get(benchmark=benchmark), parameters["candidates"])
    reading = clock.seconds
    clock, start = Clock(), time.process_time()
    kind.compute(benchmark, **parameters)
    return reading, clock.seconds, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("cases", 914), ("candidates", 12), ("samples", 5), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--unusable", type=float, default=0.0, help="share of case, candidate and format")
    options = parser.parse_args()
    with scratch_product() as home:
        from acuity import write
        from django.core.management import call_command

        path = home / "readings.csv"
        write(path, options.cases, options.candidates, options.samples, options.unusable)
        times: dict[str, list[Any]] = {
            "copy": [],
            "import": [],
            "like": [],
            "reading": [],
            "report": [],
            "processor": [],
        }
        for repeat in range(options.repeats):
            slug = f"bench-{repeat}"
            times["copy"].append(bare_copy(path))
            times["import"].append(imported(path, slug))
            times["like"].append(copy_with_constraints())
            call_command("reference_set", "--benchmark", slug, stdout=io.StringIO())
            before = peak()
            reading, whole, processor = report(slug)
            times["reading"].append(reading)
            times["report"].append(whole)
            times["processor"].append(processor)
        n = options.cases * options.candidates * options.samples * 2
        print(f"{n:,} readings on {options.cases:,} cases")
        seconds = {name: median(values) for name, values in times.items()}
        print(f"{seconds['copy']:8.3f} s  csv and a bare COPY")
        print(f"{seconds['like']:8.3f} s  COPY of the stored rows into a table with the same keys and constraints")
        ratios = " and ".join(f"{seconds['import'] / seconds[name]:.1f}" for name in ("copy", "like"))
        print(f"{seconds['import']:8.3f} s  import_acuity, {ratios} times as long")
        print(f"{seconds['reading']:8.3f} s  inputs of a report")
        print(f"{seconds['report']:8.3f} s  the report with all its tables, inputs included")
        print(f"{seconds['processor']:8.3f} s  of it, processor time of this process")
        print(f"{before:8.0f} MiB at the most before the last report, import included")
        print(f"{peak():8.0f} MiB at the most after it")


if __name__ == "__main__":
    main()
