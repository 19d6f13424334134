"""Tables of cost and quality: candidates with the frontier, progress over time, settings of one model, families."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.frontier.inputs import Inputs
from agreement.reports.tables import Row
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_ratio
from consilium.statistics.estimate import Figure, notes_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.paired_difference import differences
from consilium.statistics.pareto import best_before, best_until, domination, on_frontier
from rubrics.services.attribute_values import FIELDS
from scoring.scores.score_columns import CLIP

MEASURES = ("rubric_score", "rubric_accuracy", "cacs_at_k")
SCORE = ("score", "score_low", "score_high", "score_effective")
_OF_COST = ("cost", "cost_basis", "cost_currency", "n_costed", "n_estimated", "tokens_in", "tokens_out")
COLUMNS = (
    *("candidate", "kind", *FIELDS, "measure", "k", "n", "n_cases", *SCORE, *_OF_COST, "mean_length"),
    *("frontier", "dominated_by", "family_frontier", "price_frontier", "price_dominated_by", "note"),
)
PROGRESS_COLUMNS = (
    *("release_date", "candidate", "family", "measure", "n_cases", *SCORE, "best_so_far", "new_best"),
    *("family_best_so_far", "step_from", "n_shared_cases", "step", "step_low", "step_high", "step_effective", "note"),
)
FAMILY_COLUMNS = (
    *("family", "n_candidates", "first_date", "last_date", "measure", "best_candidate", "n_cases", *SCORE),
    *("cheapest_candidate", "cost", "cost_currency", "n_frontier", "note"),
)
SETTING_COLUMNS = (
    *("base_model", "effort", "candidate", "measure", "n", "n_cases", *SCORE, *_OF_COST, "mean_length", "note"),
)
DIFFERENCE_COLUMNS = (
    *("base_model", "first", "second", "effort_first", "effort_second", "measure", "n_cases"),
    *("difference", "difference_low", "difference_high", "difference_effective"),
    *("cost_first", "cost_second", "cost_ratio", "length_first", "length_second", "length_ratio", "note"),
)
TEXT_COLUMNS = (
    *("candidate", "kind", "family", "developer", "base_model", "effort", "currency", "measure", "cost_basis"),
    *("cost_currency", "dominated_by", "price_dominated_by", "note", "step_from", "best_candidate"),
    *("cheapest_candidate", "first", "second", "effort_first", "effort_second", "release_date", "price_date"),
    *("first_date", "last_date"),
)
# Settings of one model in this order where they are called so; others by name after them.
EFFORTS = ("none", "off", "minimal", "low", "medium", "high", "xhigh", "max", "on")


def candidate_rows(inputs: Inputs, measure: str, k: int) -> list[Row]:
    """`COLUMNS`, a row for each candidate, by name."""
    rows = [_candidate_row(inputs, place, measure, k) for place in inputs.order]
    _mark(rows, "cost", "cost_currency", "frontier", "dominated_by")
    _mark(rows, "price_out", "currency", "price_frontier", "price_dominated_by")
    by_family: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["family"] and row["frontier"] is not None:
            by_family[row["family"]].append(row)
    for own in by_family.values():
        marks = on_frontier([row["cost"] for row in own], [row["score"] for row in own])
        for row, mark in zip(own, marks.tolist(), strict=True):
            row["family_frontier"] = mark
    return rows


def _candidate_row(inputs: Inputs, place: int, measure: str, k: int) -> Row:
    known, cost = inputs.attributes[place], inputs.costs[place]
    row: Row = dict.fromkeys(COLUMNS)
    row |= {"candidate": inputs.names[place], "kind": inputs.kinds[place], "measure": measure, "k": k}
    row |= {name: _plain(getattr(known, name)) for name in FIELDS}
    row |= _score(inputs, place, measure)
    row |= {
        "cost": cost.value,
        "cost_basis": cost.basis,
        "cost_currency": cost.currency,
        "n_costed": cost.n,
        "n_estimated": cost.n_estimated,
        "tokens_in": cost.tokens_in,
        "tokens_out": cost.tokens_out,
        "mean_length": float(inputs.lengths[place]),
    }
    in_part = 0 < cost.n < inputs.counts[place]
    row["note"] = joined(
        row["note"],
        labelled("cost", cost.why) if cost.why else "",
        labelled("cost", Reason.TOKENS_IN_PART(n=cost.n, all=inputs.counts[place])) if in_part else "",
        "" if known.price_out is not None else labelled("price_out", Reason.NO_OUTPUT_PRICE()),
    )
    return row


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date) else value


def _score(inputs: Inputs, place: int, measure: str) -> Row:
    scores = inputs.columns.figures_by_name[measure]
    figure = scores.figures[place]
    return {
        "n": figure.n,
        "n_cases": int(scores.n_cases[place]),
        "score": figure.value,
        "score_low": figure.low,
        "score_high": figure.high,
        "score_effective": figure.effective,
        "note": labelled("score", figure.note) if figure.note else "",
    }


def _mark(rows: Sequence[Row], taken: str, currency: str, column: str, by: str) -> None:
    """Mark the rows with a score and ``taken``, and name what dominates the others: the best, the cheapest of equals.

    In several currencies nothing can be compared, and each row says so.
    """
    known = [row for row in rows if row[taken] is not None and row["score"] is not None]
    currencies = sorted({row[currency] for row in known})
    if len(currencies) > 1:
        for row in known:
            reason = Reason.SEVERAL_CURRENCIES(names=", ".join(currencies))
            row["note"] = joined(row["note"], labelled(column, reason))
        return
    costs, scores = [row[taken] for row in known], [row["score"] for row in known]
    dominated = domination(costs, scores)
    for i, row in enumerate(known):
        better = np.flatnonzero(dominated[i]).tolist()
        row[column] = not better
        if better:
            row[by] = known[min(better, key=lambda j: (-scores[j], costs[j]))]["candidate"]


def progress_rows(inputs: Inputs, measure: str, rule: IntervalRule) -> list[Row]:
    """`PROGRESS_COLUMNS` of the candidates with a release date and a score, by date and name."""
    places = [place for place in inputs.order if _is_dated(inputs, place, measure)]
    places.sort(key=lambda place: (inputs.attributes[place].release_date, inputs.names[place]))
    days, scores = _days_and_scores(inputs, places, measure)
    best, before = best_until(days, scores), best_before(days, scores)
    rows = []
    for i, place in enumerate(places):
        family = inputs.attributes[place].family
        own = np.array([j for j, other in enumerate(places) if family and inputs.attributes[other].family == family])
        row: Row = dict.fromkeys(PROGRESS_COLUMNS)
        row |= {"candidate": inputs.names[place], "family": family, "measure": measure}
        row |= {"release_date": _plain(inputs.attributes[place].release_date)}
        row |= {name: value for name, value in _score(inputs, place, measure).items() if name in row}
        row |= {"best_so_far": float(best[i]), "new_best": bool(before[i] < 0 or scores[i] > scores[before[i]])}
        why: str = Reason.NO_FAMILY()
        if len(own):
            mine = int(np.flatnonzero(own == i)[0])
            row["family_best_so_far"] = float(best_until(days[own], scores[own])[mine])
            earlier = int(best_before(days[own], scores[own])[mine])
            why = Reason.NO_EARLIER_OF_FAMILY()
            if earlier >= 0:
                former = places[int(own[earlier])]
                step, shared = paired(inputs, measure, place, former, rule)
                row |= {"step_from": inputs.names[former], "n_shared_cases": shared, **_parts("step", step)}
                why = step.note
        row["note"] = joined(row["note"], labelled("step", why) if why else "")
        rows.append(row)
    return rows


def _is_dated(inputs: Inputs, place: int, measure: str) -> bool:
    has_score = inputs.columns.figures_by_name[measure].figures[place].defined
    return has_score and inputs.attributes[place].release_date is not None


def _days_and_scores(
    inputs: Inputs, places: Sequence[int], measure: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    figures = inputs.columns.figures_by_name[measure].figures
    days = [day.toordinal() for place in places if (day := inputs.attributes[place].release_date)]
    return np.array(days, dtype=np.int64), np.array([figures[place].value for place in places], dtype=np.float64)


def _parts(name: str, figure: Figure) -> Row:
    return {
        name: figure.value,
        f"{name}_low": figure.low,
        f"{name}_high": figure.high,
        f"{name}_effective": figure.effective,
    }


def paired(inputs: Inputs, measure: str, first: int, second: int, rule: IntervalRule) -> tuple[Figure, int]:
    """The first candidate's figure less the second's on the cases with a score of both, and how many these are."""
    over_cases = inputs.columns.figures_by_name[measure].over_cases
    shared = over_cases.behind[:, first] & over_cases.behind[:, second]
    parts = [_on(inputs, measure, over_cases, place, shared) for place in (first, second)]
    n = int(shared.sum())
    return differences(*parts, n=[n], rule=rule, empty=Reason.NO_CASE_SCORED_OF_BOTH())[0], n


def _on(inputs: Inputs, measure: str, over_cases: CaseFigures, place: int, shared: NDArray[np.bool_]) -> CaseFigures:
    """A candidate's figure over some cases."""
    above, below = (np.where(shared, over_cases.sums[:, place, i], 0.0)[:, None] for i in (0, 1))
    if measure != "rubric_score":
        return case_ratio(above, below, bounds=(0.0, 100.0))
    own = (inputs.sheet.response_candidate == place) & inputs.grid.has_score[0] & shared[inputs.sheet.response_case]
    least = float(inputs.grid.least_score[0][own].mean()) if own.any() else 0.0
    return case_ratio(above, below, bounds=(least, 1.0), clip=CLIP)


