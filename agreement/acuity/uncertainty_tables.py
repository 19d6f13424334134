"""Where physicians disagree: the spread of a candidate's readings beside that of their votes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.readings import AcuityData
from agreement.acuity.tables import Aggregate, level_counts, weighed
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

MINIMUM_VOTES, MINIMUM_READINGS = 3, 2
DISTANCES = {"tvd": total_variation, "w1": earth_movers, "jsd": jensen_shannon}
FIGURES = (
    *("tvd", "w1", "jsd", "rps", "cdf2", "cdf2_corrected", "p_mode", "entropy", "entropy_panel", "uncertainty_error"),
    *("cost", "cost_best", "regret"),
)
CEILINGS = ("ceiling_tvd", "ceiling_w1", "ceiling_jsd", "ceiling_rps", "matched_tvd", "matched_w1", "matched_jsd")
HALVES = tuple(name for name in CEILINGS if name != "ceiling_rps")
SUBSTITUTION = ("substitution_share", "substitution_shift")
UNCERTAINTY_COLUMNS = ("candidate", "format", "set", "n_cases", *FIGURES, *CEILINGS, *SUBSTITUTION, "note")
CASE_COLUMNS = (
    *("candidate", "format", "case", "panel_status", "m", "n_usable"),
    *FIGURES,
    *CEILINGS,
    *SUBSTITUTION,
)
SPREAD_COLUMNS = ("candidate", "format", "case", "level", "q", "f")
PANEL_COLUMNS = (
    *("set", "n_cases", "n_votes", "n_cannot_tell", "n_boundary_votes", "n_clear", "n_boundary", "n_ambiguous"),
    *("alpha_ordinal_single", "alpha_set", "note"),
)
TEXT_COLUMNS = ("candidate", "format", "set", "case", "level", "panel_status", "low", "high", "note")


@dataclass(frozen=True)
class UncertaintyTables:
    """Rows of ``uncertainty.csv``, ``uncertainty_cases.csv``, ``panel.csv`` and ``panel_cases.csv``."""

    uncertainty: list[Row]
    cases: list[Row]
    panel: list[Row]
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
        panel=[_panel_row(data, status)],
        panel_cases=[_panel_case_row(data, votes, status[case]) for case, votes in data.panel.items()],
    )


def _case_rows(data: AcuityData, status: dict[str, PanelStatus], *, ratio: float, seed: int) -> Iterator[Row]:
    """A row for each panel case and series with three votes and two usable readings or more."""
    counts = level_counts(data).astype(np.int64)
    modes = weighed(counts.astype(np.float64), Aggregate.MODE).argmax(axis=-1)
    number_of = {case: number for number, case in enumerate(data.cases)}
    for i, (candidate, format_) in enumerate(data.series_names):
        for case, votes in data.panel.items():
            own = counts[number_of[case], i]
            if votes.m < MINIMUM_VOTES or own.sum() < MINIMUM_READINGS:
                continue
            if status[case] not in (PanelStatus.CLEAR, PanelStatus.BOUNDARY, PanelStatus.AMBIGUOUS):
                continue
            yield {
                "candidate": candidate,
                "format": format_,
                "case": case,
                "panel_status": str(status[case]),
                "m": votes.m,
                "n_usable": int(own.sum()),
                **_figures(votes, own, int(modes[number_of[case], i]), ratio=ratio, seed=seed),
            }


def spread_rows(data: AcuityData, cases: list[Row]) -> Iterator[Row]:
    """The distributions behind the rows of cases: of the panel, ``q``, and of the usable readings, ``f``, by level."""
    counts = level_counts(data)
    number_of = {case: number for number, case in enumerate(data.cases)}
    series_of = {name: number for number, name in enumerate(data.series_names)}
    for row in cases:
        own = counts[number_of[row["case"]], series_of[row["candidate"], row["format"]]]
        shares = zip(data.scale.values, data.panel[row["case"]].q.tolist(), (own / own.sum()).tolist(), strict=True)
        for level, q, f in shares:
            yield {**{name: row[name] for name in ("candidate", "format", "case")}, "level": level, "q": q, "f": f}


def _figures(votes: PanelCase, counts: NDArray[np.int64], mode: int, *, ratio: float, seed: int) -> Row:
    n_levels = len(counts)
    readings = np.repeat(np.arange(n_levels), counts)
    f, q = counts / counts.sum(), votes.q
    costs = answer_costs(q, ratio)
    cost, best = float(f @ costs), float(costs.min())
    halves = half_distances(votes.low, votes.high, n_levels, DISTANCES, seed=seed)
    matched = matched_distances(readings, votes.low, votes.high, n_levels, DISTANCES, seed=seed)
    share, shift = substitution(votes.low, votes.high, mode)
    values = {
        **{name: float(distance(f, q)) for name, distance in DISTANCES.items()},
        "rps": ranked_probability(f, votes.low, votes.high),
        "cdf2": float(cumulative_error(f, q)),
        "cdf2_corrected": corrected_cumulative_error(readings, votes.low, votes.high, n_levels),
        "p_mode": float(q[mode]),
        "entropy": uncertainty(f),
        "entropy_panel": votes.entropy,
        # The confidence is the share of the mode among the samples.
        "uncertainty_error": abs(1 - float(f[mode]) - votes.entropy),
        "cost": cost,
        "cost_best": best,
        "regret": cost - best,
        **{f"ceiling_{name}": value for name, value in halves.items()},
        "ceiling_rps": left_out_score(votes.low, votes.high, n_levels),
        **{f"matched_{name}": value for name, value in matched.items()},
        "substitution_share": share,
        "substitution_shift": shift,
    }
    return {name: None if isnan(value) else value for name, value in values.items()}


def _summaries(data: AcuityData, cases: list[Row]) -> Iterator[Row]:
    """Means over the ambiguous cases, and over all panel cases."""
    for candidate, format_ in data.series_names:
        own = [row for row in cases if (row["candidate"], row["format"]) == (candidate, format_)]
        for name, chosen in (
            ("ambiguous", [row for row in own if row["panel_status"] == PanelStatus.AMBIGUOUS]),
            ("panel", own),
        ):
            figures = FIGURES + CEILINGS + (SUBSTITUTION if name == "panel" else ())
            # Halves of the panel and of readings are compared, so that both are over the cases that have both.
            matched = [row for row in chosen if row["matched_tvd"] is not None]
            means = {figure: _mean([row[figure] for row in chosen]) for figure in figures}
            means |= {figure: _mean([row[figure] for row in matched]) for figure in HALVES}
            few = 0 < len(matched) < len(chosen)
            below = (means["cdf2_corrected"] or 0) < 0
            yield {
                "candidate": candidate,
                "format": format_,
                "set": name,
                "n_cases": len(chosen),
                **means,
                "note": joined(
                    "" if chosen else Reason.NO_PANEL_CASE(),
                    labelled(", ".join(HALVES), Reason.CASES_WITH_HALVES(n=len(matched))) if few else "",
                    labelled("cdf2_corrected", Reason.LIKE_THE_PANEL()) if below else "",
                ),
            }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _panel_row(data: AcuityData, status: dict[str, PanelStatus]) -> Row:
    agreement = panel_agreement(data.panel.values(), data.n_levels)
    reasons = {"alpha_ordinal_single": agreement.single, "alpha_set": agreement.sets}
    held = list(status.values())
    return {
        "set": "panel",
        "n_cases": len(data.panel),
        "n_votes": agreement.n_votes,
        "n_cannot_tell": sum(case.n_cannot_tell for case in data.panel.values()),
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
