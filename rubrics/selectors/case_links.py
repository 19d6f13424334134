"""Addresses of the pages of cases that are known by their keys."""

from __future__ import annotations

from collections.abc import Iterable

from django.urls import reverse

from rubrics.models import Benchmark, Case


def case_urls(benchmark: Benchmark, keys: Iterable[str]) -> dict[str, str]:
    """The page of each case by its key; a stub has none. One query."""
    rows = Case.objects.filter(benchmark=benchmark, key__in=set(keys)).values_list("key", "public_id")
    return {key: reverse("rubrics:case", args=[benchmark.slug, public_id]) for key, public_id in rows}
