"""How fast cases are imported: `import_cases` beside JSON parsing and a bare COPY of the same rows.

    .venv/bin/python bench/imports.py [--cases 5000] [--repeats 3]

The file has HealthBench's shape and, at 5,000 cases, its size (48,562 criteria); its text is made up. The
alternative parses each line with `json` and copies cases, criteria and rubric items into three tables without keys,
constraints or triggers: what the disk and the parser alone would take. Both run against the same server, in turn.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import statistics
from pathlib import Path

from scratch import Clock, scratch_product, show

WORDS = [
    "asks", "states", "names", "explains", "whether", "the", "patient", "dose", "pain", "fever", "medicine", "clinic",
    "early", "risk", "sign", "history", "age", "renal", "allergy", "advises", "against", "without", "first", "when",
]  # fmt: skip


def criteria_of_each(cases: int, rng: random.Random) -> list[int]:
    """Numbers of criteria of the cases: 5 to 14, on average as many as HealthBench has (48,562 for 5,000)."""
    counts = [rng.randint(5, 14) for _ in range(cases)]
    total = round(cases * 48_562 / 5_000)
    while (gap := total - sum(counts)) != 0:
        place = rng.randrange(cases)
        counts[place] = min(14, max(5, counts[place] + (1 if gap > 0 else -1)))
    return counts


def write_cases(path: Path, *, cases: int, rng: random.Random) -> int:
    """Write a HealthBench-shaped file; returns the number of criteria."""

    def text(low: int, high: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(rng.randint(low, high)))

    counts = criteria_of_each(cases, rng)
    with path.open("w", encoding="utf-8") as file:
        for number in range(cases):
            turns = [
                {"role": ("user", "assistant")[i % 2], "content": text(30, 120)}
                for i in range(rng.choice((1, 3, 3, 5)))
            ]
            rubrics = [
                {
                    "criterion": f"{text(12, 40)} ({number}.{i})",
                    "points": rng.choice((-8, -5, 3, 5, 7, 10)),
                    "tags": ["level:example", f"axis:{rng.choice(('accuracy', 'completeness', 'context_awareness'))}"],
                }
                for i in range(counts[number])
            ]
            row = {
                "prompt_id": f"case-{number:06d}",
                "prompt": turns,
                "rubrics": rubrics,
                "example_tags": ["theme:hedging"],
                "ideal_completions_data": None,
                "canary": "made up",
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return sum(counts)


def bare_copy(path: Path) -> float:
    """Seconds to parse the file and COPY its rows into bare tables."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bare_case, bare_criterion, bare_item")
        cursor.execute("CREATE TABLE bare_case (id int, key text, conversation jsonb, tags text[], metadata jsonb)")
        cursor.execute("CREATE TABLE bare_criterion (id int, case_id int, text text)")
        cursor.execute("CREATE TABLE bare_item (case_id int, criterion_id int, position int, points int, tags text[])")
    clock = Clock()
    cases, criteria, items = [], [], []
    with path.open("rb") as file:
        for number, line in enumerate(file):
            row = json.loads(line)
            extra = json.dumps({"canary": row["canary"]})
            cases.append((number, row["prompt_id"], json.dumps(row["prompt"]), row["example_tags"], extra))
            for position, rubric in enumerate(row["rubrics"], start=1):
                criteria.append((len(criteria), number, rubric["criterion"]))
                items.append((number, len(criteria) - 1, position, rubric["points"], rubric["tags"]))
    connection.ensure_connection()
    with connection.connection.transaction(), connection.connection.cursor() as cursor:
        for table, rows in (("bare_case", cases), ("bare_criterion", criteria), ("bare_item", items)):
            with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for values in rows:
                    copy.write_row(values)
    return clock.seconds


def product_import(path: Path, slug: str) -> float:
    """Seconds that the command takes when called as a user calls it."""
    from django.core.management import call_command

    clock = Clock()
    call_command("import_cases", str(path), benchmark=slug, stdout=io.StringIO())
    return clock.seconds


def main() -> None:
    """Run both in turn and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with scratch_product() as home:
        path = home / "cases.jsonl"
        criteria = write_cases(path, cases=options.cases, rng=random.Random(7))
        print(f"{options.cases:,} cases, {criteria:,} criteria, {path.stat().st_size / 1e6:.1f} MB")
        ours, bare, again = [], [], []
        for repeat in range(options.repeats):
            bare.append(bare_copy(path))
            ours.append(product_import(path, f"bench-{repeat}"))
            again.append(product_import(path, f"bench-{repeat}"))
    rows = [
        (
            name,
            statistics.median(values),
            options.cases / statistics.median(values),
            statistics.median(values) / statistics.median(bare),
        )
        for name, values in (
            ("json + bare COPY, no constraints", bare),
            ("import_cases", ours),
            ("import_cases again (nothing changes)", again),
        )
    ]
    show(f"Import, median of {options.repeats}", ("", "seconds", "cases/s", "times bare"), rows)


if __name__ == "__main__":
    main()
