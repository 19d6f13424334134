"""Releases made in tests, and read again."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.utils import timezone

from releases.content import build
from releases.content.options import ReleaseOptions
from rubrics.imports import run_file
from rubrics.models import Benchmark

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def jsonl(rows: list[Any]) -> bytes:
    """Rows as a file."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def imported(slug: str, rows: list[Any] | bytes, form: str = "auto") -> Benchmark:
    """A benchmark with cases from a file, and a licence."""
    content = rows if isinstance(rows, bytes) else jsonl(rows)
    run_file(kind="cases", slug=slug, file=io.BytesIO(content), options={"format": form}, at=timezone.now())
    Benchmark.objects.filter(slug=slug).update(licence="CC-BY-4.0")
    return Benchmark.objects.get(slug=slug)


def built(benchmark: Benchmark, root: Path, version: str = "1.0", **options: Any) -> build.Built:
    """A release in ``root``, of a fixed day."""
    request = build.ReleaseOrder(benchmark, version, AT.date(), "", ReleaseOptions(**options))
    return build.build(request, root)


def lines(path: Path) -> list[Any]:
    """The records of a file of lines."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def command(*arguments: str) -> tuple[str, str]:
    """What a command prints, and what it warns of."""
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def bytes_of(root: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
