"""Acuity in a release: what goes out, how it is checked, and that it comes back to the same reports."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from releases.verification import verify
from rubrics.models import Benchmark
from tests.factories import BenchmarkFactory
from tests.releases.releasing import built, bytes_of, command

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "acuity"
EVERYTHING = {"acuity": True, "votes": True, "certainty": True, "reading_texts": True, "notes": True, "names": True}


@pytest.fixture
def panel() -> Benchmark:
    """The made-up panel, signed before and after its votes."""
    benchmark = BenchmarkFactory(slug="panel", licence="CC-BY-4.0")
    command("import_acuity", str(DATA / "readings.csv"), "--benchmark", "panel", "--dataset", "fixture")
    command("import_votes", str(DATA / "votes.csv"), "--benchmark", "panel", "--group", "Panel")
    command("reference_set", "--benchmark", "panel")
    return benchmark


def test_holds(panel: Benchmark, tmp_path: Path) -> None:
    built(panel, tmp_path / "a", **EVERYTHING)
    assert verify(tmp_path / "a").problems == []


def reports(slug: str, root: Path) -> dict[str, bytes]:
    for name in ("acuity", "acuity_uncertainty"):
        command(name, "--benchmark", slug, "--out", str(root / name))
    return bytes_of(root)


def test_back(panel: Benchmark, tmp_path: Path) -> None:
    built(panel, tmp_path / "a", **EVERYTHING)
    out, err = command("import_release_acuity", str(tmp_path / "a"), "--benchmark", "other")
    print(out, err)
    assert reports("panel", tmp_path / "1") == reports("other", tmp_path / "2")
    out, err = command("import_release_acuity", str(tmp_path / "a"), "--benchmark", "other")
    print(out, err)
    out, err = command("import_release_acuity", str(tmp_path / "a"), "--benchmark", "panel")
    print(out, err)
    built(Benchmark.objects.get(slug="other"), tmp_path / "b", **EVERYTHING)
    assert verify(tmp_path / "b").problems == []
    a, b = bytes_of(tmp_path / "a"), bytes_of(tmp_path / "b")
    assert [name for name in a if a[name] != b[name]] == []
