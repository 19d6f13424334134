"""The figures of every candidate in every slice, with intervals, from the scores of each response."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.phrases import each_once, joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import CaseBootstrap, standard_deviations
from consilium.statistics.cacs import cacs_values
from consilium.statistics.case_figures import CaseFigures, case_ratio, sums_by_case
from consilium.statistics.estimate import Figure
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.ratios import estimated
from scoring.scores.grid import Grid
from scoring.scores.sheet import Array, Row, Sheet

FIGURES = ("rubric_score", "rubric_accuracy", "pass_at_k", "cacs_at_k")
CLIP = (0.0, 1.0)
MEAN_OF_REPLICATES = Reason.MEAN_OF_REPLICATES()
# The reason for undecided pairs, by the kind of rater that left them undecided.
_UNDECIDED = {
    "judge": Reason.UNDECIDED_BY_JUDGE,
    "jury": Reason.UNDECIDED_BY_JURY,
    "group": Reason.UNDECIDED_BY_GROUP,
}
_COUNTS = ("n_invalid", "n_missing", "n_cannot", "n_faulty", "n_undecided", "n_criteria")


@dataclass(frozen=True, eq=False)
class ScoreFigures:
    """One figure of every column, and its sums over cases, from which differences and ranks are made."""

    figures: list[Figure]
    over_cases: CaseFigures

    @classmethod
    def of(cls, over_cases: CaseFigures, rule: IntervalRule | None, empty: str) -> ScoreFigures:
        """With the denominators as n; undefined, by ``empty``, where that is 0."""
        n = np.rint(over_cases.sums[..., 1].sum(axis=0)).astype(np.int64)
        return cls(estimated(over_cases, n=n, rule=rule, empty=empty), over_cases)

    @property
    def n_cases(self) -> NDArray[np.int64]:
        """How many cases stand behind each column."""
        return self.over_cases.behind.sum(axis=0)


class Columns:
    """The figures of all slices and candidates; a column is slice · candidates + candidate.

    Without a ``rule`` there are no intervals. ``seed`` is that of the deviations of the rubric score over resamples,
    which are HealthBench's `bootstrap_std` whatever the rule.
    """

    def __init__(
        self,
        sheet: Sheet,
        grid: Grid,
        k: int,
        undecided_by: str,
        *,
        rule: IntervalRule | None,
        seed: int,
    ) -> None:
        self.n_candidates = len(sheet.candidate_ids)
        self.sheet = sheet
        n_slices = len(grid.inside)
        self.size = n_slices * self.n_candidates
        self.undecided_by = undecided_by
        cacs = cacs_values(grid.hits, np.where(grid.has_hits, grid.n_positive, 0), k)
        scored, hit = grid.inside & grid.has_score, grid.inside & grid.has_hits
        reached = hit & ~np.isnan(cacs)
        self.present = self._count(grid.inside)
        self.counts = {name: self._count(getattr(grid, name) * grid.inside) for name in _COUNTS}
        self.unscored = self._count(grid.inside & ~grid.has_score)
        self.settled = self._count(hit)
        self.short = self._count(hit & ~reached)
        self.cases_behind = (self._sums(scored) > 0).sum(axis=0)
        self.n = self._count(scored)
        self.least = self._least_scores(grid, scored)
        empty = {
            "rubric_score": Reason.NO_SCORED_RESPONSE(),
            "rubric_accuracy": Reason.NO_POSITIVE_CRITERIA(),
            "pass_at_k": Reason.NO_RESPONSE_WITH_POSITIVE_CRITERIA(),
            "cacs_at_k": Reason.TOO_FEW_POSITIVE_CRITERIA(k=k),
        }
        ratios = {
            "rubric_score": self._ratio(np.where(scored, grid.score, 0.0), scored, (self.least, 1.0), CLIP),
            "rubric_accuracy": self._ratio(100 * grid.hits * hit, grid.n_positive * hit, (0.0, 100.0)),
            "pass_at_k": self._ratio(hit & (grid.hits >= k), hit, trials=True),
            "cacs_at_k": self._ratio(np.where(reached, cacs, 0.0), reached, (0.0, 100.0)),
        }
        self.figures_by_name = {name: ScoreFigures.of(ratios[name], rule, empty[name]) for name in FIGURES}
        self.deviations: list[float | None] = [None] * self.size
        if rule is not None and self.size:
            bootstrap = CaseBootstrap(len(sheet.case_ids), seed)
            self.deviations = standard_deviations(self.figures_by_name["rubric_score"].over_cases, bootstrap)

    def _least_scores(self, grid: Grid, scored: Array) -> NDArray[np.float64]:
        """The least rubric score that each column could have: the mean over its responses."""
        least = self._sums(np.where(scored, grid.least_score, 0.0)).sum(axis=0)
        return np.asarray(least / np.maximum(self.n, 1))

    def _ratio(
        self,
        above: Array,
        below: Array,
        bounds: tuple[ArrayLike, ArrayLike] = (0.0, 1.0),
        clip: tuple[float, float] | None = None,
        trials: bool = False,
    ) -> CaseFigures:
        return case_ratio(self._sums(above), self._sums(below), bounds=bounds, clip=clip, trials=trials)

    def _sums(self, values: Array) -> NDArray[np.float64]:
        """Sum an array of shape (slices, responses) to one of shape (cases, columns)."""
        n_slices, n_responses = values.shape
        column = (np.arange(n_slices)[:, None] * self.n_candidates + self.sheet.response_candidate[None, :]).ravel()
        case = np.broadcast_to(self.sheet.response_case, (n_slices, n_responses)).ravel()
        return sums_by_case(values.ravel(), case, len(self.sheet.case_ids), column, self.size)

    def _count(self, values: Array) -> NDArray[np.int64]:
        return np.rint(self._sums(values).sum(axis=0)).astype(np.int64)

    def row(self, place: int, candidate: int) -> Row | None:
        """One row, or None where the candidate has no response in the slice."""
        column = place * self.n_candidates + candidate
        if not self.present[column]:
            return None
        row: Row = {"n": int(self.n[column]), "n_cases": int(self.cases_behind[column])}
        notes: list[str] = []
        undecided = self._undecided(column)
        explained = False
        remarks: list[tuple[str, str]] = []
        for name in FIGURES:
            figure = self.figures_by_name[name].figures[column]
            reason = self.remark(name, column)
            explained = explained or (bool(undecided) and reason == undecided)
            row[name], row[f"{name}_low"], row[f"{name}_high"] = figure.value, figure.low, figure.high
            row[f"{name}_effective"] = figure.effective
            remarks.append((name, reason))
        # The reason for a missing interval is most often the same for all four; it is given once for all of them.
        notes.append(each_once(remarks))
        row["rubric_score_se"] = self.deviations[column]
        for name, count in self.counts.items():
            row[name] = int(count[column])
        if undecided and not explained:
            notes.append(undecided)
        notes.append(Reason.PAIRS_FAULTY.counted(row["n_faulty"]))
        notes.append(Reason.UNSCORED_RESPONSES.counted(int(self.unscored[column])))
        notes.append(Reason.SHORT_RESPONSES.counted(int(self.short[column])))
        if self.sheet.share is not None:
            notes.append(labelled("rubric_score", MEAN_OF_REPLICATES))  # after the reason for a missing figure
        row["note"] = joined(*notes)
        return row

    def remark(self, name: str, column: int) -> str:
        """What a reader must know of a figure of a column, or why it is undefined; empty where there is nothing."""
        figure, undecided = self.figures_by_name[name].figures[column], self._undecided(column)
        # If no response is settled, the reason is what left them open, not what a settled response would lack.
        if undecided and not figure.defined and (name == "rubric_score" or not self.settled[column]):
            return undecided
        return figure.note

    def behind(self, name: str, column: int) -> int:
        """How many responses stand behind a figure of a column."""
        if name == "rubric_score":
            return int(self.n[column])
        return int(self.settled[column] - (self.short[column] if name == "cacs_at_k" else 0))

    def _undecided(self, column: int) -> str:
        """How many pairs are undecided, and which kind of rater left them so; empty if none is undecided."""
        n, of = int(self.counts["n_undecided"][column]), int(self.counts["n_criteria"][column])
        return _UNDECIDED[self.undecided_by](n=n, all=of) if n else ""
