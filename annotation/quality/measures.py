"""Quality figures of annotators and checkers, each with its n and interval.

The decisions on one case hang together, and one person may decide on all responses to it. So intervals are over cases
(`consilium.statistics.intervals`); a share that counts each case once has the mid-p interval.

A figure on fewer than `ENOUGH` responses is never shown. Positive rates are compared criterion by criterion. A rate is
marked as different only if the difference exceeds what chance explains for the number of people compared (Bonferroni);
otherwise one person in twenty would be marked by chance alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext as _

from annotation.qualification.marking import against_key, gold_pairs
from annotation.quality import inputs
from annotation.quality.inputs import Cases, Checks, Decisions, Work
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_ratio, sums_by_case
from consilium.statistics.confusion import confusion_counts
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.median import median_figure
from consilium.statistics.ratios import estimated
from consilium.statistics.two_raters import two_rater_agreement
from rubrics.models import Benchmark

ENOUGH = 10  # responses behind a figure before it is shown
MONDAY = date(1969, 12, 29)  # of week 0

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure, and the number of responses behind it."""

    figure: Figure
    responses: int
    unit: str = "share"  # share, mf1, difference (of shares), seconds
    note: str = ""

    @property
    def enough(self) -> bool:
        """Whether it may be shown."""
        return self.responses >= ENOUGH and isinstance(self.figure, Estimate)

    @property
    def points(self) -> tuple[float, float | None, float | None] | None:
        """A difference of shares in percentage points, with its interval."""
        figure = self.figure
        if figure.value is None:
            return None
        low, high = (None if end is None else 100 * end for end in (figure.low, figure.high))
        return 100 * figure.value, low, high

    @property
    def too_little(self) -> bool:
        """Whether there are some responses behind the figure, but too few to show it."""
        return 0 < self.responses < ENOUGH


@dataclass(slots=True)
class Week:
    """Agreement with the final decisions in one week."""

    starts: date
    agreement: Shown

    @property
    def name(self) -> str:
        """ISO year and week."""
        year, week, _day = self.starts.isocalendar()
        return f"{year}-W{week:02d}"


NONE = Shown(Undefined(""), 0)


@dataclass(slots=True)
class AnnotatorQuality:
    """One annotator's figures."""

    handed_in: int = 0
    mf1: Shown = NONE
    raw: Shown = NONE
    gold: Shown = NONE
    gold_raw: Shown = NONE
    positive: Shown = NONE  # difference from peers on the same criteria; the rate itself where no peer decided them
    differs: bool = False
    amended: Shown = NONE
    returned: Shown = NONE
    skipped: Shown = NONE
    speed: Shown = NONE
    weeks: list[Week] = field(default_factory=list)


@dataclass(slots=True)
class CheckerQuality:
    """One checker's figures."""

    finished: int = 0
    amended: Shown = NONE
    returned: Shown = NONE
    upheld: Shown = NONE


def annotator_figures(
    benchmark: Benchmark, users: Sequence[int], *, compared: int | None = None, own_view: bool = False
) -> dict[int, AnnotatorQuality]:
    """User id → figures, for annotators of the benchmark. ``own_view``: only what annotators may see of themselves.

    ``compared`` is the number of people compared, for the Bonferroni correction; by default the number of ``users``.
    """
    groups = list(benchmark.groups.order_by("pk"))
    quality_by_user = {user: AnnotatorQuality() for user in users}
    cases = inputs.cases(benchmark)
    decisions = inputs.decisions(benchmark, groups, own_view=own_view)
    people = np.array(sorted(users), dtype=np.int64)
    _agreement(quality_by_user, decisions, people, cases)
    _positive_rate(quality_by_user, decisions, people, cases, compared or len(users))
    _work_figures(quality_by_user, inputs.work(groups, own_view=own_view), cases)
    if not own_view:
        _gold(quality_by_user, benchmark, people, cases)
    if len(users) == 1:
        _weeks(quality_by_user[users[0]], decisions.where(decisions.user == users[0]), cases)
    return quality_by_user


