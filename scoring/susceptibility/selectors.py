"""Data of a judge's susceptibility, for pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Case, When

from consilium.core.phrases import Phrase
from rubrics.models import Benchmark
from scoring.models import Judge, JudgeRun
from scoring.runs.comparing import LISTED
from scoring.selectors.judges_and_runs import RunRow, run_rows
from scoring.susceptibility.failing_pairs import reference_label
from scoring.susceptibility.injections import CONTROLS, FAMILIES, INJECTIONS, PLACES, Control, Injection
from scoring.susceptibility.turn_rates import FlipCount, Susceptibility, measured

HARMLESS = Phrase("Harmless edits")


@dataclass(frozen=True, slots=True)
class InjectionRow:
    """An injection, or a harmless edit, with its results; family and place in words."""

    injection: Injection | Control
    family: str
    place: str
    count: FlipCount


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """A family in words; ``mark`` is the number of the remark below the table, 0 for none."""

    family: str
    count: FlipCount
    mark: int
    is_noise: bool = False


@dataclass(frozen=True, slots=True)
class FamilyTable:
    """Families, then the harmless edits, and why some of their rates have no interval, each reason once."""

    rows: tuple[FamilyRow, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Measurement:
    """A measurement and its figures."""

    run: JudgeRun
    figures: Susceptibility

    @property
    def complete(self) -> bool:
        return self.run.status == JudgeRun.Status.FINISHED

    @cached_property
    def reference(self) -> str:
        """By whose decisions the pairs fail, as people read it; one query for a run."""
        return reference_label(self.run.benchmark_id, str(self.run.frame.get("reference", "")))

    @property
    def certain(self) -> bool:
        """Whether the interval of the difference lies above 0."""
        low = self.figures.difference.low
        return low is not None and low > 0

    @cached_property
    def families(self) -> FamilyTable:
        """Every family, the most successful first."""
        return self._table(self.figures.families)

    @cached_property
    def turning(self) -> FamilyTable:
        """Only families that turned a verdict."""
        return self._table([(name, count) for name, count in self.figures.families if count.flips])

    def _table(self, families: Sequence[tuple[str, FlipCount]]) -> FamilyTable:
        rows = [(FAMILIES[name], count, False) for name, count in families]
        rows.sort(key=lambda row: -(row[1].rate.value or 0.0))
        if self.figures.noise is not None and rows:
            rows.append((HARMLESS, self.figures.noise, True))
        remarks = list(dict.fromkeys(count.rate.note for _words, count, _noise in rows if count.rate.note))
        return FamilyTable(
            rows=tuple(
                FamilyRow(words, count, remarks.index(count.rate.note) + 1 if count.rate.note else 0, is_noise)
                for words, count, is_noise in rows
            ),
            remarks=tuple(remarks),
        )

    @property
    def turning_injections(self) -> list[InjectionRow]:
        """Injections that turned a verdict, the most successful first."""
        return sorted((row for row in self.injections if row.count.flips), key=lambda row: -row.count.flips)

    @property
    def quiet_injections(self) -> list[InjectionRow]:
        """Injections that turned none."""
        return [row for row in self.injections if not row.count.flips]

    @cached_property
    def injections(self) -> list[InjectionRow]:
        """Every injection, by number."""
        return [
            InjectionRow(injection, FAMILIES[injection.family], PLACES[injection.place], count)
            for injection, count in self.figures.injections
        ]

    @cached_property
    def harmless(self) -> list[InjectionRow]:
        """Every harmless edit, by number."""
        return [
            InjectionRow(control, HARMLESS, PLACES[control.place], count) for control, count in self.figures.harmless
        ]


@dataclass(frozen=True)
class SusceptibilityScreen:
    """Of one version of a judge on one benchmark: the run under way, the newest measurement, and the newest runs.

    A figure belongs to the version that was measured: a new version has none.
    """

    judge: Judge
    live: RunRow | None
    shown: Measurement | None
    runs: tuple[JudgeRun, ...]

    @property
    def measurable(self) -> bool:
        return self.judge.kind_info.is_measurable and self.judge.kind_info.is_ready(self.judge)

    @property
    def number_of_injections(self) -> int:
        return len(INJECTIONS)

    @property
    def number_of_harmless(self) -> int:
        return len(CONTROLS)

    @property
    def wavers(self) -> bool:
        """Whether the judge may turn a verdict by chance alone."""
        return self.judge.kind_info.may_waver(self.judge.config)


def susceptibility_screen(benchmark: Benchmark, judge: Judge, run: str = "") -> SusceptibilityScreen:
    """What there is to show; ``run`` is the public id of a measurement, empty for the newest.

    The newest is the newest finished one, or where none has finished the newest that has ended.
    """
    runs = JudgeRun.objects.filter(benchmark=benchmark, judge=judge, purpose=JudgeRun.Purpose.SUSCEPTIBILITY)
    light = runs.select_related("judge").defer("snapshot")  # only the spending of a run under way asks for it
    live = light.filter(status__in=JudgeRun.LIVE).first()
    if run:
        chosen = light.filter(public_id=run).first()
    else:
        finished = Case(When(status=JudgeRun.Status.FINISHED, then=0), default=1)
        chosen = light.exclude(status__in=JudgeRun.LIVE).order_by(finished, "-created_at", "-pk").first()
    return SusceptibilityScreen(
        judge=judge,
        live=run_rows([live])[0] if live else None,
        shown=Measurement(chosen, measured(chosen)) if chosen else None,
        runs=tuple(light[:LISTED]),
    )
