"""Attributes of pairs that may explain disagreement; each belongs to cases, responses or criteria."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.items.inputs import Items
from rubrics.models import Difficulty, Register

BANDS = 4
# The tags that a reader looks for first.
FIRST = ("axis", "level", "cluster")
UNITS = ("case", "response", "criterion")

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute of units (`UNITS`). ``values`` holds name, slice and mask over the units of each value that is
    shown; ``number`` tells the units apart: those with the same values have the same number.
    """

    name: str
    unit: str
    values: list[tuple[str, str, Mask]]
    number: Ints


def attributes(items: Items, present: dict[str, Mask]) -> Iterator[Attribute]:
    """All attributes of the benchmark; ``present`` marks the units with a pair, by which lengths are cut into bands."""
    frame = items.joined.frame
    yield from _tags(items)
    yield _single("points", "criterion", np.where(items.points > 0, "positive", "negative"), ("positive", "negative"))
    lengths = np.array([len(text) for text in items.texts], dtype=np.int64)
    yield _banded("criterion_length", "criterion", lengths, present["criterion"])
    yield _banded("response_length", "response", items.response_lengths, present["response"])
    yield _single("language", "case", items.languages, sorted(set(items.languages)))
    yield _single("register", "case", [case.register for case in frame.cases], list(Register.values))
    yield _single("difficulty", "case", [case.difficulty for case in frame.cases], list(Difficulty.values))
    names = [frame.candidates[place] for place in frame.response_candidate.tolist()]
    yield _single("candidate", "response", names, sorted(frame.candidates))


def _single(name: str, unit: str, given: Sequence[str] | NDArray[np.str_], values: Sequence[str]) -> Attribute:
    """The attribute of units with one value each; an empty value is shown nowhere."""
    labels = np.asarray(given, dtype=str)
    _distinct, number = np.unique(labels, return_inverse=True)
    shown = [(value, f"{name}:{value}", labels == value) for value in values if value]
    return Attribute(name, unit, [entry for entry in shown if entry[2].any()], number.ravel())


def _banded(name: str, unit: str, lengths: Ints, present: Mask) -> Attribute:
    """The attribute of lengths in code points, cut at the quartiles (type 7) of the units with a pair."""
    cuts = np.zeros(0)
    if present.any():
        cuts = np.unique(np.quantile(lengths[present], [i / BANDS for i in range(1, BANDS)]))
    band = np.searchsorted(cuts, lengths, side="left")
    values = []
    for place in np.unique(band[present]).tolist():
        own = lengths[present & (band == place)]
        label = f"{int(own.min())}-{int(own.max())}"
        values.append((label, f"{name}:{label}", present & (band == place)))
    return Attribute(name, unit, values, band)


def _tags(items: Items) -> Iterator[Attribute]:
    """One attribute for each kind of tag, the part before its colon. A unit may have several tags of a kind."""
    frame = items.joined.frame
    on_cases: dict[str, list[int]] = {}
    for place, case in enumerate(frame.cases):
        for tag in case.tags:
            on_cases.setdefault(tag, []).append(place)
    by_kind: dict[str, list[str]] = {}
    for tag in sorted({*on_cases, *frame.criterion_tags}):
        kind, colon, _value = tag.partition(":")
        by_kind.setdefault(kind if colon else "tag", []).append(tag)
    for kind in sorted(by_kind, key=lambda kind: (FIRST.index(kind) if kind in FIRST else len(FIRST), kind)):
        of_criteria = any(tag in frame.criterion_tags for tag in by_kind[kind])
        values = []
        for tag in by_kind[kind]:
            mask = np.zeros(len(frame.cases), dtype=bool)
            mask[on_cases.get(tag, [])] = True
            if of_criteria:
                mask = mask[frame.criterion_case]
                mask[frame.criterion_tags.get(tag, [])] = True
            values.append((tag.removeprefix(f"{kind}:"), tag, mask))
        yield Attribute(kind, "criterion" if of_criteria else "case", values, _number([mask for *_, mask in values]))


def _number(masks: list[Mask]) -> Ints:
    """The same number for units with the same set of tags."""
    number = np.zeros(len(masks[0]), dtype=np.int64)
    for mask in masks:
        _distinct, number = np.unique(number * 2 + mask, return_inverse=True)
    return np.asarray(number).ravel()
