"""Names of those who agreed to be named; in a release only where it is asked for."""

from __future__ import annotations

from importlib import import_module

from rubrics.models import Benchmark


def agreed_names(benchmark: Benchmark) -> list[str]:
    """Names for the acknowledgements, in their order; empty where nobody has agreed."""
    try:
        listing = import_module("annotation.contributions").acknowledged_names
    except (ImportError, AttributeError):
        return []
    return [str(name) for name in listing(benchmark)]
