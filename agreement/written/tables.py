"""Tables of a report on writing modes: what physicians wrote by mode, and beside the references of that mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.reports.tables import Row
from agreement.written.inputs import MEASURES, Measure, Mode, Place, Written, WrittenInputs
from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, notes_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.ratios import estimated
from consilium.statistics.reference_comparison import (
    NO_REFERENCES,
    Ratios,
    best_of_references,
    compare_with_references,
    mean_of_references,
    ratio_over_cases,
)
from rubrics.models import Response

MEAN, BEST = "mean", "best"
ENDS = ("", "_low", "_high", "_effective")
MODES_COLUMNS = (
    *("candidate", "mode", "mode_name", "references", "n_responses", "n_cases", "n_by_authors", "n_unknown", "n"),
    *(f"{name}{end}" for name in MEASURES for end in ENDS),
    *("k", "mean_length", "median_length", "note"),
)
MODES_TEXT = ("candidate", "mode", "mode_name", "references", "note")
AXES_MEASURES = ("rubric_score", "rubric_accuracy")
AXES_COLUMNS = (
    *("candidate", "mode", "mode_name", "axis", "n", "n_cases"),
    *(f"{name}{end}" for name in AXES_MEASURES for end in ENDS),
    "note",
)
AXES_TEXT = ("candidate", "mode", "mode_name", "axis", "note")
COMPARED = ("written", "shown", "difference", "better", "equal", "worse")
BESIDE_COLUMNS = (
    *("candidate", "mode", "mode_name", "beside", "against", "measure", "n_responses", "n_cases", "n_left_out"),
    *(f"{name}{end}" for name in ("written", "shown", "difference") for end in ENDS),
    *("n_better", "n_equal", "n_worse"),
    *(f"{name}{end}" for name in ("better", "equal", "worse") for end in ENDS[:3]),
    *("mean_length", "shown_mean_length", "k", "note"),
)
BESIDE_TEXT = ("candidate", "mode", "mode_name", "beside", "against", "measure", "note")
WRITTEN_COLUMNS = (
    *("candidate", "case", "setting", "sample", "mode", "mode_name", "beside", "references", "n_references", "length"),
    "shown_mean_length",
    *(f"{name}{of}" for name in MEASURES for of in ("", "_shown_mean", "_shown_best")),
)
WRITTEN_TEXT = ("candidate", "case", "setting", "mode", "mode_name", "beside", "references")


@dataclass(frozen=True, eq=False)
class ModeTables:
    """Rows of the tables by column name."""

    modes: list[Row]
    axes: list[Row]
    beside: list[Row]
    written: list[Row]


def mode_tables(inputs: WrittenInputs, *, rule: IntervalRule) -> ModeTables:
    """All tables of the report."""
    groups = inputs.modes
    shown_in = _shown_in(inputs)
    tables = ModeTables([], [], [], [])
    for (candidate, mode), responses in groups.items():
        own: Row = {"candidate": candidate, "mode": mode[0], "mode_name": mode[1]}
        counted = [response for response in responses if not response.by_author]
        tables.modes.append({**own, **_mode_row(inputs, responses, counted, rule)})
        tables.axes.extend(
            {**own, "axis": axis, **_scores(inputs, measures, counted, rule)} for axis, measures in inputs.axes.items()
        )
        # What others were shown on the same case; those who wrote beside references are compared with what they saw.
        series = [mode] if mode[0] == Response.WritingMode.AIDED else list(shown_in)
        for beside in series:
            if beside not in shown_in:
                continue  # nobody knows what was shown
            pairs = [(response, _references(inputs, response, mode, shown_in[beside])) for response in counted]
            pairs = [(response, shown) for response, shown in pairs if shown]
            row = {**own, "beside": beside[1]}
            tables.beside.extend(_beside_rows(inputs, row, pairs, rule))
            tables.written.extend({**row, **_written_row(inputs, *pair)} for pair in pairs)
    return tables


def _shown_in(inputs: WrittenInputs) -> dict[Mode, set[Place]]:
    """What was shown in each mode with references: candidates with setting and sample."""
    shown: dict[Mode, set[Place]] = {}
    for (_candidate, mode), responses in inputs.modes.items():
        if mode[0] == Response.WritingMode.AIDED:
            shown.setdefault(mode, set()).update(inputs.places[pk] for each in responses for pk in each.shown)
    return {mode: places for mode, places in sorted(shown.items()) if places}


def _references(inputs: WrittenInputs, response: Written, mode: Mode, places: set[Place]) -> tuple[int, ...]:
    """What a response is compared with: what its writer saw or, where that was nothing, what is there of ``places``.

    Nobody is compared with their own response, which may be a reference of somebody else.
    """
    if mode[0] == Response.WritingMode.AIDED:
        return response.shown
    names = sorted({place[0] for place in places})
    ids = [pk for name in names for pk in inputs.by_case.get((response.case, name), ())]
    return tuple(pk for pk in ids if inputs.places[pk] in places and pk != response.id)


def _mode_row(
    inputs: WrittenInputs, responses: Sequence[Written], counted: Sequence[Written], rule: IntervalRule
) -> Row:
    lengths = [inputs.lengths[response.id] for response in responses]
    aided = [response for response in responses if response.mode[0] == Response.WritingMode.AIDED]
    named = {inputs.places[pk][0] for response in responses for pk in response.shown}
    row: Row = {
        **dict.fromkeys(MODES_COLUMNS),
        **_scores(inputs, inputs.measures, counted, rule),
        "references": ", ".join(sorted(named)),
        "n_responses": len(responses),
        "n_cases": len({response.case for response in responses}),
        "n_by_authors": len(responses) - len(counted),
        "n_unknown": sum(not response.shown for response in aided),
        "k": inputs.k,
        "mean_length": float(np.mean(lengths)),
        "median_length": float(np.median(lengths)),
    }
    return {name: value for name, value in row.items() if name not in ("candidate", "mode", "mode_name")}


def _scores(
    inputs: WrittenInputs, measures: Mapping[str, Measure], counted: Sequence[Written], rule: IntervalRule
) -> Row:
    """Each measure of the responses, and how many of them and of their cases have a rubric score."""
    figures_by_name: dict[str, Figure] = {}
    row: Row = {"n": 0, "n_cases": 0}
    for name, measure in measures.items():
        place, case, n_cases = _scored(inputs, measure, counted)
        ratio = ratio_over_cases(measure.ratios.at(place), case, n_cases, high=measure.high, clip=measure.clip)
        figures_by_name[name] = estimated(ratio, n=[len(place)], rule=rule, empty=_empty(name, inputs.k))[0]
        if name == "rubric_score":
            row |= {"n": len(place), "n_cases": len(np.unique(case))}
    _put(row, figures_by_name, ENDS)
    row["note"] = notes_of(figures_by_name)
    return row


def _scored(
    inputs: WrittenInputs, measure: Measure, responses: Sequence[Written]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The places in the sheet of the responses that have a score, the number of the case of each, and of cases."""
    place = inputs.in_sheet(response.id for response in responses)
    scored = np.flatnonzero(place >= 0)
    scored = scored[measure.present[place[scored]]]
    numbers, case = np.unique([responses[i].case for i in scored.tolist()], return_inverse=True)
    return place[scored], case, max(1, len(numbers))


