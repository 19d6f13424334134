"""Computes a report on composition for the tests, and reads its tables."""

from __future__ import annotations

from typing import Any

import pandas as pd
from django.utils import timezone

from agreement import services
from agreement.models import NamedSlice, Report
from agreement.reports.stored import table_of
from rubrics.models import Benchmark, Case


def composition_of(benchmark: Benchmark, **parameters: Any) -> Report:
    """A finished report."""
    report = services.create_report(benchmark=benchmark, kind="composition", parameters=parameters, at=timezone.now())
    services.run(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report


def frame_of(report: Report, table: str) -> pd.DataFrame:
    """A table of a report."""
    return pd.DataFrame(table_of(report, table).dicts())


def counts_of(report: Report, dimension: str, column: str = "n") -> dict[str, Any]:
    """The column of the table `composition` by the values of one dimension."""
    rows = table_of(report, "composition").dicts()
    return {row["value"]: row[column] for row in rows if row["dimension"] == dimension}


def slice_of(benchmark: Benchmark, slug: str, keys: list[str]) -> NamedSlice:
    """A named slice of the cases with these keys."""
    cases = Case.objects.filter(benchmark=benchmark, key__in=keys).order_by("pk").values_list("pk", flat=True)
    return NamedSlice.objects.create(
        benchmark=benchmark,
        slug=slug,
        title=slug.capitalize(),
        rule=NamedSlice.Rule.FILTER,
        case_ids=list(cases),
        input_digest="0" * 64,
        created_at=timezone.now(),
    )
