"""Non-inferiority: is a judge as good as physicians are among themselves, up to a margin δ?

With d = the judge's MF1 less the human ceiling, both on the same pairs, and the interval of a difference (`intervals`):

    non-inferior   the lower end of the 95% interval of d lies above −δ: a one-sided test at 2.5%
    superior       that end lies above 0 as well
    inferior       the upper end lies below −δ
    open           none of these: the data do not tell

The lower end is the one-sided 97.5% bound. The margin is chosen before looking, by what a lower MF1 would cost.

The p-value belongs to the same interval (`IntervalRule.p_above`): it is the least α at which the one-sided bound of
level 1 - α still lies above -δ, and at every larger α as well. Where several judges are tested, Holm's correction of
these p-values (`holm`) keeps the chance of any wrong conclusion below 2.5%.

Source: Piaggio et al. 2012 (CONSORT for non-inferiority trials). Undefined where d is undefined or has no interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import parts_of
from consilium.core.reasons import Reason, code_of
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import IntervalRule

DEFAULT_MARGIN = 0.05
TEST_LEVEL = 0.025  # one-sided


class Conclusion(StrEnum):
    """The conclusion from the interval of the difference."""

    SUPERIOR = "superior"
    NON_INFERIOR = "non-inferior"
    INFERIOR = "inferior"
    OPEN = "open"


@dataclass(frozen=True)
class NonInferiority:
    """``bound`` is the one-sided 97.5% lower bound of the difference; ``margin`` is δ, above 0."""

    finding: Conclusion
    difference: float
    bound: float
    margin: float
    n: int

    @property
    def shown(self) -> bool:
        """Whether non-inferiority is shown; a judge that is superior is not inferior either."""
        return self.finding in (Conclusion.NON_INFERIOR, Conclusion.SUPERIOR)


def non_inferiority(difference: Figure, margin: float = DEFAULT_MARGIN) -> NonInferiority | Undefined:
    """The conclusion from the interval of judge minus ceiling at ``margin``. ValueError on a margin outside (0, 1)."""
    if not 0 < margin < 1:
        raise ValueError("a margin lies between 0 and 1")
    if not isinstance(difference, Estimate):
        return Undefined(difference.reason, difference.n)
    low, high = difference.low, difference.high
    if low is None or high is None:
        reasons = (part for part in parts_of(difference.note) if (code := code_of(part)) and code.withholds_interval)
        return Undefined(next(reasons, Reason.NO_INTERVAL()), difference.n)
    if low > 0:
        finding = Conclusion.SUPERIOR
    elif low > -margin:
        finding = Conclusion.NON_INFERIOR
    elif high < -margin:
        finding = Conclusion.INFERIOR
    else:
        finding = Conclusion.OPEN
    return NonInferiority(finding, difference.value, low, margin, difference.n)


def non_inferiority_p(
    judges: CaseFigures, ceiling: CaseFigures, *, margin: float, rule: IntervalRule
) -> NDArray[np.float64]:
    """One-sided p-values of non-inferiority of each judge, (judges,); NaN where the difference has no interval.

    A slice of ``judges`` is a judge; ``ceiling`` has as many slices, and row i of both is the same case.
    """
    return rule.p_above(judges, ceiling, -margin)
