"""Changes of a release since the one before: cases added, removed or changed, with their criteria counted."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from releases.models import Release

CASES = "cases/healthbench.jsonl"
# At most this many cases are named; all are counted.
MAX_NAMED_CASES = 1_000


@dataclass(frozen=True, slots=True)
class _PromptDigest:
    """The part of a released case that shows whether the case is still the same."""

    rest: bytes
    criteria: Counter[bytes]


def changes_since(before: Release | None, root: Path) -> dict[str, Any]:
    """Counts and names of cases that differ between the release in ``root`` and ``before``; empty without one."""
    if before is None or not before.archive:
        return {}
    with before.archive.open("rb") as source, ZipFile(source) as archive:
        name = next((name for name in archive.namelist() if name.partition("/")[2] == CASES), "")
        if not name:
            return {}
        with archive.open(name) as packed:
            old = _read(io.TextIOWrapper(packed, encoding="utf-8", newline="\n"))
    with (root / CASES).open(encoding="utf-8", newline="\n") as file:
        new = _read(file)
    rows = [row for key in [*new, *(key for key in old if key not in new)] if (row := _row(key, old, new))]
    kinds = Counter(row["change"] for row in rows)
    return {
        "since": before.version,
        **{kind: kinds[kind] for kind in ("added", "removed", "changed")},
        "criteria_added": sum(row["criteria_added"] for row in rows),
        "criteria_removed": sum(row["criteria_removed"] for row in rows),
        "cases": rows[:MAX_NAMED_CASES],
    }


def _read(lines: Iterable[str]) -> dict[str, _PromptDigest]:
    cases = {}
    for line in lines:
        record = json.loads(line)
        criteria = Counter(_hash(criterion) for criterion in record.pop("rubrics"))
        cases[str(record["prompt_id"])] = _PromptDigest(_hash(record), criteria)
    return cases


def _hash(value: Any) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()[:12]


def _row(key: str, old: dict[str, _PromptDigest], new: dict[str, _PromptDigest]) -> dict[str, Any] | None:
    was, now = old.get(key), new.get(key)
    if was == now:
        return None
    before, after = was.criteria if was else Counter(), now.criteria if now else Counter()
    return {
        "case": key,
        "change": "removed" if now is None else "added" if was is None else "changed",
        "criteria_added": (after - before).total(),
        "criteria_removed": (before - after).total(),
    }
