"""Time and memory of `import_acuity` and of a report on acuity from the database.

    .venv/bin/python bench/acuity_database.py [--cases 914] [--candidates 12] [--samples 5] [--repeats 3] [--refused N]
    .venv/bin/python bench/acuity_database.py --readings 100000,500000,1000000,5000000

The same made-up readings as in `acuity.py`. Beside the import stand, in the same run and on the same server:

- reading the file with `csv` and a bare COPY of its rows into a table without keys, constraints or triggers
- a COPY of the stored rows into a table with the keys and indexes of the readings, and no foreign keys
- the same into a table with their four foreign keys, too: what the database itself takes for rows that it vouches for

An import within five times the bare COPY is out of reach: the last of these takes ten to fifteen times as long, most of
it to look up each row's scale, case, candidate and import. It can be had only by rows without references, or by taking
the foreign keys off while the table is locked for everybody. So the import is compared with the last one.

Beside the report: the tables from the file's arrays, without a database. Printed are medians. ``--refused`` adds a file
of that many rows whose last is wrong: its time, the line that it is refused with, and the memory of reading it.

``--readings`` measures memory instead: the same cases and candidates with more and more samples, each with one of 101
confidences, which the server makes by itself. For each number of readings it prints how many bytes a reading takes, the
seconds of inputs and report, of these the processor's in this process, and its resident memory before the report and
at its peak.
"""

from __future__ import annotations

import argparse
import csv
import io
import time
from pathlib import Path
from statistics import median
from typing import Any

from scratch import Clock, peak_of_this_process, reset_peak_of_this_process, scratch_product, show


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


REFERENCES = {
    "scale_id": "rubrics_acuityscale",
    "case_id": "rubrics_case",
    "candidate_id": "rubrics_candidate",
    "acuity_import_id": "rubrics_acuityimport",
}


def copy_with_keys(references: dict[str, str]) -> float:
    """Seconds to COPY the stored readings into an empty table with their keys, indexes and these foreign keys."""
    from django.db import connection

    columns = "id, scale_id, case_id, candidate_id, format, sample, source, acuity_import_id, line, state, level, text"
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS like_reading")
        cursor.execute("CREATE TABLE like_reading (LIKE scoring_acuityreading INCLUDING ALL)")
        for column, table in references.items():
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


