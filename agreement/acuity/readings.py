"""Cases with their references, and the readings of candidates on them, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.packed_readings import N_REASONS, UNKNOWN_ESCALATION, PackedReadings
from annotation.acuity.panel import AmbiguousBy, AmbiguousRule, PanelCase, PanelStatus, panel_cases
from rubrics.acuity.scales import Scale
from rubrics.acuity.schemes import How
from rubrics.parsing.acuity_files import AcuityRecords
from rubrics.parsing.acuity_levels import State

Ints = NDArray[np.int64]

IMPORTED = "imported"


class CaseStatus(IntEnum):
    """How a case counts: clear ones in the main figures, boundary ones there only by option."""

    CLEAR = 0
    BOUNDARY = 1
    AMBIGUOUS = 2
    SET_ASIDE = 3
    WITHOUT_REFERENCE = 4
    EXCLUDED = 5


_OF_PANEL = {
    PanelStatus.CLEAR: CaseStatus.CLEAR,
    PanelStatus.BOUNDARY: CaseStatus.BOUNDARY,
    PanelStatus.AMBIGUOUS: CaseStatus.AMBIGUOUS,
    PanelStatus.SET_ASIDE: CaseStatus.SET_ASIDE,
}


@dataclass(frozen=True, eq=False)
class LevelDistribution:
    """The mean ``f`` (levels,) of the distributions that log probabilities gave in ``n`` readings of a case."""

    f: NDArray[np.float64]
    n: int


@dataclass(frozen=True, eq=False)
class AcuityData:
    """Cases in the order of their keys, and readings in that of case, series and sample, whatever order they came in.

    ``low``, ``high`` and ``status`` have an entry for each case; ``low`` and ``high`` are -1 without a reference.
    ``is_asked`` (cases, series) says who was asked about what. ``overruled`` counts the cases whose panel gives another
    reference than their label. A series is a candidate in one format. Confidences of ``readings`` are 0 to 1, NaN where
    none was given. ``slices`` are masks over the cases by name, in the order of their names. ``counts_boundary``:
    boundary cases are in the main figures too.

    ``planned`` (cases, series) is the number of samples that runs planned, those of a judge among them, -1 in the
    columns of other series.
    ``sources`` and ``candidates`` have an entry for each series: where its readings come from, and whose they are. The
    name of a series is that of its candidate, with the source where the candidate has several in the format. All three
    are None where nothing was asked for by a run. ``distributions``, by case and number of a series, are those of the
    cases of ``panel`` whose readings came with log probabilities.
    """

    scale: Scale
    cases: list[str]
    low: Ints
    high: Ints
    status: Ints
    is_asked: NDArray[np.bool_]
    series_names: list[tuple[str, str]]
    readings: PackedReadings
    panel: Mapping[str, PanelCase] = field(default_factory=dict)
    overruled: int = 0
    slices: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    counts_boundary: bool = False
    planned: Ints | None = None
    sources: list[str] | None = None
    candidates: list[str] | None = None
    distributions: Mapping[tuple[str, int], LevelDistribution] = field(default_factory=dict)

    def source_of(self, series: int) -> str:
        """Where the readings of a series come from."""
        return IMPORTED if self.sources is None else self.sources[series]

    def candidate_of(self, series: int) -> str:
        """Whose readings a series holds."""
        return self.series_names[series][0] if self.candidates is None else self.candidates[series]

    @property
    def n_levels(self) -> int:
        return len(self.scale)

    @property
    def is_clear(self) -> NDArray[np.bool_]:
        """(cases,): whether the reference is one clear level."""
        return np.asarray(self.status == int(CaseStatus.CLEAR))

    @property
    def counts(self) -> NDArray[np.bool_]:
        """(cases,): whether the case is in the main figures."""
        boundary = np.asarray(self.status == int(CaseStatus.BOUNDARY))
        return self.is_clear | boundary if self.counts_boundary else self.is_clear

    def n_planned(self) -> Ints:
        """The number of readings planned, (cases, series).

        Of imported ones it is, on each case that the candidate was asked about, the most that it has on any.
        """
        of_files = np.where(self.is_asked, self.readings.numbers.max(axis=0, initial=1), 0)
        return of_files if self.planned is None else np.where(self.planned >= 0, self.planned, of_files)

    @cached_property
    def _counts(self) -> Ints:
        return self.readings.counts(self.n_levels)

    @property
    def level_counts(self) -> Ints:
        """The number of usable readings by case, series and level, (cases, series, L)."""
        return self._counts[..., N_REASONS:]

    def readings_of(self, state: State | None = None) -> Ints:
        """The number of readings by case and series, (cases, series): all of them, or those in one state."""
        if state is None:
            return self.readings.numbers
        return self.level_counts.sum(axis=-1) if state is State.LEVEL else self._counts[..., N_REASONS - int(state)]


def data_of(records: AcuityRecords, scale: Scale, ambiguous: AmbiguousRule) -> AcuityData:
    """Arrays of everything that was read.

    A case's reference is that of its panel, else what its label says directly.
    """
    excluded = {case for case, label in records.labels.items() if label.how is How.EXCLUDE}
    panel = panel_cases((vote for vote in records.votes if vote.case not in excluded), len(scale), records.flags)
    datasets = records.datasets
    cases = sorted({*datasets.of_case, *records.labels, *panel})
    number_of = {case: number for number, case in enumerate(cases)}
    low, high, status = (np.full(len(cases), -1, dtype=np.int64) for _ in range(3))
    overruled = 0
    for case, number in number_of.items():
        low[number], high[number], status[number] = _reference(records, panel.get(case), case, ambiguous)
        label = records.labels.get(case)
        if label is not None and label.low is not None and low[number] >= 0:
            overruled += (label.low, label.high) != (int(low[number]), int(high[number]))
    series_names = sorted(datasets.of_series, key=series_order)
    series_of = {name: number for number, name in enumerate(series_names)}
    roots = [{datasets.root(dataset) for dataset in datasets.of_series[name]} for name in series_names]
    case_roots = [datasets.root(datasets.of_case[case]) if case in datasets.of_case else -1 for case in cases]
    is_asked = np.array([[root in own for own in roots] for root in case_roots], dtype=bool)
    columns = np.array(
        [
            (
                number_of[reading.case],
                series_of[reading.candidate, reading.format],
                reading.sample,
                int(reading.answer.state),
                reading.answer.place,
                UNKNOWN_ESCALATION if reading.escalation is None else reading.escalation,
            )
            for reading in records.readings
        ],
        dtype=np.int64,
    ).reshape(-1, 6)
    of_case, of_series, sample, state, place, escalation = columns.T
    confidence = [np.nan if reading.confidence is None else reading.confidence for reading in records.readings]
    readings = PackedReadings.of(
        (len(cases), len(series_names)),
        case=of_case,
        series=of_series,
        sample=sample,
        answer=np.where(place >= 0, place, -state),
        confidence=np.array(confidence, dtype=np.float64),
        escalation=escalation,
    )
    return AcuityData(
        scale=scale,
        cases=cases,
        low=low,
        high=high,
        status=status,
        is_asked=is_asked.reshape(len(cases), len(series_names)),
        series_names=series_names,
        readings=readings,
        panel=panel,
        overruled=overruled,
    )


def series_order(name: tuple[str, str]) -> tuple[str, bool]:
    """Candidates by name, the forced choice before the chat."""
    return name[0], name[1] != "qa"


def _reference(
    records: AcuityRecords, votes: PanelCase | None, case: str, ambiguous: AmbiguousRule
) -> tuple[int, int, CaseStatus]:
    label = records.labels.get(case)
    if label is not None and label.how is How.EXCLUDE:
        return -1, -1, CaseStatus.EXCLUDED
    status = votes.status(ambiguous) if votes else PanelStatus.TOO_FEW
    if votes is not None and status in _OF_PANEL:
        return votes.reference_low, votes.reference_high, _OF_PANEL[status]
    if label is None or label.low is None or label.high is None:
        return -1, -1, CaseStatus.WITHOUT_REFERENCE
    if ambiguous.by is AmbiguousBy.FLAG and records.flags.get(case, False):
        return label.low, label.high, CaseStatus.AMBIGUOUS
    return label.low, label.high, CaseStatus.CLEAR if label.low == label.high else CaseStatus.BOUNDARY
