"""Made-up files, how a command reads them, and worked examples that were computed by hand.

The expected values of the examples are in the tests.
"""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

EXTENTS = {"f": "full", "p": "partial", "n": "none", "i": "invalid", "-": ""}
STATED = {"w": "ref", "s": "same", "l": "cand"}
# For each gold point of twelve cases, what sets A and B cover.
COVERAGE = (
    "1 ff fn nn · 2 fp ff · 3 nf ff fn · 4 ff · 5 pn fn · 6 ff nn ff · 7 fn ff · 8 nf pp · 9 ff fn · 10 fn · "
    "11 ff if · 12 fp nn"
)
# Three trials with the reference first, then three with it second: totals of reference and candidate, and what was
# stated.
PAIRS = """\
P1 5-3w 5-3w 4-4s | 5-3w 6-3w 5-3w
P2 7-7s 7-7s 7-7s | 7-6s 7-7s 7-6w
P3 2-4l 2-4l 3-3s | 2-3l 2-4l 4-3w
P4 9-1w 9-1w 9-1w | 5-5s 5-5s 5-5s
P5 3-3s 3-3s 3-3s | 3-3s 3-3s 3-3s
P6 8-6w 8-6w 8-6w | 8-7w 6-7l 8-6w
P7 6-6s 6-6s 6-6s | 6-6s 6-6s 6-7l"""
BASE = (40, 55, 0, 70, 62, 58, 80, 35, 66, 50, 48, 90)
REFINED = (60, 55, 20, 75, 60, 70, 85, 55, 70, 62, 50, 88)

Lines = list[str]


def coverage_lines(cases: str = COVERAGE, header: str = "case,gold,points,A,B") -> Lines:
    lines = [header]
    for own in cases.split(" · "):
        case, *points = own.split()
        lines += [
            ",".join([f"c{case}", f"g{number}", "1", *(EXTENTS[letter] for letter in letters)])
            for number, letters in enumerate(points)
        ]
    return lines


def pair_rows(pairs: str = PAIRS) -> list[dict[str, Any]]:
    rows = []
    for own in pairs.splitlines():
        pair, halves = own.split(" ", 1)
        for order, trials in zip(("ref_first", "cand_first"), halves.split("|"), strict=True):
            for number, trial in enumerate(trials.split()):
                reference, candidate = trial[:-1].split("-")
                totals = {"total_ref": reference, "total_cand": candidate}
                rows.append({"pair": pair, "order": order, "trial": number, **totals, "stated": STATED[trial[-1]]})
    return rows


def lines_of(rows: list[dict[str, Any]]) -> Lines:
    """The rows as lines of a CSV, with the columns of the first."""
    return [",".join(rows[0]), *(",".join("" if cell is None else str(cell) for cell in row.values()) for row in rows)]


def refinement_lines() -> Lines:
    scores = zip(BASE, REFINED, strict=True)
    return ["case,base,refined", *(f"c{number},{base},{refined}" for number, (base, refined) in enumerate(scores))]


def run(command: str, folder: Path, lines: Lines | bytes, **options: Any) -> str:
    """Run a command on a file with these lines, writing to the folder ``out``; returns what it prints."""
    path, printed = folder / "file.csv", StringIO()
    path.write_bytes(lines if isinstance(lines, bytes) else "".join(f"{line}\n" for line in lines).encode())
    call_command(command, str(path), out=folder / "out", stdout=printed, **options)
    return printed.getvalue()


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def row(folder: Path, name: str, **conditions: str) -> dict[str, str]:
    (match,) = [own for own in rows(folder, name) if all(own[key] == value for key, value in conditions.items())]
    return match


def numbers(own: dict[str, str], *columns: str) -> list[float]:
    return [float(own[column]) for column in columns]


def refusal(command: str, folder: Path, lines: Lines | bytes, **options: Any) -> str:
    with pytest.raises(CommandError) as refused:
        run(command, folder, lines, **options)
    assert not (folder / "out").exists()
    return str(refused.value)