def family_rows(rows: Sequence[Row]) -> list[Row]:
    """`FAMILY_COLUMNS`, from `candidate_rows`: of each family its best and its cheapest candidate."""
    by_family: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["family"]:
            by_family[row["family"]].append(row)
    by_name = []
    for family, own in sorted(by_family.items()):
        dates = sorted(row["release_date"] for row in own if row["release_date"])
        scored = [row for row in own if row["score"] is not None]
        best = max(scored, key=lambda row: row["score"], default=None)
        costed = [row for row in own if row["cost"] is not None]
        is_comparable = len({row["cost_currency"] for row in costed}) == 1
        cheapest = min(costed, key=lambda row: row["cost"]) if is_comparable else None
        family_row: Row = dict.fromkeys(FAMILY_COLUMNS)
        family_row |= {"family": family, "n_candidates": len(own), "measure": own[0]["measure"], "note": ""}
        family_row |= {"first_date": dates[0] if dates else None, "last_date": dates[-1] if dates else None}
        # Unknown where the frontier is: without costs, or in several currencies.
        marks = [each["frontier"] for each in own if each["frontier"] is not None]
        family_row["n_frontier"] = sum(map(bool, marks)) if marks else None
        if best:
            family_row |= {"best_candidate": best["candidate"], **{name: best[name] for name in ("n_cases", *SCORE)}}
        else:
            family_row["note"] = labelled("score", Reason.NO_SCORED_RESPONSE())
        if cheapest:
            family_row |= {"cheapest_candidate": cheapest["candidate"]}
            family_row |= {name: cheapest[name] for name in ("cost", "cost_currency")}
        by_name.append(family_row)
    return by_name


