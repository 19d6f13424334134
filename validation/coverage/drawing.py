"""Which answers of a run physicians decide on: strata, and the keyed draw from them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from consilium.core.drawing import keyed
from scoring.models import PipelineStep
from validation.coverage.config import CoverageConfig
from validation.coverage.content import ITSELF, SHIFTED, parsed
from validation.models import CoverageRun
from validation.models.coverage import BACK, FORWARD

ALL_OF = ("partly", "invalid")  # extents of which physicians decide on every one


def due_questions(run: CoverageRun, config: CoverageConfig) -> list[tuple[int, str]]:
    """The steps that physicians decide on, with their stage, in a keyed order."""
    rows = run.steps.order_by("pk").values_list("pk", "case__key", "stage", "key", "state", "output__extent")
    strata: dict[tuple[str, str], list[tuple[int, int, str]]] = defaultdict(list)
    for pk, case, stage, key, state, extent in rows.iterator(5000):
        series, _number = parsed(key)
        if series == ITSELF or series.startswith(SHIFTED):
            continue
        place = keyed(config.draw_seed, "coverage", case, stage, key)
        own = extent if state == PipelineStep.State.DONE else "missing"
        strata[stage, f"{series} {own}"].append((place, pk, own))
    drawn = [row for (stage, _name), own in strata.items() for row in _drawn(stage, own, config.share)]
    return [(pk, stage) for _place, pk, stage in sorted(drawn)]


def _drawn(stage: str, rows: list[tuple[int, int, str]], share: float) -> Iterator[tuple[int, int, str]]:
    """The rows of one stratum that are drawn."""
    extent = rows[0][2]
    if stage == BACK:
        n = 0 if extent == "full" else len(rows)
    else:
        n = len(rows) if extent in ALL_OF else math.ceil(Fraction(str(share)) * len(rows))
    for place, pk, _extent in sorted(rows)[:n]:
        yield place, pk, FORWARD if stage == FORWARD else BACK