def _agreement(quality_by_user: dict[int, AnnotatorQuality], decisions: Decisions, people: Ints, cases: Cases) -> None:
    rows = (decisions.outcome <= 1) & (decisions.final <= 1) & np.isin(decisions.user, people)
    for user, mf1, raw in _compared(
        people, decisions.user[rows], decisions.response[rows], decisions.final[rows], decisions.outcome[rows], cases
    ):
        quality_by_user[user].mf1, quality_by_user[user].raw = mf1, raw


def _gold(quality_by_user: dict[int, AnnotatorQuality], benchmark: Benchmark, people: Ints, cases: Cases) -> None:
    pairs = gold_pairs(benchmark.pk)
    known, theirs, rows = against_key(pairs["outcome"], pairs["key"])
    users, responses = pairs["user"][rows], pairs["response"][rows]
    mine = np.isin(users, people)
    for user, mf1, raw in _compared(people, users[mine], responses[mine], known[mine], theirs[mine], cases):
        quality_by_user[user].gold, quality_by_user[user].gold_raw = mf1, raw


def _compared(
    people: Ints, user: Ints, response: Ints, reference: Ints, theirs: Ints, cases: Cases
) -> list[tuple[int, Shown, Shown]]:
    """(user, MF1, raw agreement) of everybody with pairs."""
    if not len(user):
        return []
    rows = []
    # One person at a time, so that their intervals are the same in the overview and on a page of their own.
    for person in np.intersect1d(people, user).tolist():
        mine = user == person
        own_cases, place = np.unique(cases.of(response[mine]), return_inverse=True)
        counts = confusion_counts(
            reference[mine], theirs[mine], case=place, n_cases=len(own_cases),
            slice_of=np.zeros_like(place), n_slices=1,
        )  # fmt: skip
        (figures,) = two_rater_agreement(counts, rule=DEFAULT_RULE, intervals_for=("mf1", "raw"))
        n_responses = len(np.unique(response[mine]))
        rows.append((person, Shown(figures.mf1, n_responses, "mf1"), Shown(figures.raw, n_responses)))
    return rows


def _positive_rate(
    quality_by_user: dict[int, AnnotatorQuality], decisions: Decisions, people: Ints, cases: Cases, compared: int
) -> None:
    """Own positive rate minus that of the other members of the group on the same criterion, averaged over decisions."""
    from scipy.special import stdtrit

    rows = decisions.where(decisions.outcome <= 1)
    if not len(rows.user):
        return
    # Index rows by (group, criterion), and by (group, criterion, user).
    pair = np.stack([rows.group, rows.criterion], axis=1)
    _pairs, at_pair = np.unique(pair, axis=0, return_inverse=True)
    at_pair = at_pair.ravel()
    _own, at_own = np.unique(np.stack([at_pair, rows.user], axis=1), axis=0, return_inverse=True)
    at_own = at_own.ravel()
    others = np.bincount(at_pair)[at_pair] - np.bincount(at_own)[at_own]
    met = rows.outcome.astype(np.float64)
    others_met = np.bincount(at_pair, weights=met)[at_pair] - np.bincount(at_own, weights=met)[at_own]
    shared = (others > 0) & np.isin(rows.user, people)
    peers = others_met[shared] / others[shared]
    difference = met[shared] - peers
    users, responses = rows.user[shared], rows.response[shared]
    level = 1 - 0.05 / (2 * max(1, compared))
    for user in np.unique(users).tolist():
        mine = users == user
        mean = _mean(difference[mine], cases.of(responses[mine]), bounds=(-1.0, 1.0))
        shown = _shown(mean, responses[mine], "difference")
        figure = shown.figure
        spread, effective = (float(numbers[0]) for numbers in DEFAULT_RULE.standard_errors(mean))
        # The standard error that chance alone gives to a person who decides met as often as the others. The responses
        # of a person who always decides the same may have no spread, so the larger of the two standard errors counts.
        alone = float(np.sqrt((peers[mine] * (1 - peers[mine])).sum())) / int(mine.sum())
        expected = float(stdtrit(max(effective - 1, 1), level)) * max(spread, alone)
        quality_by_user[user].positive = shown
        # Without an interval nobody knows what chance explains: decisions on a case or two hang together.
        known = shown.enough and figure.value is not None and figure.low is not None
        quality_by_user[user].differs = known and abs(figure.value or 0.0) > expected
    for user in people.tolist():
        own = rows.user == user
        if not quality_by_user[user].positive.responses and own.any():
            note = _("No one else in the group decided on these criteria, so this is the rate itself.")
            rate = _mean(rows.outcome[own], cases.of(rows.response[own]), trials=True)
            quality_by_user[user].positive = _shown(rate, rows.response[own], note=note)


