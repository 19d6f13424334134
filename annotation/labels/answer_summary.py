"""Summary of physicians' answers about one case: majority, dispersion, and whether they agree.

Plain values in, dataclasses out; no Django.

- **Majority**: the value that most answers chose; none on a tie.
- **Share**: answers that chose the most frequent value / all answers.
- **Agreed**: at least the minimum number of answers that the question asks for, a majority, and a share of at least the
  threshold. The share is compared as a fraction, so that 3 of 5 reach 0.6.
- **Dispersion** of a single choice among K options, p[c] the share of option c: the normalised entropy
  −Σ p[c]·ln p[c] / ln K. 0: all answers the same; 1: evenly spread over all options.
- **Level** of acuity: the mean of the answers, the lowest level counting 1 and the highest 4; **spread**: their
standard deviation with the denominator n − 1, undefined for one answer; **certainty**: the median of 0 to 100.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from statistics import mean, median, stdev

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

NO_ANSWERS = Reason.NO_ANSWERS()
ONE_ANSWER = Reason.ONE_ANSWER()


class AnswerState(StrEnum):
    """Whether the answers about a case agree, are open, or are too few."""

    AGREED = "agreed"
    OPEN = "open"  # enough answers, and they do not agree
    FEW = "few"  # too few answers


@dataclass(frozen=True, slots=True)
class Answer:
    """One physician's answer; ``certainty`` 0 to 100, of acuity only."""

    value: str
    certainty: int | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """The answers about one case; ``counts`` in the order of the options."""

    counts: tuple[int, ...]
    n: int
    majority: str  # empty on a tie
    share: Figure
    dispersion: Figure  # of a single choice; Undefined for acuity
    level: Figure
    spread: Figure
    certainty: Figure
    state: AnswerState

    @property
    def agreed_value(self) -> str:
        """The majority where it counts as agreed, else empty."""
        return self.majority if self.state == AnswerState.AGREED else ""


def summarise(
    answers: Sequence[Answer], options: Sequence[str], *, ordered: bool, threshold: float, minimum: int
) -> Summary:
    """Sum up the answers of one case. ``options``: all values; where ``ordered``, lowest first.

    Answers with a value that is not among the options are ignored.
    """
    known = set(options)
    answers = [answer for answer in answers if answer.value in known]
    counted = Counter(answer.value for answer in answers)
    counts = tuple(counted.get(option, 0) for option in options)
    n, most = len(answers), max(counts, default=0)
    winners = [option for option, number in zip(options, counts, strict=True) if n and number == most]
    majority = winners[0] if len(winners) == 1 else ""
    enough = n >= minimum and n > 0
    agreed = enough and bool(majority) and Fraction(most, n) >= Fraction(str(threshold))
    return Summary(
        counts=counts,
        n=n,
        majority=majority,
        share=Estimate(most / n, n) if n else Undefined(NO_ANSWERS),
        dispersion=Undefined(Reason.LEVELS_HAVE_SPREAD()) if ordered else normalised_entropy(counts),
        level=mean_level(counts) if ordered else Undefined(Reason.NOT_ORDERED()),
        spread=level_spread(counts) if ordered else Undefined(Reason.NOT_ORDERED()),
        certainty=median_certainty(answers),
        state=AnswerState.AGREED if agreed else AnswerState.OPEN if enough else AnswerState.FEW,
    )


def normalised_entropy(counts: Sequence[int]) -> Figure:
    """−Σ p·ln p / ln K over the shares p of K options; n is the number of answers."""
    n = sum(counts)
    if not n:
        return Undefined(NO_ANSWERS)
    if len(counts) < 2:
        return Undefined(Reason.ONE_OPTION(), n)
    entropy = -sum(number / n * math.log(number / n) for number in counts if number)
    return Estimate(min(1.0, max(0.0, entropy / math.log(len(counts)))), n)


def mean_level(counts: Sequence[int]) -> Figure:
    """Σ level / n, the first option counting 1; n is the number of answers."""
    levels = _levels(counts)
    return Estimate(mean(levels), len(levels)) if levels else Undefined(NO_ANSWERS)


def level_spread(counts: Sequence[int]) -> Figure:
    """√(Σ (level − mean)² / (n − 1)); n is the number of answers."""
    levels = _levels(counts)
    if not levels:
        return Undefined(NO_ANSWERS)
    if len(levels) < 2:
        return Undefined(ONE_ANSWER, 1)
    return Estimate(stdev(levels), len(levels))


def median_certainty(answers: Sequence[Answer]) -> Figure:
    """The median of the certainties given; of an even number, the mean of the middle two; n is how many gave one."""
    given = [answer.certainty for answer in answers if answer.certainty is not None]
    return Estimate(float(median(given)), len(given)) if given else Undefined(Reason.NO_CERTAINTY())


def _levels(counts: Sequence[int]) -> list[float]:
    return [float(level) for level, number in enumerate(counts, start=1) for _ in range(number)]
