"""What a finished report holds, read back: its tables, and the address of the decisions behind a slice."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from agreement.models import Report
from agreement.tables import Table


def table_of(report: Report, name: str) -> Table:
    """A stored table; KeyError where there is none of that name."""
    return Table.from_json(report.result["tables"][name])


def pairs_url(report: Report, slice_name: str) -> str:
    """The page of the decisions behind a slice of a report."""
    address = reverse("agreement:decisions", args=[report.benchmark.slug, report.section, report.public_id])
    return f"{address}?{urlencode({'slice': slice_name})}"