def _work_figures(quality_by_user: dict[int, AnnotatorQuality], rows: Work, cases: Cases) -> None:
    for user, quality in quality_by_user.items():
        mine = rows.user == user
        if not mine.any():
            continue
        quality.handed_in = int(rows.handed_in[mine].sum())
        quality.skipped = _share(rows.skipped[mine], rows.response[mine], cases)
        seen = mine & (rows.checks > 0)
        quality.returned = _share(rows.returned[seen], rows.response[seen], cases)
        checked = mine & (rows.checked > 0)
        quality.amended = _share(rows.amended[checked], rows.response[checked], cases, of=rows.checked[checked])
        timed = mine & (rows.handed_in == 1) & (rows.seconds > 0) & (rows.decisions > 0)
        speeds = rows.seconds[timed] / rows.decisions[timed]
        quality.speed = Shown(median_figure(speeds.tolist()), int(timed.sum()), "seconds")


def _share(hits: Ints, response: Ints, cases: Cases, *, of: Ints | None = None) -> Shown:
    """The hits of each row among ``of`` of them, one by default; a row belongs to a response."""
    trials = np.ones(len(hits)) if of is None else of
    return _shown(_ratio(hits, trials, cases.of(response), trials=True), response)


def _mean(
    values: npt.NDArray[Any], case: Ints, *, bounds: tuple[float, float] = (0.0, 1.0), trials: bool = False
) -> CaseFigures:
    """The mean of one value a decision; ``trials``: each is 0 or 1."""
    return _ratio(values, np.ones(len(values)), case, bounds=bounds, trials=trials)


def _ratio(
    above: npt.NDArray[Any],
    below: npt.NDArray[Any],
    case: Ints,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    trials: bool = False,
) -> CaseFigures:
    """Σ above / Σ below, over cases."""
    own_cases, place = np.unique(case, return_inverse=True)
    sums = (sums_by_case(values, place, len(own_cases)) for values in (above, below))
    return case_ratio(*sums, bounds=bounds, trials=trials)


def _shown(ratio: CaseFigures, response: Ints, unit: str = "share", note: str = "") -> Shown:
    n = np.rint(ratio.sums[..., 1].sum(axis=0)).astype(np.int64)
    (figure,) = estimated(ratio, n=n, rule=DEFAULT_RULE, empty=Reason.NOTHING_COUNTED())
    return Shown(figure, len(np.unique(response)), unit, note)


def _weeks(quality: AnnotatorQuality, decisions: Decisions, cases: Cases) -> None:
    rows = decisions.where((decisions.outcome <= 1) & (decisions.final <= 1))
    for week in np.unique(rows.week).tolist():
        own = rows.week == week
        agreement = _mean(rows.outcome[own] == rows.final[own], cases.of(rows.response[own]), trials=True)
        quality.weeks.append(Week(MONDAY + timedelta(weeks=week), _shown(agreement, rows.response[own])))


def checker_figures(benchmark: Benchmark, users: Sequence[int], *, own_view: bool = False) -> dict[int, CheckerQuality]:
    """User id → figures, for checkers of the benchmark. ``own_view`` leaves out the rulings of adjudicators."""
    groups = list(benchmark.groups.order_by("pk"))
    quality_by_user = {user: CheckerQuality() for user in users}
    rows: Checks = inputs.checks(groups, own_view=own_view)
    ruled = inputs.ruled_amendments(groups) if not own_view else None
    cases = inputs.cases(benchmark)
    for user, quality in quality_by_user.items():
        mine = rows.user == user
        quality.finished = int(mine.sum())
        if quality.finished:
            quality.amended = _share(rows.amended[mine], rows.response[mine], cases, of=rows.decisions[mine])
            quality.returned = _share(rows.returned[mine], rows.response[mine], cases)
        if ruled is not None and (own := ruled["user"] == user).any():
            quality.upheld = _share(ruled["upheld"][own], ruled["response"][own], cases)
    return quality_by_user
