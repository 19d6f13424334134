"""The rules that give figures their intervals: what each shows, and what its notes say."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import CaseBootstrap, percentile_intervals, replicates
from consilium.statistics.case_figures import CaseFigures, case_mean, case_ratio
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.intervals import CaseJackknife, IntervalRule, PercentileBootstrap, interval_rule
from consilium.statistics.macro_f1 import MACRO_F1
from tests.statistics import by_hand
from tests.statistics.test_jackknife import OTHER, RATIO, ratio

RULE = CaseJackknife()


def test_five_effective_cases_are_needed() -> None:
    # G* of the sizes of RATIO is 4.92, of five equal cases 5.
    few, enough = (RULE.intervals(ratio(cases)) for cases in (RATIO, [(x, 10) for x, _ in RATIO]))
    assert np.isnan(few.low[0])
    assert few.reason(0) == Reason.INTERVAL_EFFECTIVE_CASES(cases="4.9", needed=5)
    assert (enough.low[0], enough.high[0]) == pytest.approx(by_hand.ratio_ends([x for x, _ in RATIO], [10] * 5))
    # Five equal cases of sizes that a float cannot hold exactly.
    assert not np.isnan(RULE.intervals(ratio([(x / 30, 1 / 3) for x in (1, 2, 3, 4, 5)])).low[0])


def test_a_reason_does_not_round_up() -> None:
    # Sizes 8, 8, 8, 8, 9: G* = 41² / 337 = 4.988.
    almost = RULE.intervals(ratio([(4, 8), (5, 8), (3, 8), (6, 8), (5, 9)]))
    assert almost.effective[0] == pytest.approx(41**2 / 337)
    assert almost.reason(0) == Reason.INTERVAL_EFFECTIVE_CASES(cases="4.9", needed=5)
    # 1.8 exactly is no 1.7: sizes 2 and 1.
    assert RULE.intervals(ratio([(1, 2), (1, 1)])).reason(0) == Reason.INTERVAL_EFFECTIVE_CASES(cases="1.8", needed=5)


def test_a_difference_rests_on_the_fewer_cases() -> None:
    many, few = ratio([(x % 4, 10) for x in range(9)]), ratio([(x % 3, 10) for x in range(6)] + [(0, 0)] * 3)
    assert RULE.differences(many, few).effective.tolist() == RULE.differences(few, many).effective.tolist() == [6]


def test_a_mean_of_two_coefficients_rests_on_the_rarer_class_of_both() -> None:
    # Ten cases of two pairs. Met by either rater: in 2 cases of the first part, in 7 of the second.
    def part(with_met: int) -> CaseFigures:
        met = np.arange(10) < with_met
        cells = np.where(met, 1, 0), np.zeros(10, int), np.zeros(10, int), np.where(met, 1, 2)
        return MACRO_F1.of_cases(ConfusionCounts(*(cell[:, None] for cell in cells)))

    mean = case_mean(part(2), part(7))
    assert mean.chance is not None
    assert mean.chance.apart.tolist() == [2]
    # De of MF1 is the product of the shares of both classes' mentions, times 4: 2 of 20 pairs met, and 7 of 20.
    assert mean.chance.expected.tolist() == pytest.approx([4 * (0.1 * 0.9 + 0.35 * 0.65) / 2])
    assert "2 of the 5 cases needed" in RULE.intervals(mean).reason(0)


def test_attached_figures() -> None:
    figure, undefined = Estimate(0.4, 50), Undefined("none")
    above, below = (np.repeat(np.array(column, dtype=float)[:, None], 2, axis=1) for column in zip(*RATIO, strict=True))
    attached = RULE.intervals(case_ratio(above, below)).attach([figure, undefined])
    assert attached[1] is undefined
    assert isinstance(attached[0], Estimate)
    assert (attached[0].low, attached[0].high) == (None, None)
    assert attached[0].effective == pytest.approx(4.921260, abs=5e-7)
    assert attached[0].note == Reason.INTERVAL_EFFECTIVE_CASES(cases="4.9", needed=5)


def test_a_share_of_cases_with_one_trial_each_has_the_mid_p_interval() -> None:
    # Published: 3 of 10 by mid-p; by the rule it would be 0.069936 to 0.709525.
    met, sizes = np.array([[1.0]] * 3 + [[0.0]] * 7), np.ones((10, 1))
    single = RULE.intervals(case_ratio(met, sizes, scale=100, trials=True))
    assert (single.low[0], single.high[0]) == pytest.approx((8.2600, 61.9919), abs=5e-5)
    assert single.note(0) == ""
    # A case without a trial is no case; one with two trials makes clusters of them.
    empty = RULE.intervals(case_ratio(np.vstack([met, [[0.0]]]), np.vstack([sizes, [[0.0]]]), trials=True))
    assert (empty.low[0], empty.high[0]) == pytest.approx((0.082600, 0.619919), abs=5e-7)
    sizes[-1] = 2
    several = RULE.intervals(case_ratio(met, sizes, trials=True))
    expected = by_hand.ratio_ends([1] * 3 + [0] * 7, [1] * 9 + [2])
    assert (several.low[0], several.high[0]) == pytest.approx(expected)


def test_the_difference_of_two_such_shares_is_made_of_the_ends_of_the_rule() -> None:
    first, second = [1] * 6 + [0] * 4, [0] * 4 + [1, 1, 1] + [0] * 3
    apart = RULE.differences(
        *(case_ratio(np.array(x)[:, None], np.ones((10, 1)), trials=True) for x in (first, second))
    )
    deviations = list(
        zip(*(by_hand.less_mean(by_hand.ratio_without(x, [1] * 10)) for x in (first, second)), strict=True)
    )
    ends = [(sum(x) / 10, *by_hand.ratio_ends(x, [1] * 10)) for x in (first, second)]
    assert (apart.low[0], apart.high[0]) == pytest.approx(by_hand.difference_ends(*ends, deviations), abs=1e-9)


def test_edge_is_noted() -> None:
    attached = RULE.intervals(ratio([(0, 1)] * 10)).attach([Estimate(0, 10)])[0]
    assert isinstance(attached, Estimate)
    assert attached.note == Reason.EDGE_INTERVAL()
    assert (attached.low, attached.high) == pytest.approx(by_hand.mid_p(0, 10))


def test_differences_of_clipped_figures_are_of_what_is_shown() -> None:
    above, sizes = [-3.0, -1, -2, -1, -2, -3], [4] * 6
    other = [1, 2, 3, 2, 1, 2]
    clipped = case_ratio(np.array(above)[:, None], np.full((6, 1), 4), bounds=(-2, 1), clip=(0, 1))
    plain = ratio(list(zip(other, sizes, strict=True)))
    low, high = by_hand.ratio_ends(other, sizes)
    deviations = zip(
        by_hand.less_mean(by_hand.ratio_without(above, sizes)),
        by_hand.less_mean(by_hand.ratio_without(other, sizes)),
        strict=True,
    )
    value = sum(other) / sum(sizes)
    expected = by_hand.difference_ends((0, 0, 0), (value, low, high), list(deviations))
    apart = RULE.differences(clipped, plain)
    assert (apart.low[0], apart.high[0]) == pytest.approx(expected)


def test_difference_needs_five_effective_cases_behind_both() -> None:
    apart = RULE.differences(ratio(RATIO), ratio([(x, 10) for x, _ in OTHER]))
    assert np.isnan(apart.low[0])
    assert apart.reason(0) == Reason.INTERVAL_EFFECTIVE_CASES(cases="4.9", needed=5)


def test_percentile_rule_gives_percentile_intervals() -> None:
    first, second = ratio(RATIO * 3), ratio(OTHER * 3)
    rule, bootstrap = PercentileBootstrap(3, 200), CaseBootstrap(15, 3, 200)
    drawn = [replicates(figures, bootstrap) for figures in (first, second)]
    for given, own in (
        (rule.intervals(first), drawn[0]),
        (rule.differences(first, second), drawn[0] - drawn[1]),
    ):
        expected = percentile_intervals(own, np.array([15]))
        assert given.low.tolist() == expected.low.tolist()
        assert given.high.tolist() == expected.high.tolist()


@pytest.mark.parametrize("rule", [RULE, PercentileBootstrap(3, 200)], ids=lambda rule: rule.key)
def test_slices_that_are_compared_have_the_intervals_of_each_alone(rule: IntervalRule) -> None:
    # Several slices at once: a ratio, one at its bound, and one with too few cases; a slice is in several pairs.
    above = np.array([[x % 4, 10, x % 3, 6] for x in range(12)], dtype=float)
    below = np.array([[10, 10, 10 if x < 3 else 0, 7 + x] for x in range(12)], dtype=float)
    figures = case_ratio(np.minimum(above, below), below)
    first, second = np.array([0, 3, 0, 1, 2, 0]), np.array([3, 0, 1, 3, 3, 0])
    own, apart = rule.compared(figures, first, second)
    alone = rule.intervals(figures)
    expected = rule.differences(figures.of_slices(first), figures.of_slices(second))
    for given, known in ((own, alone), (apart, expected)):
        assert given.low == pytest.approx(known.low, nan_ok=True)
        assert given.high == pytest.approx(known.high, nan_ok=True)
        assert given.effective == pytest.approx(known.effective)
        slices = range(len(known.low))
        assert [given.reason(i) for i in slices] == [known.reason(i) for i in slices]
        assert [given.note(i) for i in slices] == [known.note(i) for i in slices]
    assert np.isnan(apart.low).tolist() == [False, False, False, False, True, True]


def test_percentile_rule_needs_ten_cases() -> None:
    attached = PercentileBootstrap(1, 100).intervals(ratio(RATIO)).attach([Estimate(0.4, 50)])[0]
    assert isinstance(attached, Estimate)
    assert attached.low is None
    assert attached.note


def test_rules_by_name() -> None:
    assert interval_rule("jackknife", seed=4) == RULE
    assert interval_rule("percentile", seed=4) == PercentileBootstrap(4)
    assert "seed 4" in interval_rule("percentile", seed=4).in_words
    with pytest.raises(ValueError, match="no interval rule"):
        interval_rule("bca", seed=4)
