"""Where physicians disagree: the spread of a candidate's readings beside that of their votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.case_slices import DATASET
from agreement.acuity.readings import AcuityData
from agreement.acuity.tables import ALL, LOGPROBS, SAMPLES, STATED, Aggregate, case_confidences, weighed
from annotation.acuity.panel import AmbiguousRule, PanelCase, PanelStatus, panel_agreement
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.distribution_distance import earth_movers, jensen_shannon, total_variation
from consilium.statistics.estimate import Undefined
from consilium.statistics.panel_ceiling import half_distances, left_out_score, matched_distances
from consilium.statistics.panel_votes import uncertainty
from consilium.statistics.ranked_probability import (
    corrected_cumulative_error,
    cumulative_error,
    ranked_probability,
)
from consilium.statistics.triage_cost import answer_costs
from consilium.statistics.vote_substitution import substitution

Row = dict[str, Any]
Array = NDArray[np.float64]

MINIMUM_VOTES, MINIMUM_READINGS = 3, 2
DISTANCES = {"tvd": total_variation, "w1": earth_movers, "jsd": jensen_shannon}
FIGURES = (
    *("tvd", "w1", "jsd", "rps", "cdf2", "cdf2_corrected", "p_mode", "entropy", "entropy_panel", "uncertainty_error"),
    *("cost", "cost_best", "regret"),
)
CEILINGS = ("ceiling_tvd", "ceiling_w1", "ceiling_jsd", "ceiling_rps", "matched_tvd", "matched_w1", "matched_jsd")
HALVES = tuple(name for name in CEILINGS if name != "ceiling_rps")
MATCHED = tuple(name for name in HALVES if name.startswith("matched_"))
SUBSTITUTION = ("substitution_share", "substitution_shift")
STATED_ERROR = "uncertainty_error_stated"
UNCERTAINTY_COLUMNS = (
    *("candidate", "format", "set", "n_cases", *FIGURES, *CEILINGS, *SUBSTITUTION, "note"),
    *("source", STATED_ERROR),
)
CASE_COLUMNS = (
    *("candidate", "format", "case", "panel_status", "m", "n_usable"),
    *FIGURES,
    *CEILINGS,
    *SUBSTITUTION,
    *("source", STATED_ERROR),
)
SPREAD_COLUMNS = ("candidate", "format", "case", "level", "q", "f", "source")
PANEL_COLUMNS = (
    *("set", "n_cases", "n_votes", "n_cannot_tell", "n_boundary_votes", "n_clear", "n_boundary", "n_ambiguous"),
    *("alpha_ordinal_single", "alpha_set", "note"),
)
# First all panel cases, then those of each dataset, and those of no dataset with an empty name.
DATASET_COLUMNS = ("dataset", *PANEL_COLUMNS[1:])
TEXT_COLUMNS = (
    "candidate",
    "format",
    "set",
    "case",
    "level",
    "panel_status",
    "low",
    "high",
    "note",
    "source",
    "dataset",
)


@dataclass(frozen=True)
class UncertaintyTables:
    """Rows of ``uncertainty.csv``, ``uncertainty_cases.csv``, ``panel.csv``, ``panel_datasets.csv`` and
    ``panel_cases.csv``.
    """

    uncertainty: list[Row]
    cases: list[Row]
    panel: list[Row]
    panel_datasets: list[Row]
    panel_cases: list[Row]


def panel_case_columns(data: AcuityData) -> tuple[str, ...]:
    """The columns of ``panel_cases.csv``, with one for each level of the scale."""
    shares = (f"q_{level}" for level in data.scale.values)
    return ("case", "m", "low", "high", "panel_status", "dispersion", "entropy", *shares)


def uncertainty_tables(
    data: AcuityData, ambiguous: AmbiguousRule, *, ratio: float, seed: int = 0, minimum: int = MINIMUM_VOTES
) -> UncertaintyTables:
    """All tables.

    ``ratio`` is the cost of a level too low over that of a level too high; ``seed`` is that of pairs that are drawn
    where there are too many. A panel takes ``minimum`` votes.
    """
    status = {case: votes.status(ambiguous, minimum) for case, votes in data.panel.items()}
    cases = list(_case_rows(data, status, ratio=ratio, seed=seed))
    return UncertaintyTables(
        uncertainty=list(_summaries(data, cases)),
        cases=cases,
        panel=[{"set": "panel", **_panel_row(data.panel, data.n_levels, status)}],
        panel_datasets=list(_dataset_rows(data, status)),
        panel_cases=[_panel_case_row(data, votes, status[case]) for case, votes in data.panel.items()],
    )


@dataclass(frozen=True, eq=False)
class _Distribution:
    """A candidate's distribution ``f`` (levels,) on a case, and the level that stands for it.

    ``n`` is the number of usable readings behind it. ``readings`` are their levels (n,) where f is their shares; one by
    log probabilities has none.
    """

    source: str
    f: Array
    mode: int
    n: int
    confidence: float
    readings: NDArray[np.int64] | None = None


def _case_rows(data: AcuityData, status: dict[str, PanelStatus], *, ratio: float, seed: int) -> Iterator[Row]:
    """A row for each series, source and panel case with three votes and a distribution of the series."""
    compared = (PanelStatus.CLEAR, PanelStatus.BOUNDARY, PanelStatus.AMBIGUOUS)
    panel = {case: votes for case, votes in data.panel.items() if votes.m >= MINIMUM_VOTES and status[case] in compared}
    ceilings = {case: _ceilings(votes, data.n_levels, seed) for case, votes in panel.items()}
    number_of = {case: number for number, case in enumerate(data.cases)}
    for i, (candidate, format_) in enumerate(data.series_names):
        confidences = case_confidences(data, i)
        for distributions in (_of_readings(data, i), _of_logprobs(data, i, confidences)):
            for case, votes in panel.items():
                own = distributions(case, number_of[case])
                if own is None:
                    continue
                stated = abs(1 - float(confidences[STATED][number_of[case]]) - votes.entropy)
                yield {
                    "candidate": candidate,
                    "format": format_,
                    "case": case,
                    "panel_status": str(status[case]),
                    "m": votes.m,
                    "n_usable": own.n,
                    **_figures(votes, own, ceilings[case], ratio=ratio, seed=seed),
                    "source": own.source,
                    STATED_ERROR: None if isnan(stated) else stated,
                }


Distributions = Callable[[str, int], _Distribution | None]


def _of_readings(data: AcuityData, series: int) -> Distributions:
    """The shares of the levels among the usable readings of a case, where there are two or more."""
    counts = data.level_counts[:, series]
    modes = weighed(counts[:, None].astype(np.float64), Aggregate.MODE)[:, 0].argmax(axis=-1)

    def distribution(_case: str, number: int) -> _Distribution | None:
        own = counts[number]
        n = int(own.sum())
        if n < MINIMUM_READINGS:
            return None
        f, mode = own / n, int(modes[number])
        return _Distribution(SAMPLES, f, mode, n, float(f[mode]), np.repeat(np.arange(len(own)), own))

    return distribution


def _of_logprobs(data: AcuityData, series: int, confidences: Mapping[str, Array]) -> Distributions:
    """The mean distribution by log probabilities, where a reading of the case came with one."""

    def distribution(case: str, number: int) -> _Distribution | None:
        own = data.distributions.get((case, series))
        if own is None:
            return None
        # Of levels as probable the more urgent one, as of levels as frequent.
        mode = len(own.f) - 1 - int(np.argmax(own.f[::-1]))
        return _Distribution(LOGPROBS, own.f, mode, own.n, float(confidences[LOGPROBS][number]))

    return distribution


def spread_rows(data: AcuityData, cases: list[Row]) -> Iterator[Row]:
    """The distributions behind the rows of cases: of the panel, ``q``, and of the candidate, ``f``, by level."""
    counts = data.level_counts
    number_of = {case: number for number, case in enumerate(data.cases)}
    series_of = {name: number for number, name in enumerate(data.series_names)}
    for row in cases:
        case, series = row["case"], series_of[row["candidate"], row["format"]]
        own = counts[number_of[case], series]
        of_row = own / own.sum() if row["source"] == SAMPLES else data.distributions[case, series].f
        shares = zip(data.scale.values, data.panel[case].q.tolist(), of_row.tolist(), strict=True)
        for level, q, f in shares:
            names = {name: row[name] for name in ("candidate", "format", "case")}
            yield {**names, "level": level, "q": q, "f": f, "source": row["source"]}


def _ceilings(votes: PanelCase, n_levels: int, seed: int) -> dict[str, float]:
    halves = half_distances(votes.low, votes.high, n_levels, DISTANCES, seed=seed)
    return {
        **{f"ceiling_{name}": value for name, value in halves.items()},
        "ceiling_rps": left_out_score(votes.low, votes.high, n_levels),
    }


def _figures(votes: PanelCase, own: _Distribution, ceilings: Row, *, ratio: float, seed: int) -> Row:
    f, q, mode, n_levels = own.f, votes.q, own.mode, len(own.f)
    costs = answer_costs(q, ratio)
    cost, best = float(f @ costs), float(costs.min())
    corrected, matched = nan, dict.fromkeys(DISTANCES, nan)
    if own.readings is not None:
        corrected = corrected_cumulative_error(own.readings, votes.low, votes.high, n_levels)
        matched = matched_distances(own.readings, votes.low, votes.high, n_levels, DISTANCES, seed=seed)
    share, shift = substitution(votes.low, votes.high, mode)
    values = {
        **{name: float(distance(f, q)) for name, distance in DISTANCES.items()},
        "rps": ranked_probability(f, votes.low, votes.high),
        "cdf2": float(cumulative_error(f, q)),
        "cdf2_corrected": corrected,
        "p_mode": float(q[mode]),
        "entropy": uncertainty(f),
        "entropy_panel": votes.entropy,
        "uncertainty_error": abs(1 - own.confidence - votes.entropy),
        "cost": cost,
        "cost_best": best,
        "regret": cost - best,
        **ceilings,
        **{f"matched_{name}": value for name, value in matched.items()},
        "substitution_share": share,
        "substitution_shift": shift,
    }
    return {name: None if isnan(value) else value for name, value in values.items()}


def _summaries(data: AcuityData, cases: list[Row]) -> Iterator[Row]:
    """Means over the ambiguous cases, and over all panel cases; by log probabilities only of a series that has any."""
    for i, (candidate, format_) in enumerate(data.series_names):
        for source in (SAMPLES, LOGPROBS):
            if source == LOGPROBS and not any(series == i for _case, series in data.distributions):
                continue
            name = (candidate, format_, source)
            own = [row for row in cases if (row["candidate"], row["format"], row["source"]) == name]
            ambiguous = [row for row in own if row["panel_status"] == PanelStatus.AMBIGUOUS]
            yield _summary(name, "ambiguous", ambiguous, (*FIGURES, *CEILINGS))
            yield _summary(name, "panel", own, (*FIGURES, *CEILINGS, *SUBSTITUTION))


def _summary(name: tuple[str, str, str], of: str, chosen: list[Row], figures: Sequence[str]) -> Row:
    candidate, format_, source = name
    means = {figure: _mean([row[figure] for row in chosen]) for figure in (*figures, STATED_ERROR)}
    if source == SAMPLES:
        # Halves of the panel and of readings are compared, so that both are over the cases that have both.
        matched = [row for row in chosen if row["matched_tvd"] is not None]
        means |= {figure: _mean([row[figure] for row in matched]) for figure in HALVES}
        few = 0 < len(matched) < len(chosen)
        below = (means["cdf2_corrected"] or 0) < 0
        notes = [
            "" if chosen else Reason.NO_PANEL_CASE(),
            labelled(", ".join(HALVES), Reason.CASES_WITH_HALVES(n=len(matched))) if few else "",
            labelled("cdf2_corrected", Reason.LIKE_THE_PANEL()) if below else "",
        ]
    elif chosen:
        notes = [labelled(", ".join(("cdf2_corrected", *MATCHED)), Reason.LOGPROBS_HAVE_NO_SIZE())]
    else:
        notes = [Reason.NO_CASE_WITH_LOGPROBS()]
    return {
        "candidate": candidate,
        "format": format_,
        "set": of,
        "n_cases": len(chosen),
        **means,
        "note": joined(*notes),
        "source": source,
    }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _dataset_rows(data: AcuityData, status: Mapping[str, PanelStatus]) -> Iterator[Row]:
    yield {"dataset": ALL, **_panel_row(data.panel, data.n_levels, status)}
    rest = dict(data.panel)
    for name, mask in data.slices.items():
        if name.startswith(DATASET):
            cases = [data.cases[number] for number in np.flatnonzero(mask).tolist()]
            own = {case: data.panel[case] for case in cases}
            yield {"dataset": name.removeprefix(DATASET), **_panel_row(own, data.n_levels, status)}
            rest = {case: votes for case, votes in rest.items() if case not in own}
    if rest and len(rest) < len(data.panel):
        yield {"dataset": "", **_panel_row(rest, data.n_levels, status)}


def _panel_row(panel: Mapping[str, PanelCase], n_levels: int, status: Mapping[str, PanelStatus]) -> Row:
    agreement = panel_agreement(panel.values(), n_levels)
    reasons = {"alpha_ordinal_single": agreement.single, "alpha_set": agreement.sets}
    held = [status[case] for case in panel]
    return {
        "n_cases": len(panel),
        "n_votes": agreement.n_votes,
        "n_cannot_tell": sum(case.n_cannot_tell for case in panel.values()),
        "n_boundary_votes": agreement.n_boundary_votes,
        "n_clear": held.count(PanelStatus.CLEAR),
        "n_boundary": held.count(PanelStatus.BOUNDARY),
        "n_ambiguous": held.count(PanelStatus.AMBIGUOUS),
        "alpha_ordinal_single": agreement.single.value,
        "alpha_set": agreement.sets.value,
        "note": joined(
            *(labelled(name, figure.reason) for name, figure in reasons.items() if isinstance(figure, Undefined))
        ),
    }


def _panel_case_row(data: AcuityData, votes: PanelCase, status: PanelStatus) -> Row:
    known = votes.m > 0
    return {
        "case": votes.case,
        "m": votes.m,
        "low": data.scale.values[votes.reference_low] if known else "",
        "high": data.scale.values[votes.reference_high] if known else "",
        "panel_status": str(status),
        "dispersion": None if isnan(votes.dispersion) else votes.dispersion,
        "entropy": votes.entropy if known else None,
        **{f"q_{level}": float(q) if known else None for level, q in zip(data.scale.values, votes.q, strict=True)},
    }
