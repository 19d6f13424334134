"""Scores, hits and counts of each response in each slice, as arrays of shape (slices, responses)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoring.scores.points import CountingRules, ResponseScores, score_responses, score_slices
from scoring.scores.sheet import Array, Sheet, Slice

# Slices of criteria are scored in blocks; a cell takes some 100 bytes meanwhile.
BLOCK_CELLS = 250_000


@dataclass(frozen=True, eq=False)
class Grid:
    """Arrays of shape (slices, responses); ``inside`` marks the responses that a slice holds."""

    inside: Array
    has_score: Array
    score: Array
    least_score: Array
    has_hits: Array
    hits: Array
    n_positive: Array
    n_invalid: Array
    n_missing: Array
    n_cannot: Array
    n_undecided: Array
    n_faulty: Array
    n_criteria: Array


def grid_of(sheet: Sheet, slices: Sequence[Slice], rules: CountingRules) -> Grid:
    """The scores and counts of every response in every slice."""
    n_responses = len(sheet.response_ids)
    whole = score_responses(sheet.response, sheet.points, sheet.answer, n_responses, rules, sheet.share)
    n_open = np.bincount(sheet.response[sheet.open], minlength=n_responses)
    arrays: dict[str, Array] = {
        name: np.zeros((len(slices), n_responses), dtype=kind)
        for name, kind in (
            *(("inside", bool), ("has_score", bool), ("score", np.float64), ("has_hits", bool), ("hits", np.int32)),
            # Counts of criteria of one response; half as wide as usual, because of all arrays these are the most.
            *(("n_positive", np.int32), ("n_invalid", np.int32), ("n_missing", np.int32), ("n_cannot", np.int32)),
            *(("n_undecided", np.int32), ("n_faulty", np.int32), ("n_criteria", np.int32)),
            ("least_score", np.float64),
        )
    }

    def put(where: Any, scores: ResponseScores, inside: Array, open_: Array, shape: tuple[int, ...]) -> None:
        arrays["inside"][where] = inside
        for name in (
            *("has_score", "score", "least_score", "has_hits", "hits", "n_positive", "n_invalid"),
            *("n_undecided", "n_faulty", "n_criteria"),
        ):
            arrays[name][where] = getattr(scores, name).reshape(shape)
        arrays["n_missing"][where] = scores.n_missing.reshape(shape) + open_
        arrays["n_cannot"][where] = scores.n_cannot.reshape(shape) - open_

    for place, part in enumerate(slices):
        if part.criteria is None:
            inside = np.ones(n_responses, dtype=bool) if part.cases is None else part.cases[sheet.response_case]
            put(place, whole, inside, n_open, (n_responses,))
    for tagged, members in _blocks(sheet, slices):
        row = np.concatenate(members)
        which = np.repeat(np.arange(len(tagged)), [len(member) for member in members])
        scores = score_slices(
            row, which, len(tagged), sheet.response, sheet.points, sheet.answer, n_responses, rules, sheet.share
        )
        shape = (len(tagged), n_responses)
        flat = which * n_responses + sheet.response[row]
        size = len(tagged) * n_responses
        held = np.bincount(flat, minlength=size).reshape(shape) > 0
        open_ = np.bincount(flat[sheet.open[row]], minlength=size).reshape(shape)
        put(tagged, scores, held, open_, shape)
    return Grid(**arrays)


def _blocks(sheet: Sheet, slices: Sequence[Slice]) -> Iterator[tuple[list[int], list[Array]]]:
    """The slices of criteria by their places, with the rows of each, in blocks of about `BLOCK_CELLS` rows."""
    places: list[int] = []
    members: list[Array] = []
    cells = 0
    for place, part in enumerate(slices):
        if part.criteria is None:
            continue
        held = part.criteria[sheet.criterion]
        if part.cases is not None:
            held = held & part.cases[sheet.response_case[sheet.response]]
        own = np.flatnonzero(held)
        size = len(own) + len(sheet.response_ids)
        if places and cells + size > BLOCK_CELLS:
            yield places, members
            places, members, cells = [], [], 0
        places.append(place)
        members.append(own)
        cells += size
    if places:
        yield places, members
