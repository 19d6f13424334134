"""Files about acuity as rows of the database: imported, signed, and reported on."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agreement import services
from agreement.models import Report
from annotation.acuity.panel import AmbiguousBy, AmbiguousRule, panel_cases
from annotation.acuity.references import datasets_on
from annotation.acuity.services import sign_reference_set
from annotation.models import ReferenceItem, ReferenceSet
from rubrics.acuity.schemes import scheme_of
from rubrics.acuity.stored import scale_of
from rubrics.models import AcuityScale, Benchmark, Case
from rubrics.parsing.acuity_files import AcuityReader

DISPERSION = AmbiguousRule(AmbiguousBy.DISPERSION, 0.75)
LEVELS = ("self-care", "primary-care", "urgent-care", "emergency")
N_CASES = 12
MEDASK = ("gpt-4.5", "medask", "o4-mini", "o3-mini")


def import_files(benchmark: Benchmark, *files: Path, dataset: str, **options: str) -> AcuityScale:
    """Import the files; the scale that they are on."""
    call_command("import_acuity", *map(str, files), benchmark=benchmark.slug, dataset=dataset, **options)
    return AcuityScale.objects.filter(benchmark=benchmark).latest("pk")


def sign(scale: AcuityScale, *datasets: str) -> ReferenceSet:
    """A reference set by the labels of the datasets, by default of all on the scale."""
    return sign_reference_set(
        scale=scale,
        datasets=datasets or datasets_on(scale.benchmark, scale),
        ambiguous=DISPERSION,
        minimum_votes=3,
        note="",
        seen=None,
        by=None,
        at=timezone.now(),
    )


def sign_votes(scale: AcuityScale, votes: Path) -> ReferenceSet:
    """A reference set by the votes of a file, whose cases are there."""
    levels = scale_of(scale)
    reader = AcuityReader(levels, scheme_of("direct", levels))
    reader.read_votes(votes).refuse_if_any()
    reference_set = ReferenceSet.objects.create(
        benchmark=scale.benchmark, number=1, scale=scale, datasets=[], digest="0" * 64, signed_at=timezone.now()
    )
    keys = dict(Case.with_stubs.filter(benchmark=scale.benchmark).values_list("key", "pk"))
    ReferenceItem.objects.bulk_create(
        ReferenceItem(
            reference_set=reference_set,
            case_id=keys[key],
            status=panel.status(DISPERSION).value,
            source="panel",
            low=panel.reference_low,
            high=panel.reference_high,
        )
        for key, panel in panel_cases(reader.records.votes, len(levels)).items()
    )
    return reference_set


def reported(benchmark: Benchmark, seed: int = 0, interval: str = "jackknife", **parameters: Any) -> Report:
    """A finished report."""
    report = services.create_report(
        benchmark=benchmark, kind="acuity", parameters=parameters, seed=seed, interval=interval, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def write_lines(folder: Path, name: str, lines: list[str]) -> Path:
    """A long CSV of readings with references."""
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in ("case,candidate,format,sample,level,reference", *lines)), "utf-8")
    return path


def csv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def address(report: Report) -> str:
    return f"/b/{report.benchmark.slug}/acuity/{report.public_id}/"


def csv_of(client: Client, report: Report, name: str) -> str:
    response = client.get(f"{address(report)}tables/{name}.csv")
    assert response.status_code == 200, name
    return b"".join(response.streaming_content).decode()


def chosen(rows: list[dict[str, Any]], **conditions: str) -> dict[str, Any]:
    (match,) = [row for row in rows if all(row[key] == value for key, value in conditions.items())]
    return match


def small(folder: Path, benchmark: Benchmark, n: int = 12) -> None:
    """M is always right but for the refusals of its last three cases; N errs a level up everywhere, and answers."""
    lines = []
    for i in range(n):
        level = LEVELS[i % 3]
        lines.append(f"c{i:02},M,qa,0,{level if i < n - 3 else 'refused'},{level}")
        lines.append(f"c{i:02},N,qa,0,{LEVELS[i % 3 + 1]},{level}")
    lines.append("b1,M,qa,0,urgent-care,primary-care|urgent-care")
    lines.append("b1,N,qa,0,emergency,primary-care|urgent-care")
    sign(import_files(benchmark, write_lines(folder, "small.csv", lines), dataset="small"))