def _empty(name: str, k: int | None) -> str:
    if name == "rubric_score":
        return Reason.NO_SCORED_RESPONSE()
    return Reason.NO_POSITIVE_CRITERIA() if name == "rubric_accuracy" else Reason.TOO_FEW_POSITIVE_CRITERIA(k=k)


def _beside_rows(
    inputs: WrittenInputs, own: Row, pairs: Sequence[tuple[Written, tuple[int, ...]]], rule: IntervalRule
) -> list[Row]:
    """A row for each measure and for the mean and the best of the references."""
    rows = []
    counts = np.array([len(shown) for _response, shown in pairs], dtype=np.int64)
    owner = np.repeat(np.arange(len(pairs)), counts)
    ids = np.array([pk for _response, shown in pairs for pk in shown], dtype=np.int64)
    places = inputs.in_sheet(response.id for response, _shown in pairs), inputs.in_sheet(ids.tolist())
    cases = np.array([response.case for response, _shown in pairs], dtype=np.int64)
    lengths = np.array([inputs.lengths[response.id] for response, _shown in pairs], dtype=np.float64)
    shown_lengths = np.array([inputs.lengths[pk] for pk in ids.tolist()], dtype=np.float64)
    for name, measure in inputs.measures.items():
        has = [(place >= 0) & measure.present[np.maximum(place, 0)] if len(place) else place >= 0 for place in places]
        missing = np.bincount(owner, weights=~has[1], minlength=len(pairs))
        whole = has[0] & (missing == 0)
        kept, order = np.flatnonzero(whole), np.flatnonzero(whole[owner])
        mine = measure.ratios.at(places[0][kept])
        shown = measure.ratios.at(places[1][order])
        whose = np.searchsorted(kept, owner[order])
        numbers, case = np.unique(cases[kept], return_inverse=True)
        best = best_of_references(shown, whose)
        for against in (MEAN, BEST):
            references = shown.at(best) if against == BEST else mean_of_references(shown, whose, len(kept))
            chosen = order[best] if against == BEST else order
            row: Row = {
                **dict.fromkeys(BESIDE_COLUMNS),
                **own,
                "against": against,
                "measure": name,
                "n_responses": len(kept),
                "n_cases": len(numbers),
                "n_left_out": len(pairs) - len(kept),
                "mean_length": _mean(lengths[kept]),
                "shown_mean_length": _mean_of_means(shown_lengths[chosen], np.searchsorted(kept, owner[chosen])),
                "k": inputs.k if name == "cacs_at_k" else None,
                "note": NO_REFERENCES,
            }
            if len(kept):
                _compare(row, mine, references, case, len(numbers), measure, rule)
            row["note"] = joined(row["note"], Reason.UNSCORED_REFERENCES.counted(row["n_left_out"]))
            rows.append(row)
    return rows


