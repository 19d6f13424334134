"""The decisions behind a figure: the pairs of a report's slice, disagreements first.

Scores have one rater: of its decisions, those not met come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.counting.frame import Frame, Index
from agreement.counting.pairs import Pairs, PairStatus
from agreement.kinds import kind_of
from agreement.models import Report
from agreement.reports.votes import Ruled, Vote, votes_of
from agreement.scoreboard.case_sets import cases_of, parted, parts_of
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, Response, RubricItem
from scoring.scores.sheet import OVERALL

# The groups of pairs, in the order of the page: of two raters, and of one.
TWO_RATERS = ("differ", "agree", "left_out")
ONE_RATER = ("not_met", "met", "other")
_AGREE = (PairStatus.TP, PairStatus.TN)
_DIFFER = (
    *(PairStatus.FP, PairStatus.FN),
    *(PairStatus.INVALID_ON_MET, PairStatus.INVALID_ON_NOT_MET),
    *(PairStatus.MISSING_ON_MET, PairStatus.MISSING_ON_NOT_MET),
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The pairs of a slice in the order they are shown, and how many are in each group (`TWO_RATERS`, `ONE_RATER`).

    ``rater_b`` is empty, and ``pairs.b`` repeats ``pairs.a``, where there is one rater.
    """

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
    group: str
    votes_a: Sequence[Vote | Ruled] = ()
    votes_b: Sequence[Vote | Ruled] = ()


def behind(report: Report, slice_name: str, *, side: str = "", show: str = "") -> Evidence:
    """The current pairs of a slice; KeyError where the report or its slice has none.

    ``show`` keeps only the pairs of one group; ``side`` chooses two of the raters of a fidelity report.
    """
    read = kind_of(report).pairs
    if read is None:
        raise KeyError(report.kind)
    labels, pairs, frame, digest = read(report, side)
    response, criterion = frame.response_places(pairs.response), frame.criterion_places(pairs.criterion)
    pairs = pairs.chosen(_selection(report.benchmark, frame, slice_name, response, criterion))
    names = TWO_RATERS if labels[1] else ONE_RATER
    group = _group(pairs, names)
    counts = {name: int((group == i).sum()) for i, name in enumerate(names)}
    kept = np.flatnonzero(group == names.index(show)) if show in names else np.arange(len(pairs))
    order = kept[np.lexsort((pairs.criterion[kept], pairs.response[kept], group[kept]))]
    return Evidence(*labels, pairs.chosen(order), frame, counts, digest)


def _selection(benchmark: Benchmark, frame: Frame, name: str, response: Index, criterion: Index) -> NDArray[np.bool_]:
    """The pairs of a slice, which may be defined by a map, a language or a name (`agreement.scoreboard.case_sets`), or
    be a candidate's part of another slice: ``theme:x / candidate:NAME``; or an axis within a named slice.
    """
    part, candidate = parted(name)
    if part:
        own = frame.selection(f"candidate:{candidate}", response, criterion)
        return own & _selection(benchmark, frame, part, response, criterion)
    subset, axis = parts_of(name)
    if subset:
        inside = _selection(benchmark, frame, subset, response, criterion)
        return inside & _selection(benchmark, frame, axis, response, criterion)
    try:
        return frame.selection("all" if name == OVERALL else name, response, criterion)
    except KeyError:
        inside = np.isin(frame.case_ids, cases_of(benchmark, name))
        return np.asarray(inside[frame.response_case[response]])


def _group(pairs: Pairs, names: tuple[str, ...]) -> NDArray[np.int64]:
    """The position in ``names`` of each pair's group."""
    if names == ONE_RATER:
        return np.select([pairs.a == Outcome.NOT_MET, pairs.a == Outcome.MET], [0, 1], default=2)
    return np.select([np.isin(pairs.status, _DIFFER), np.isin(pairs.status, _AGREE)], [0, 1], default=2)


def decided(benchmark: Benchmark, evidence: Evidence, rows: Sequence[int]) -> list[Decided]:
    """The pairs at some places of the evidence, with their texts and who decided what; in a fixed number of queries."""
    if not rows:
        return []
    chosen = evidence.pairs.chosen(np.array(rows, dtype=np.int64))
    responses = (
        Response.objects.filter(pk__in=set(chosen.response.tolist()))
        .select_related("case", "candidate")
        .defer("text", "metadata", "case__conversation", "case__reference_answer", "case__metadata")
    )
    by_id = {response.pk: response for response in responses}
    items = (
        RubricItem.objects.filter(criterion__in=set(chosen.criterion.tolist()))
        .select_related("criterion")
        .order_by("rubric__version", "pk")
    )
    item_of = {item.criterion_id: item for item in items}  # the newest version wins
    names = TWO_RATERS if evidence.rater_b else ONE_RATER
    group = _group(chosen, names).tolist()
    ids = list(zip(chosen.response.tolist(), chosen.criterion.tolist(), strict=True))
    votes_a, votes_b = (votes_of(benchmark, rater, ids) for rater in (evidence.rater_a, evidence.rater_b))
    pairs = []
    for i, (response, criterion) in enumerate(ids):
        item = item_of.get(criterion)
        pairs.append(
            Decided(
                response=by_id[response],
                criterion_text=item.criterion.text if item else "",
                position=item.position if item else None,
                points=item.points if item else None,
                a=Outcome(chosen.a[i]).word,
                b=Outcome(chosen.b[i]).word,
                group=names[group[i]],
                votes_a=votes_a.get((response, criterion), ()),
                votes_b=votes_b.get((response, criterion), ()),
            )
        )
    return pairs
