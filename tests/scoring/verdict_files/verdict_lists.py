"""What the tests of imported verdicts share: files, and the command's output on them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

Row = dict[str, Any]


def put_lines(path: Path, rows: list[Row]) -> Path:
    """A JSONL file."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def put_json(path: Path, value: Any) -> Path:
    """A JSON file over many lines."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), encoding="utf-8")
    return path


def load(path: Path, slug: str, judge: str = "elsewhere", **options: Any) -> str:
    """Import, and what was said."""
    out, err = StringIO(), StringIO()
    call_command("import_verdicts", str(path), benchmark=slug, judge=judge, stdout=out, stderr=err, **options)
    return out.getvalue() + err.getvalue()


def refused(path: Path, slug: str, **options: Any) -> str:
    """The faults of a file that must not be imported."""
    err = StringIO()
    with pytest.raises(CommandError, match="nothing was imported"):
        call_command("import_verdicts", str(path), benchmark=slug, judge="elsewhere", stderr=err, **options)
    return err.getvalue()
