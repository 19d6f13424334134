"""Every statistic on thirty tables with next to nothing in them: a value or a reason; and in any order of the rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from consilium.statistics.alternative_annotator import alternative_annotator_test
from consilium.statistics.case_figures import sums_by_case
from consilium.statistics.case_numbers import MINIMUM_EFFECTIVE_CASES, ROUNDING
from consilium.statistics.confusion import confusion_counts
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.krippendorff_alpha import value_counts
from consilium.statistics.mcnemar import mcnemar
from consilium.statistics.meta_evaluation import other_rater_pairs
from consilium.statistics.paired_difference import mf1_differences
from consilium.statistics.prediction_powered import case_sums
from consilium.statistics.worst_at_k import worst_at_k
from scoring.scores.points import score_responses
from tests.statistics.every_figure import K, Table, every_figure, table


def varied(cases: int, items: int, labels: str = "ABC", seed: int = 1, flips: float = 0.3) -> str:
    """Items of several cases to which all raters and the judge say the truth, but for some flips."""
    rng = np.random.default_rng(seed)
    words = []
    for case in range(cases):
        for _ in range(items):
            truth = int(rng.random() < 0.5)
            votes = [truth ^ int(rng.random() < flips) for _ in range(len(labels) + 1)]
            words.append(
                f"{case}:{''.join(f'{who}{met}' for who, met in zip(labels, votes, strict=False))}:{votes[-1]}"
            )
    return " ".join(words)


def repeated(cases: int, *items: str) -> str:
    """The same items in each case."""
    return " ".join(f"{case}:{item}" for case in range(cases) for item in items)


TABLES = {
    "nothing": "",
    "an item that nobody labelled": "0::1",
    "one pair": "0:A1:1",
    "one pair, not met": "0:A0:0",
    "one pair, apart": "0:A1:0",
    "one pair, invalid": "0:A0:x",
    "one rater, one case": "0:A1:1 0:A0:0 0:A1:0",
    "one case of many items": varied(1, 40),
    "one class, one case": repeated(1, "A1B1:1", "A1B1:1", "A1B1:1"),
    "one class, twelve cases": repeated(12, "A1B1C1:1"),
    "the other class, twelve cases": repeated(12, "A0B0C0:0", "A0B0C0:0"),
    "all invalid": repeated(12, "A1B1:x", "A0B1:x"),
    "all but one case invalid": "0:A1B1:1 0:A0B1:0 " + repeated(12, "A1B1:x", "A0B1:x"),
    "no overlap of raters": "0:A1:x 1:A0:x 2:A1:x 3:B1:1 4:B0:0 5:B1:1",
    "the judge is not the reference": "0:B1:1 1:B0:1 2:B1C0:0",
    "a single item, all alike": "0:A1B1C1:1",
    "a single item, apart": "0:A1B0C1:0",
    "the reference constant": repeated(12, "A1B1C0:1", "A1B0C1:0"),
    "the judge constant": repeated(12, "A1B1C0:1", "A0B0C1:1"),
    "both constant and opposite": repeated(12, "A1B1:0"),
    "exactly together": repeated(12, "A1B1C1:1", "A0B0C0:0"),
    "exactly apart": repeated(12, "A1B0:0", "A0B1:1"),
    "each item another rater": " ".join(f"{i}:{who}{i % 2}:1" for i, who in enumerate("ABCDEFGHIJKL")),
    "many raters, one item": "0:" + "".join(f"{who}{i % 2}" for i, who in enumerate("ABCDEFGHIJKL")) + ":1",
    "unequal numbers of labels": "0:A1B1:1 1:A0B1C1:0 2:A1:1 3::0 4:A0B0C1D1:0",
    "nine cases": varied(9, 3),
    "ten cases": varied(10, 1),
    "labels on nine of twelve cases": varied(9, 3) + " 9::1 10::0 11::1",
    "forty cases, one disagreement": repeated(40, "A1B1C1:1") + " 40:A1B0C1:0",
    "different numbers of criteria": varied(12, 2) + " 12:A1B0C1:1",
    "in full": varied(12, 4),
}


def rows_of(ratings: Table) -> list[tuple[int, int, int]]:
    return list(zip(ratings.item.tolist(), ratings.rater.tolist(), ratings.met.tolist(), strict=True))


def expected(ratings: Table) -> dict[str, bool]:
    """Which figures have a value, from what docs/statistics.md says of each; spelled out without arrays."""
    verdict, case_of = ratings.verdict.tolist(), ratings.case.tolist()
    by_item: dict[int, dict[int, int]] = defaultdict(dict)
    for item, rater, met in rows_of(ratings):
        by_item[item][rater] = met
    a = {item: by_rater[0] for item, by_rater in by_item.items() if 0 in by_rater}
    valid = [(met, verdict[item]) for item, met in a.items() if verdict[item] < 2]
    counted = [(met, verdict[item] if verdict[item] < 2 else 1 - met) for item, met in a.items()]
    shared = {item: (a[item], by_item[item][1]) for item in a if 1 in by_item[item]}
    judge_right = {item: verdict[item] == met for item, (met, _) in shared.items()}
    discordant = [item for item, (met, other) in shared.items() if judge_right[item] != (other == met)]
    cases_of_shared = {case_of[item] for item in shared}
    balance: dict[int, int] = defaultdict(int)
    for item in discordant:
        balance[case_of[item]] += 1 if judge_right[item] else -1
    # An interval of MF1 takes 5 effective cases; with few pairs a case also 5 cases in which the rarer class occurs,
    # with fewer than 2 pairs a case by both raters.
    pairs_of_case = [sum(case_of[item] == case for item in shared) for case in cases_of_shared]
    effective = sum(pairs_of_case) ** 2 / sum(n * n for n in pairs_of_case) if shared else 0
    b_or_judge = (1, {item: verdict[item] if verdict[item] < 2 else 1 - a[item] for item in shared})
    by = 2 if len(shared) < 2 * len(cases_of_shared) else 1
    rarer = min(
        len(
            {
                case_of[item]
                for item, (met, b) in shared.items()
                if (met, b if other == 1 else other[item]).count(label) >= by
            }
        )
        for other in b_or_judge
        for label in (0, 1)
    )
    several = [list(by_rater.values()) for by_rater in by_item.values() if len(by_rater) > 1]
    alpha = len({met for labels in several for met in labels}) == 2
    sizes = {len(by_rater) for by_rater in by_item.values()}
    labels = {met for _, _, met in rows_of(ratings)}
    instances = defaultdict(int)
    for by_rater in by_item.values():
        for rater in by_rater:
            instances[rater] += len(by_rater) > 1
    tested = [rater for rater, n in instances.items() if n >= 3]
    hits: dict[int, list[int]] = defaultdict(list)
    for item, met in a.items():
        hits[case_of[item]].append(met)
    differ = {met != judgement for met, judgement in valid}
    parities = {case_of[item] % 2 for item in a if verdict[item] < 2}
    judged = [(met, verdict[item]) for item, _, met in rows_of(ratings) if verdict[item] < 2]
    both_sides = [{met for met, _ in judged}, {judgement for _, judgement in judged}]
    return {
        "two.mf1": bool(counted),
        "two.mf1_valid": bool(valid),
        "two.f1_met": any(1 in pair for pair in counted),
        "two.f1_not_met": any(0 in pair for pair in counted),
        "mf1.zero": bool(counted),
        **{f"two.{name}": bool(valid) for name in ("raw", "ac1", "prevalence_a", "prevalence_b")},
        "two.kappa": all(len({pair[side] for pair in valid}) == 2 for side in (0, 1)),
        "two.alpha": len({label for pair in valid for label in pair}) == 2,
        "sensitivity.0": any(met for met in a.values()),
        "specificity.0": any(not met for met in a.values()),
        "difference": bool(shared),
        "inferiority": effective >= 5 - 1e-9 and (rarer >= 5 or len(shared) >= 10 * len(cases_of_shared)),
        "mcnemar.p": bool(discordant),
        "mcnemar.p_clustered": any(balance.values()) and len(cases_of_shared) >= 10,
        "mid_p.0": bool(discordant),
        "information.bits": len(differ) == 2 and len(parities) == 2,
        "information.p": len(differ) == 2 and len(parities) == 2,
        **{name: bool(valid) for name in ("brier", "ece")},
        "judge.agreement.raw": bool(judged),
        "judge.agreement.kappa": all(len(side) == 2 for side in both_sides),
        "judge.recall_met": 1 in labels,
        "judge.recall_not_met": 0 in labels,
        "ceiling.agreement.mf1": bool(several),
        "ceiling.agreement.kappa": alpha,
        "ceiling.f1_balanced": alpha,
        **{f"alpha.{level}": alpha for level in ("nominal", "ordinal", "interval")},
        "fleiss": len(sizes) == 1 and min(sizes) > 1 and len(labels) == 2,
        "alternative.winning_rate": len(tested) >= 3,
        "alternative.advantage": bool(tested),
        "cacs": any(len(mets) >= K for mets in hits.values()),
        "pass": bool(hits),
        "accuracy": bool(hits),
        "calibration.k": len({len(mets) for mets in hits.values()}) == 1,
        "worst": any(len(mets) >= K for mets in hits.values()),
        "ratio.0": bool(hits),
        "length.pearson": len(a) >= 3 and len(set(a.values())) == 2,
        "length.spearman": len(a) >= 3 and len(set(a.values())) == 2,
        "powered.powered": bool(by_item),
        "powered.physicians": bool(by_item),
        "powered.judge": bool(verdict),
        "plans.detectable.se": len(hits) >= 10,
        "exact_share": bool(a),
        "median": bool(hits),
        "ranks.mean_absolute_difference": bool(labels),
        "intent.cia": bool(counted),
        "intent.valid": bool(valid),
        "sets.difference": bool(counted),
        "trials.win": bool(valid),
        "trials.auroc_pooled": bool(valid),
        "gain.gain": bool(counted),
        "sign_flip": bool(counted),
    }


# Not over cases: shares of single trials, order statistics, the F distribution, a judge's errors, a plan.
OTHER_INTERVALS = ("exact_share", "median", "icc.", "error.")
SHARES = (
    "mf1",
    "f1",
    "raw",
    "precision",
    "recall",
    "prevalence",
    "p_",
    "mcnemar.p",
    "advantage",
    "ece",
    "brier",
    "pass",
)


@pytest.mark.parametrize("name", TABLES)
def test_a_value_or_a_reason(name: str) -> None:
    ratings = table(TABLES[name])
    figures = every_figure(ratings, DEFAULT_RULE)
    for path, due in expected(ratings).items():
        figure = figures.get(path, Undefined("the whole has none"))
        assert figure.defined is due, (path, figure)
    cases = len(set(ratings.case[ratings.item].tolist()))
    for path, figure in figures.items():
        if isinstance(figure, Undefined):
            assert figure.reason, path
            continue
        assert figure.n >= 1, path
        if path.startswith(SHARES) or any(f".{share}" in path for share in SHARES):
            assert 0 <= figure.value <= (100 if "values" in path else 1), (path, figure)
        if figure.low is not None and not path.startswith(OTHER_INTERVALS):
            # The judge's own figure needs no labels; the cases of Fleiss' kappa are its items.
            behind = {"powered.judge": len(set(ratings.case.tolist())), "fleiss": figure.n}.get(path, cases)
            if not path.startswith("rank_range."):  # a rank is compared with others, each on its own cases
                assert MINIMUM_EFFECTIVE_CASES - ROUNDING <= figure.effective <= behind + ROUNDING, path
            assert figure.low <= figure.high, path
    if not ratings.item.size:
        assert not [path for path, figure in figures.items() if figure.defined and path != "powered.judge"]


@pytest.mark.parametrize("name", ["nothing", "one class, twelve cases", "no overlap of raters", "all invalid"])
def test_reasons_that_a_reader_can_use(name: str) -> None:
    figures = every_figure(table(TABLES[name]), DEFAULT_RULE)
    reasons = {
        "nothing": {"two.mf1": "no pairs", "alpha.nominal": "no unit with two ratings", "fleiss": "no items"},
        "one class, twelve cases": {
            "two.kappa": "constant ratings: both raters gave one answer throughout",
            "alpha.ordinal": "constant ratings: alpha has no expected disagreement",
            "mcnemar.p": "no pair on which one judge alone is right",
            "information.bits": "the raters never differ",
            "icc.two": "constant ratings",
        },
        "no overlap of raters": {
            "difference": "no pairs",
            "two.raw": "no pairs",
            "ceiling.agreement.mf1": "no pairs",
            "alternative.advantage": "no annotator was tested: 3 instances are needed",
            "ranks.spearman": "a correlation needs at least 3 units",
        },
        "all invalid": {"two.ac1": "no pairs", "brier": "no pairs", "information.bits": "no pairs"},
    }[name]
    assert {path: figures[path].note for path in reasons} == reasons


def alike(figure: Figure, other: Figure) -> bool:
    numbers = [(getattr(figure, end), getattr(other, end)) for end in ("value", "low", "high")]
    return (
        (figure.n, figure.note) == (other.n, other.note)
        and all((x is None) is (y is None) for x, y in numbers)
        and all(x == pytest.approx(y, abs=1e-9) for x, y in numbers if x is not None)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["in full", "unequal numbers of labels", "forty cases, one disagreement"])
def test_the_order_of_rows_changes_no_figure(name: str) -> None:
    ratings, rng = table(TABLES[name]), np.random.default_rng(2)
    plain = every_figure(ratings, DEFAULT_RULE)
    for _ in range(5):
        mixed = every_figure(ratings.shuffled(rng.permutation(len(ratings.item))), DEFAULT_RULE)
        assert mixed.keys() == plain.keys()
        for path, figure in plain.items():
            assert alike(figure, mixed[path]), (path, figure, mixed[path])


@pytest.mark.slow
def test_a_thousand_orders_of_rows_give_the_counts_that_everything_is_made_of() -> None:
    rng = np.random.default_rng(3)
    n, cases = 60, 7
    case, a, b = rng.integers(cases, size=n), rng.integers(2, size=n), rng.integers(2, size=n)
    item, points, outcome = np.arange(n) // 3, rng.choice([-3, 1, 4], size=n), rng.integers(7, size=n)
    graded = np.where(rng.random(n) < 0.5, a.astype(float), np.nan)

    def counts(order: np.ndarray) -> list[np.ndarray]:
        others = other_rater_pairs(item[order], a[order]).summed_by(case[order], cases)
        scores = score_responses(item[order], points[order], outcome[order], n // 3)
        powered = case_sums(case=case[order], n_cases=cases, prediction=b[order], label=graded[order])
        return [
            confusion_counts(a[order], b[order], case=case[order], n_cases=cases).cells(),
            others.cells(),
            value_counts(item[order], a[order], n // 3, 2),
            np.nan_to_num(scores.score, nan=-9),
            np.stack([scores.hits, scores.n_positive, scores.has_hits, scores.n_invalid, scores.n_cannot]),
            np.stack([powered.judged, powered.labels, powered.predictions, powered.n_labelled]),
            sums_by_case(points[order], case[order], cases),
            worst_at_k(case[order], a[order], 2).by_case,
        ]

    plain = counts(np.arange(n))
    for _ in range(1000):
        for count, other in zip(plain, counts(rng.permutation(n)), strict=True):
            assert np.array_equal(count, other)


def test_raters_by_other_names_change_nothing_but_their_places() -> None:
    ratings = table(TABLES["in full"])
    plain = every_figure(ratings, DEFAULT_RULE)
    # B and C change places: A remains the reference.
    other = every_figure(replace(ratings, rater=np.array([0, 2, 1])[ratings.rater]), DEFAULT_RULE)
    for path, figure in plain.items():
        if path.startswith(
            ("judge.", "ceiling.", "alpha.", "fleiss", "icc.", "alternative.winning", "alternative.adv")
        ):
            assert alike(figure, other[path]), path
    for x, y in ((0, 0), (1, 2), (2, 1)):
        for path in (p for p in plain if p.startswith((f"alternative.annotators.{x}", f"rater_rest.{x}"))):
            assert alike(plain[path], other[path.replace(f".{x}", f".{y}", 1)]), path
        assert alike(plain[f"physicians.{x}.agreement.kappa"], other[f"physicians.{y}.agreement.kappa"])


def test_exchanged_judges_turn_the_sign_and_nothing_else() -> None:
    rng = np.random.default_rng(4)
    case, verdicts = rng.integers(15, size=300), rng.random((3, 300)) < 0.5
    first, second = (confusion_counts(verdicts[0], verdict, case=case, n_cases=15) for verdict in verdicts[1:])
    (difference,), (other,) = (mf1_differences(*pair, rule=DEFAULT_RULE) for pair in ((first, second), (second, first)))
    assert isinstance(difference, Estimate)
    assert (other.value, other.low, other.high) == pytest.approx((-difference.value, -difference.high, -difference.low))
    b, c = rng.integers(5, size=15), rng.integers(4, size=15)
    here, swapped = mcnemar(b, c, n_cases=15), mcnemar(c, b, n_cases=15)
    assert (here.only_first, here.only_second) == (swapped.only_second, swapped.only_first)
    assert (here.p, here.p_clustered, here.chi_square_clustered) == (
        swapped.p,
        swapped.p_clustered,
        swapped.chi_square_clustered,
    )


def test_a_judge_and_a_physician_who_say_the_same_are_level() -> None:
    # The judge copies the first of three physicians: before the other two it is exactly where that one is.
    ratings = table(TABLES["in full"])
    judge = ratings.met[ratings.rater == 0][np.argsort(ratings.item[ratings.rater == 0])]
    result = alternative_annotator_test(
        ratings.item, ratings.rater, ratings.met, judge, case=ratings.case, n_annotators=3, n_cases=ratings.n_cases
    )
    assert result.annotators[0].difference == replace(result.annotators[0].difference, value=0.0)
    assert result.annotators[0].advantage.value == result.annotators[0].annotators_advantage.value == 1
