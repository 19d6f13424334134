"""Whether the demo, whose passwords are published, is loaded on a site that others reach."""

from __future__ import annotations

from operations.checks.address import is_public
from operations.checks.check import Check, Result, State
from rubrics.models import Benchmark


def look() -> Result:
    """Look for the demo benchmark."""
    if not Benchmark.objects.filter(is_demo=True).exists():
        return Result(State.OK, "The demo is not loaded.")
    if not is_public():
        return Result(State.OK, "The demo is loaded, and the site answers on this machine only.")
    return Result(
        State.FAILED,
        "The demo is loaded, and its accounts have published passwords.",
        "Start with an empty database and CONSILIUM_DEMO=0; the demo cannot be removed.",
    )


CHECK = Check("demo", "Demo", look, needs_database=True)
