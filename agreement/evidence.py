"""The decisions behind a figure: the pairs of a report's slice, those first on which the raters differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.fidelity import read_triad
from agreement.frame import Frame
from agreement.inputs import join
from agreement.models import Report
from agreement.pairs import MISSING, Pairs, Standing
from consilium.lib.ratings import Outcome
from rubrics.models import Response, RubricItem

# Which two raters of a fidelity report: the names of its three comparisons.
SIDES = ("judge_a", "judge_b", "ceiling")
WORDS: dict[int, str] = {
    Outcome.NOT_MET: "not_met",
    Outcome.MET: "met",
    Outcome.CANNOT_ASSESS: "cannot_assess",
    Outcome.INVALID: "invalid",
    Outcome.UNDECIDED: "undecided",
    Outcome.FAULTY: "faulty",
    MISSING: "missing",
}
SHOWN = ("differ", "agree", "left_out")
_AGREE = (Standing.TP, Standing.TN)
_DIFFER = (Standing.FP, Standing.FN, Standing.INVALID_ON_MET, Standing.INVALID_ON_NOT_MET)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The pairs of a slice in the order they are shown, and how many differ, agree and were left out."""

    rater_a: str
    rater_b: str
    pairs: Pairs
    frame: Frame
    counts: dict[str, int]
    digest: str

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True)
class Decided:
    """One pair as a page shows it. Outcomes are the stored words, ``undecided`` or ``missing``."""

    response: Response
    criterion_text: str
    position: int | None
    points: int | None
    a: str
    b: str
    kind: str  # one of SHOWN


def behind(report: Report, slice_name: str, *, side: str = "", show: str = "") -> Evidence:
    """The pairs of a slice as they stand now; KeyError where the report or its slice has none.

    ``show`` keeps only the pairs of one of `SHOWN`; ``side`` chooses two of the raters of a fidelity report.
    """
    parameters = report.parameters
    if report.kind == Report.Kind.AGREEMENT:
        joined = join(report.benchmark, parameters["rater_a"], parameters["rater_b"])
        pairs, frame, digest = joined.pairs, joined.frame, joined.digest
        labels = joined.rater_a.label, joined.rater_b.label
    elif report.kind == Report.Kind.FIDELITY:
        triad = read_triad(report.benchmark, **parameters)
        side = side if side in SIDES else SIDES[0]
        pairs, frame, digest = getattr(triad.sides, side), triad.frame, triad.digest
        judge, a, b = triad.labels["judge"], triad.labels["a"], triad.labels["b"]
        labels = {"judge_a": (a, judge), "judge_b": (b, judge), "ceiling": (a, b)}[side]
    else:
        raise KeyError(report.kind)
    response, criterion = frame.response_places(pairs.response), frame.criterion_places(pairs.criterion)
    pairs = pairs.chosen(frame.selection(slice_name, response, criterion))
    group = _group(pairs.standing)
    counts = {name: int((group == i).sum()) for i, name in enumerate(SHOWN)}
    kept = np.flatnonzero(group == SHOWN.index(show)) if show in SHOWN else np.arange(len(pairs))
    order = kept[np.lexsort((pairs.criterion[kept], pairs.response[kept], group[kept]))]
    return Evidence(labels[0], labels[1], pairs.chosen(order), frame, counts, digest)


def _group(standing: NDArray[np.int8]) -> NDArray[np.int64]:
    """0 where the raters differ, 1 where they agree, 2 where the pair was left out."""
    return np.select([np.isin(standing, _DIFFER), np.isin(standing, _AGREE)], [0, 1], default=2)


def decided(evidence: Evidence, rows: Sequence[int]) -> list[Decided]:
    """The pairs at some places of the evidence, with their texts: three queries, however many they are."""
    if not rows:
        return []
    chosen = evidence.pairs.chosen(np.array(rows, dtype=np.int64))
    responses = (
        Response.objects.filter(pk__in=set(chosen.response.tolist()))
        .select_related("case", "candidate")
        .defer("text", "metadata", "case__conversation", "case__reference_answer", "case__metadata")
    )
    by_id = {one.pk: one for one in responses}
    items = (
        RubricItem.objects.filter(criterion__in=set(chosen.criterion.tolist()))
        .select_related("criterion")
        .order_by("rubric__version", "pk")
    )
    item_of = {item.criterion_id: item for item in items}  # the newest version wins
    group = _group(chosen.standing).tolist()
    found = []
    for i, (response, criterion) in enumerate(zip(chosen.response.tolist(), chosen.criterion.tolist(), strict=True)):
        item = item_of.get(criterion)
        found.append(
            Decided(
                response=by_id[response],
                criterion_text=item.criterion.text if item else "",
                position=item.position if item else None,
                points=item.points if item else None,
                a=WORDS[int(chosen.a[i])],
                b=WORDS[int(chosen.b[i])],
                kind=SHOWN[group[i]],
            )
        )
    return found
