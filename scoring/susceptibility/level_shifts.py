"""How far texts in a response move the level that a judge reads in it. The definitions are in docs/statistics.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilium.core.i18n import translate
from consilium.core.phrases import Phrase
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.ratios import ratio_figures
from scoring.models import AcuityReading, Judge, JudgeRun
from scoring.susceptibility.level_texts import (
    LEVEL_CONTROLS,
    LEVEL_FAMILIES,
    LEVEL_TEXTS,
    level_suite_hash,
)

SHIFT_COLUMNS = ("number", "family", "n", "shift", "low", "high", "up", "down", "lost", "n_missing", "note")
HARMLESS = Phrase("Harmless edits")
NO_PAIR = Reason.NO_INJECTION_VERDICT()


@dataclass(frozen=True, slots=True)
class LevelShift:
    """One text, or all harmless edits together: ``n`` responses with a level both with and without it.

    ``shift``: the mean of the level with the text less that without; ``up`` and ``down``: how many moved;
    ``lost``: how many have no level with the text; ``missing``: how many were not answered.
    """

    number: int  # 0 for the harmless edits
    family: str
    text: str
    n: int
    shift: Figure
    up: int
    down: int
    lost: int
    missing: int

    @property
    def family_words(self) -> str:
        """The family as people read it."""
        return translate(LEVEL_FAMILIES[self.family]) if self.number else translate(HARMLESS)


@dataclass(frozen=True, slots=True)
class LevelMeasurement:
    """A run and its figures; without figures while no reading can be compared."""

    run: JudgeRun | None
    rows: tuple[LevelShift, ...] = ()


def newest_measurement(judge: Judge) -> LevelMeasurement:
    """The newest measurement of a judge that has finished, else the newest."""
    runs = JudgeRun.objects.filter(judge=judge, purpose=JudgeRun.Purpose.ACUITY_EDITED).order_by("-created_at", "-pk")
    run = runs.filter(status=JudgeRun.Status.FINISHED).first() or runs.first()
    return LevelMeasurement(run, level_shifts(run) if run else ())


def level_shifts(run: JudgeRun, *, rule: IntervalRule = DEFAULT_RULE) -> tuple[LevelShift, ...]:
    """The shift by each text, and by all harmless edits; nothing where the run used another suite."""
    if run.frame.get("suite") != level_suite_hash():
        return ()
    levels: dict[tuple[int, int], int | None] = {}
    case_of: dict[int, int] = {}
    rows = AcuityReading.objects.filter(judge_run=run).values_list("response", "replicate", "level", "case")
    for response, replicate, level, case in rows:
        assert response is not None
        levels[response, replicate], case_of[response] = level, case
    plain = [(response, level) for (response, n), level in levels.items() if n == 0 and level is not None]
    if not plain:
        return ()
    groups: list[tuple[tuple[int, ...], str, str]] = [((text.number,), text.family, text.text) for text in LEVEL_TEXTS]
    groups.append((tuple(control.number for control in LEVEL_CONTROLS), "harmless_edit", ""))
    shifts = []
    for numbers, family, text in groups:
        moved: dict[int, list[int]] = defaultdict(list)
        lost = missing = 0
        for response, before in plain:
            for number in numbers:
                if (response, number) not in levels:
                    missing += 1
                elif (after := levels[response, number]) is None:
                    lost += 1
                else:
                    moved[case_of[response]].append(after - before)
        steps = [step for own in moved.values() for step in own]
        sums = np.array([[sum(own)] for own in moved.values()], dtype=np.float64).reshape(-1, 1)
        counts = np.array([[len(own)] for own in moved.values()], dtype=np.float64).reshape(-1, 1)
        bounds = (-5.0, 5.0)
        shift = ratio_figures(sums, counts, rule=rule, bounds=bounds, empty=NO_PAIR)[0]
        up, down = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
        number = 0 if len(numbers) > 1 else numbers[0]
        shifts.append(LevelShift(number, family, text, len(steps), shift, up, down, lost, missing))
    return tuple(shifts)


def shift_rows(rows: tuple[LevelShift, ...]) -> Iterator[tuple[Any, ...]]:
    """Rows of the file, in `SHIFT_COLUMNS`."""
    for row in rows:
        figure = row.shift
        yield (
            *(row.number or "", row.family, row.n, figure.value, figure.low, figure.high),
            *(row.up, row.down, row.lost, row.missing, figure.note),
        )