def _compare(
    row: Row,
    own: Ratios,
    references: Ratios,
    case: NDArray[np.int64],
    n_cases: int,
    measure: Measure,
    rule: IntervalRule,
) -> None:
    """Put the figures of one comparison into its row."""
    compared = compare_with_references(
        own, references, case, n_cases, rule=rule, high=measure.high, clip=measure.clip
    )  # fmt: skip
    figures = compared.own, compared.references, compared.difference, compared.better, compared.equal, compared.worse
    figures_by_name: dict[str, Figure] = dict(zip(COMPARED, figures, strict=True))
    for name, figure in figures_by_name.items():
        _put(row, {name: figure}, ENDS[:3] if name in ("better", "equal", "worse") else ENDS)
    row |= {"n_better": compared.n_better, "n_equal": compared.n_equal, "n_worse": compared.n_worse}
    row["note"] = notes_of(figures_by_name)


def _put(row: Row, figures_by_name: dict[str, Figure], ends: Sequence[str]) -> None:
    for name, figure in figures_by_name.items():
        values = dict(zip(ENDS, (figure.value, figure.low, figure.high, figure.effective), strict=True))
        row |= {f"{name}{end}": values[end] for end in ends}


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None


def _mean_of_means(values: NDArray[np.float64], owner: NDArray[np.int64]) -> float | None:
    """The mean over responses of the mean over their references."""
    if not len(values):
        return None
    return float((np.bincount(owner, weights=values) / np.bincount(owner)).mean())


def _written_row(inputs: WrittenInputs, response: Written, shown: tuple[int, ...]) -> Row:
    """A response beside its references, in the figures of each."""
    row: Row = {
        **dict.fromkeys(WRITTEN_COLUMNS),
        "case": response.key,
        "setting": response.setting,
        "sample": response.sample,
        "references": ", ".join(sorted({inputs.places[pk][0] for pk in shown})),
        "n_references": len(shown),
        "length": inputs.lengths[response.id],
        "shown_mean_length": float(np.mean([inputs.lengths[pk] for pk in shown])),
    }
    place = inputs.in_sheet([response.id, *shown])
    for name, measure in inputs.measures.items():
        has = (place >= 0) & (measure.present[place] if len(measure.present) else False)
        values = measure.ratios.values[place] if len(measure.present) else place
        row[name] = float(values[0]) if has[0] else None
        if has[1:].all():
            row |= {f"{name}_shown_mean": float(values[1:].mean()), f"{name}_shown_best": float(values[1:].max())}
    return {name: value for name, value in row.items() if name not in ("candidate", "mode", "mode_name", "beside")}
