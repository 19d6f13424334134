"""Addresses of pages that belong to a stored report."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from agreement.models import Report


def pairs_url(report: Report, slice_name: str) -> str:
    """The page of the decisions behind a slice of a report."""
    address = reverse("agreement:decisions", args=[report.benchmark.slug, report.section, report.public_id])
    return f"{address}?{urlencode({'slice': slice_name})}"
