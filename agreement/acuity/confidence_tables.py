"""How well a candidate's confidence tells its right readings from its wrong ones.

*stated*: the confidence that was given with a reading; each usable reading of a clear case is an answer. *samples*: the
share of the mode among the usable readings of a case; each clear case with two of them is an answer, that of its mode.
*logprobs*: the probability of the level that was read, by the log probabilities that came with it, as *stated*.
A candidate without any confidence has a row that says so: it is never taken as 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.readings import AcuityData
from agreement.acuity.tables import Aggregate, level_counts, weighed
from consilium.core.phrases import each_once
from consilium.core.reasons import Reason
from consilium.statistics.auroc import auroc
from consilium.statistics.equal_mass_calibration import equal_mass_bins, equal_mass_error
from consilium.statistics.estimate import Figure, Undefined
from consilium.statistics.probabilities import bin_of, brier_score, expected_calibration_error
from consilium.statistics.wilson import wilson_interval

Row = dict[str, Any]

MINIMUM_ANSWERS = 50
MINIMUM_READINGS = 2
CONFIDENCE_COLUMNS = (
    *("candidate", "format", "confidence_source", "n", "accuracy", "mean_confidence", "ece_mass", "ece_width"),
    *("brier", "auroc", "note"),
)
RELIABILITY_COLUMNS = (
    *("candidate", "format", "confidence_source", "bins", "bin", "n", "mean_confidence", "accuracy", "low", "high"),
)
TEXT_COLUMNS = ("candidate", "format", "confidence_source", "bins", "note")


def confidence_rows(data: AcuityData) -> tuple[list[Row], list[Row]]:
    """Rows of ``confidence.csv`` and of ``reliability.csv``."""
    summaries: list[Row] = []
    bins: list[Row] = []
    for i, (candidate, format_) in enumerate(data.series_names):
        sources = [(name, *answers) for name, answers in _sources(data, i) if len(answers[0])]
        name = {"candidate": candidate, "format": format_}
        if not sources:
            summaries.append({**name, "confidence_source": "", "n": 0, "note": Reason.NO_CONFIDENCE()})
        for source, right, confidence in sources:
            own = {**name, "confidence_source": source}
            summaries.append({**own, **_summary(right, confidence)})
            bins += [{**own, **row} for row in _bins(right, confidence)]
    return summaries, bins


Answers = tuple[NDArray[np.bool_], NDArray[np.float64]]


def _sources(data: AcuityData, series: int) -> Iterator[tuple[str, Answers]]:
    """Whether each answer is right, and its confidence, by the source of the confidence."""
    clear = data.is_clear
    readings = data.readings.of_series(series)
    for source, values in (("stated", readings.confidence), ("logprobs", readings.share)):
        if values is None:
            continue
        own = readings.usable & clear[readings.case] & ~np.isnan(values)
        yield source, (readings.place[own] == data.low[readings.case[own]], values[own])
    counts = level_counts(data)[:, series]
    several = clear & (counts.sum(axis=1) >= MINIMUM_READINGS)
    modes = weighed(counts[:, None], Aggregate.MODE)[:, 0].argmax(axis=-1)
    shares = counts.max(axis=1) / np.maximum(counts.sum(axis=1), 1)
    yield "samples", ((modes == data.low)[several], shares[several])


def _summary(right: NDArray[np.bool_], confidence: NDArray[np.float64]) -> Row:
    n = len(right)
    figures: dict[str, Figure] = {
        "ece_mass": equal_mass_error(right, confidence),
        "ece_width": expected_calibration_error(right, confidence),
        "brier": brier_score(right, confidence),
        "auroc": auroc(right, confidence),
    }
    why = ""
    if n < MINIMUM_ANSWERS:
        why = Reason.CONFIDENCE_ANSWERS(n=n, needed=MINIMUM_ANSWERS)
    elif (confidence == confidence[0]).all():
        why = Reason.CONSTANT_CONFIDENCE()
    if why:
        figures = dict.fromkeys(figures, Undefined(why, n))
    return {
        "n": n,
        "accuracy": float(right.mean()),
        "mean_confidence": float(confidence.mean()),
        **{name: figure.value for name, figure in figures.items()},
        "note": each_once((name, figure.note) for name, figure in figures.items()),
    }


def _bins(right: NDArray[np.bool_], confidence: NDArray[np.float64]) -> Iterator[Row]:
    """Bins of equal mass, then of equal width; Wilson's interval takes answers for independent."""
    for name, place in (("mass", equal_mass_bins(confidence)), ("width", bin_of(confidence))):
        for number in np.unique(place).tolist():
            here = place == number
            hits, n = int(right[here].sum()), int(here.sum())
            low, high = wilson_interval(hits, n)
            yield {
                "bins": name,
                "bin": number,
                "n": n,
                "mean_confidence": float(confidence[here].mean()),
                "accuracy": hits / n,
                "low": low,
                "high": high,
            }