def setting_groups(inputs: Inputs) -> list[tuple[str, list[int]]]:
    """Base models with several candidates, each with their places in the order of their efforts."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place in inputs.order:
        if inputs.attributes[place].base_model:
            groups[inputs.attributes[place].base_model].append(place)
    return [
        (base, sorted(places, key=lambda place: effort_order(inputs.attributes[place].effort)))
        for base, places in sorted(groups.items())
        if len(places) > 1
    ]


def effort_order(effort: str) -> tuple[int, str]:
    """By what efforts are sorted."""
    plain = effort.strip().lower()
    return (EFFORTS.index(plain) if plain in EFFORTS else len(EFFORTS), plain)


def setting_rows(inputs: Inputs, rows: Sequence[Row]) -> list[Row]:
    """`SETTING_COLUMNS`, from `candidate_rows`."""
    by_name = {row["candidate"]: row for row in rows}
    return [
        {name: by_name[inputs.names[place]][name] for name in SETTING_COLUMNS}
        for _base, places in setting_groups(inputs)
        for place in places
    ]


def difference_rows(inputs: Inputs, measure: str, rule: IntervalRule) -> list[Row]:
    """`DIFFERENCE_COLUMNS`: of each two settings of a base model the second less the first, on the same cases."""
    return [
        _difference_row(inputs, measure, rule, base, first, second)
        for base, places in setting_groups(inputs)
        for i, first in enumerate(places)
        for second in places[i + 1 :]
    ]


def _difference_row(inputs: Inputs, measure: str, rule: IntervalRule, base: str, first: int, second: int) -> Row:
    figure, shared = paired(inputs, measure, second, first, rule)
    costs, lengths = (inputs.costs[first], inputs.costs[second]), inputs.lengths
    row: Row = {
        "base_model": base,
        "first": inputs.names[first],
        "second": inputs.names[second],
        "effort_first": inputs.attributes[first].effort,
        "effort_second": inputs.attributes[second].effort,
        "measure": measure,
        "n_cases": shared,
        **_parts("difference", figure),
        "cost_first": costs[0].value,
        "cost_second": costs[1].value,
        "cost_ratio": _ratio(costs[1].value, costs[0].value) if costs[0].currency == costs[1].currency else None,
        "length_first": float(lengths[first]),
        "length_second": float(lengths[second]),
        "length_ratio": _ratio(float(lengths[second]), float(lengths[first])),
        "note": notes_of({"difference": figure}),
    }
    why = costs[0].why or costs[1].why
    if not why and costs[0].currency != costs[1].currency:
        why = Reason.SEVERAL_CURRENCIES(names=", ".join(sorted({cost.currency for cost in costs})))
    if not why and row["cost_ratio"] is None:
        why = Reason.NOTHING_PAID()
    return {**row, "note": joined(row["note"], labelled("cost_ratio", why) if row["cost_ratio"] is None else "")}


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below