def refused(path: Path, rows: int) -> tuple[float, str]:
    """Seconds until a file of so many rows is refused for its last one, and what the command says of it."""
    from acuity import write
    from django.core.management import CommandError

    write(path, rows // 100, 10, 5)
    with path.open("a", encoding="utf-8") as file:
        file.write("case-00000,model-00,qa,0,emergency,no such level\n")
    clock = Clock()
    try:
        imported(path, "bench-refused")
    except CommandError as error:
        return clock.seconds, str(error).replace("\n", " ")
    raise RuntimeError("the file was not refused")


def imported(path: Path, slug: str) -> float:
    """Seconds of the command, for a benchmark of its own."""
    from django.core.management import call_command

    clock = Clock()
    call_command("import_acuity", str(path), "--benchmark", slug, "--dataset", "bench", stdout=io.StringIO())
    return clock.seconds


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


# Levels and confidences vary with the sample; the rows that were imported are sample 0.
_MORE_SAMPLES = """
    INSERT INTO scoring_acuityreading (
        scale_id, case_id, candidate_id, format, sample, source, acuity_import_id, line, state, level, confidence, text
    )
    SELECT r.scale_id, r.case_id, r.candidate_id, r.format, n, r.source, r.acuity_import_id, r.line, r.state,
           CASE WHEN (r.id * 7919 + n * 104729) %% 5 = 0 THEN (r.level + 1) %% 4 ELSE r.level END,
           ((r.id * 31 + n * 17) %% 101) / 100.0, r.text
    FROM scoring_acuityreading r CROSS JOIN generate_series(%s::int, %s::int) AS n
    WHERE r.sample = 0
"""


def grow(first: int, last: int) -> None:
    """Add these samples of every case, candidate and format, without the triggers that check references."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(_MORE_SAMPLES, [first, last])
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("ANALYZE scoring_acuityreading")


def memory_by_readings(home: Path, cases: int, candidates: int, numbers: list[int]) -> None:
    """Print memory and time of a report on more and more samples."""
    from acuity import write
    from django.core.management import call_command

    from agreement.acuity.inputs import read_inputs
    from annotation.models import ReferenceSet

    write(home / "readings.csv", cases, candidates, 1)
    imported(home / "readings.csv", "bench")
    call_command("reference_set", "--benchmark", "bench", stdout=io.StringIO())
    report("bench")  # imports and caches
    rows: list[list[object]] = []
    done = 1
    for number in numbers:
        samples = max(done, number // (cases * candidates * 2))
        if samples > done:
            grow(done, samples - 1)
            done = samples
        before = reset_peak_of_this_process()
        reading, whole, processor = report("bench")
        peak = peak_of_this_process()
        names = [f"model-{candidate:02}" for candidate in range(candidates)]
        data = read_inputs(ReferenceSet.objects.get(), names).data
        n = len(data.readings)
        each = f"{data.readings.n_bytes / n:.1f}"
        rows.append([f"{n:,}", each, reading, whole, processor, f"{before:.0f}", f"{peak:.0f}"])
    columns = ("readings", "bytes each", "inputs s", "report s", "processor s", "MiB before", "MiB at the most")
    show(f"Reports on {cases:,} cases, {candidates} candidates, 2 formats", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("cases", 914), ("candidates", 12), ("samples", 5), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--refused", type=int, default=0)
    parser.add_argument("--unusable", type=float, default=0.0, help="share of case, candidate and format")
    parser.add_argument("--readings", default="", help="numbers of readings by commas, of which to measure memory")
    options = parser.parse_args()
    with scratch_product() as home:
        if options.readings:
            numbers = sorted(int(number) for number in options.readings.split(","))
            memory_by_readings(home, options.cases, options.candidates, numbers)
            return
        from acuity import write
        from django.core.management import call_command

        path = home / "readings.csv"
        write(path, options.cases, options.candidates, options.samples, options.unusable)
        times: dict[str, list[Any]] = {
            "copy": [],
            "import": [],
            "keys": [],
            "like": [],
            "reading": [],
            "report": [],
            "processor": [],
        }
        for repeat in range(options.repeats):
            slug = f"bench-{repeat}"
            times["copy"].append(bare_copy(path))
            times["import"].append(imported(path, slug))
            times["keys"].append(copy_with_keys({}))
            times["like"].append(copy_with_keys(REFERENCES))
            call_command("reference_set", "--benchmark", slug, stdout=io.StringIO())
            before = peak_of_this_process()
            reading, whole, processor = report(slug)
            times["reading"].append(reading)
            times["report"].append(whole)
            times["processor"].append(processor)
        n = options.cases * options.candidates * options.samples * 2
        print(f"{n:,} readings on {options.cases:,} cases")
        seconds = {name: median(values) for name, values in times.items()}
        print(f"{seconds['copy']:8.3f} s  csv and a bare COPY")
        print(f"{seconds['keys']:8.3f} s  COPY of the stored rows into a table with the same keys and indexes")
        print(f"{seconds['like']:8.3f} s  COPY of the stored rows into a table with the same foreign keys, too")
        ratios = ", ".join(f"{seconds['import'] / seconds[name]:.1f}" for name in ("copy", "keys", "like"))
        print(f"{seconds['import']:8.3f} s  import_acuity, {ratios} times as long")
        print(f"{seconds['reading']:8.3f} s  inputs of a report")
        print(f"{seconds['report']:8.3f} s  the report with all its tables, inputs included")
        print(f"{seconds['processor']:8.3f} s  of it, processor time of this process")
        print(f"{before:8.0f} MiB at the most before the last report, import included")
        print(f"{peak_of_this_process():8.0f} MiB at the most after it")
        if options.refused:
            took, message = refused(home / "refused.csv", options.refused)
            print(f"{took:8.3f} s  {options.refused + 1:,} rows with the last bad: {message[:200]}")
            print(f"{peak_of_this_process():8.0f} MiB at the most")


if __name__ == "__main__":
    main()
