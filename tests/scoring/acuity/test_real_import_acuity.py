"""Published result files, readings and matrices in the database, against counts that other code took of the files."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F, Q
from django.test import Client

from rubrics.models import Case, SourceLabel
from scoring.models import AcuityReading
from tests.scoring.acuity.acuity_files import command, preview, table, table_sizes, work
from tests.scoring.acuity.test_acuity_pages import confirm

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

DATA = Path(os.environ["CONSILIUM_REAL_DATA"]) / "acuity"
NAMES = ("gpt-4.5", "medask", "o4-mini", "o3-mini")
THREE: dict[str, Any] = {"dataset": "semigran", "scheme": "em-ne-sc", "scale": "three"}


def counted(candidate: str) -> tuple[int, int, int, int]:
    """All readings of a candidate, those at the label of their case, above it and below it."""
    rows = AcuityReading.objects.filter(candidate__name=candidate, state="level")
    same = Q(level=F("case__source_labels__low"))
    return (
        rows.count(),
        rows.filter(same).count(),
        rows.filter(level__gt=F("case__source_labels__high")).count(),
        rows.filter(level__lt=F("case__source_labels__low")).count(),
    )


def test_published_results_of_four_models() -> None:
    files = [DATA / "medask" / f"semigran_{name}.jsonl" for name in NAMES]
    command(*files, **THREE)
    assert Case.with_stubs.filter(is_stub=True).count() == 45
    assert Counter(SourceLabel.objects.values_list("label", flat=True)) == {"em": 15, "ne": 15, "sc": 15}
    # Published: right, over, under of 225.
    assert counted("semigran_gpt-4.5") == (225, 155, 64, 6)
    assert counted("semigran_medask") == (225, 197, 12, 16)
    assert counted("semigran_o4-mini") == (225, 181, 27, 17)
    assert counted("semigran_o3-mini") == (225, 148, 66, 11)
    before = table_sizes()
    command(*files, **THREE)
    assert table_sizes() == before


def test_published_results_through_the_page(staff: Client) -> None:
    content = (DATA / "medask" / "semigran_gpt-4.5.jsonl").read_bytes()
    job, page = preview(staff, content, name="semigran_gpt-4.5.jsonl", dataset="semigran")
    shown = job.counts["previews"][0]
    assert [(row["label"], row["levels"], row["cases"]) for row in shown["labels"]] == [
        ("em", "emergency", 15),
        ("ne", "non-emergency", 15),
        ("sc", "self-care", 15),
    ]
    # The answers, the least urgent first: sc 24, ne 119, em 82.
    assert [(row["readings"], row["samples"], row["levels"]) for row in shown["series"]] == [(225, 5, [24, 119, 82])]
    assert shown["contradictions"] == 0
    assert "semigran-0001" in page
    work(confirm(staff, job))
    assert counted("semigran_gpt-4.5") == (225, 155, 64, 6)
    assert len(table(staff, "readings.csv")) == 226
    assert table(staff, "unusable.csv")[1:] == []


def test_readings_of_two_candidates_in_two_formats(tmp_path: Path) -> None:
    command(DATA / "readings.csv", dataset="study")
    states = Counter(AcuityReading.objects.values_list("state", flat=True))
    assert states == {"level": 786, "refused": 8, "no-level": 6}
    assert Case.with_stubs.filter(is_stub=True).count() == 40
    confident = AcuityReading.objects.filter(candidate__name="Model A", format="qa", confidence__isnull=False)
    stored = sorted(round(100 * reading.confidence) for reading in confident)  # type: ignore[operator]
    lines = [line.split(",") for line in (DATA / "readings.csv").read_text().splitlines()[1:]]
    assert stored == sorted(int(row[5]) for row in lines if row[1:3] == ["Model A", "qa"] and row[5])
    assert {reading.line for reading in AcuityReading.objects.all()} == set(range(2, 802))


def test_matrices_become_so_many_cases() -> None:
    command(DATA / "matrices.csv", dataset="published")
    # Right, over and under as published of 480 and 527 cases.
    assert counted("consumer-assistant") == (480, 318, 119, 43)
    assert counted("model-5m-qa") == (527, 412, 26, 89)
    assert counted("model-5m-chat") == (527, 365, 12, 150)
    assert not Case.objects.exists()


def test_no_published_reading_is_a_level_that_nobody_gave() -> None:
    command(*(DATA / "medask" / f"semigran_{name}.jsonl" for name in NAMES), **THREE)
    given: Counter[tuple[str, str]] = Counter()
    for name in NAMES:
        for line in (DATA / "medask" / f"semigran_{name}.jsonl").read_text().splitlines():
            given[f"semigran_{name}", json.loads(line)["llm_output"]] += 1
    stored = Counter(AcuityReading.objects.filter(state="level").values_list("candidate__name", "text"))
    assert stored == given
