"""Acuity on its way out by a release and back, and the files of its reports."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from rubrics.models import Benchmark
from tests.releases.acuity_world import EVERYTHING
from tests.releases.releasing import built, bytes_of, command


def reports(slug: str, root: Path, *names: str) -> dict[str, bytes]:
    """The files of the reports, with their settings."""
    for name in names or ("acuity", "acuity_uncertainty"):
        command(name, "--benchmark", slug, "--out", str(root / name))
    return bytes_of(root)


def release_of(benchmark: Benchmark, root: Path, **options: Any) -> Path:
    built(benchmark, root, **(options or EVERYTHING))
    return root


def back(root: Path, slug: str = "other") -> str:
    return command("import_release_acuity", str(root), "--benchmark", slug)[0]


def rows(root: Path, name: str) -> list[dict[str, str]]:
    """The rows of a table of acuity."""
    with (root / "acuity" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
