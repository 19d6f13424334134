"""Every statistic there is on one small table of labels: what tests of degenerate and of permuted tables go through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from consilium.statistics.alternative_annotator import NO_ANSWER, alternative_annotator_test
from consilium.statistics.cacs import cacs_at_k
from consilium.statistics.cacs_error import ErrorRates, propagate, sensitivity_figures, specificity_figures
from consilium.statistics.calibration import calibrate
from consilium.statistics.case_figures import case_ratio, sums_by_case
from consilium.statistics.confusion import ConfusionCounts, confusion_counts
from consilium.statistics.detectable_difference import detectable_from_standard_error, detectable_mean_difference
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.fleiss_kappa import fleiss_kappa
from consilium.statistics.intent_alignment import Extent, covered_in_full, intent_alignment
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.intraclass_correlation import intraclass_correlations
from consilium.statistics.item_rest import item_rest, rater_rest
from consilium.statistics.krippendorff_alpha import krippendorff_alpha, value_counts
from consilium.statistics.label_budget import Pilot, cases_needed
from consilium.statistics.length_control import length_control
from consilium.statistics.macro_f1 import macro_f1
from consilium.statistics.mcnemar import OF_JUDGES, Method, mcnemar, mcnemar_p
from consilium.statistics.median import median_figure
from consilium.statistics.meta_evaluation import judge_pairs, meta_evaluation, other_rater_pairs
from consilium.statistics.mutual_information import Units, by_chance, mutual_information
from consilium.statistics.noninferiority import non_inferiority
from consilium.statistics.paired_difference import mf1_differences, ratio_difference
from consilium.statistics.pass_at_k import pass_at_k
from consilium.statistics.prediction_powered import case_sums, prediction_powered
from consilium.statistics.probabilities import brier_score, calibration_curve, expected_calibration_error
from consilium.statistics.proportion import exact_proportion
from consilium.statistics.rank_agreement import rank_agreement
from consilium.statistics.ratios import ratio_figures
from consilium.statistics.relative_gain import gain_figures, own_gains
from consilium.statistics.rubric_accuracy import rubric_accuracy
from consilium.statistics.sensitivity import candidate_values, sensitivity
from consilium.statistics.set_comparison import compare_sets
from consilium.statistics.sign_flip import sign_flip_p
from consilium.statistics.trials import DecisionRule, PairFacts, Trials, pair_results, trial_figures
from consilium.statistics.two_raters import two_rater_agreement
from consilium.statistics.worst_at_k import worst_at_k

K = 2


@dataclass(frozen=True, eq=False)
class Table:
    """Labels (parallel arrays: item, rater, met), and of each item its case and the judge's verdict (2: invalid)."""

    item: np.ndarray
    rater: np.ndarray
    met: np.ndarray
    case: np.ndarray
    verdict: np.ndarray
    n_raters: int

    @property
    def n_cases(self) -> int:
        return int(self.case.max(initial=-1)) + 1

    def shuffled(self, order: np.ndarray) -> Table:
        """The same labels in another order of rows."""
        return Table(self.item[order], self.rater[order], self.met[order], self.case, self.verdict, self.n_raters)


def table(text: str) -> Table:
    """One item a word, ``CASE:LABELS:VERDICT``: ``3:A1B0:x`` is of case 3, met to A, not met to B, and invalid."""
    items = [word.split(":") for word in text.split()]
    labels = [
        (i, ord(who) - ord("A"), int(met))
        for i, parts in enumerate(items)
        for who, met in re.findall("(.)(.)", parts[1])
    ]
    item, rater, met = np.array(labels, dtype=np.int64).reshape(-1, 3).T
    return Table(
        item=item,
        rater=rater,
        met=met,
        case=np.array([int(parts[0]) for parts in items], dtype=np.int64),
        verdict=np.array([{"0": 0, "1": 1, "x": 2}[parts[2]] for parts in items], dtype=np.int64),
        n_raters=int(rater.max(initial=-1)) + 1,
    )


def figures_in(name: str, result: Any) -> Iterator[tuple[str, Figure]]:
    """Every figure somewhere in a result, by its path."""
    if isinstance(result, Estimate | Undefined):
        yield name, result
    elif isinstance(result, float):
        assert np.isfinite(result), name
    elif is_dataclass(result):
        for field in fields(result):
            yield from figures_in(f"{name}.{field.name}" if name else field.name, getattr(result, field.name))
    elif isinstance(result, dict):
        for key, value in result.items():
            yield from figures_in(f"{name}.{key}" if name else str(key), value)
    elif isinstance(result, list | tuple):
        for i, value in enumerate(result):
            yield from figures_in(f"{name}.{i}", value)


def every_figure(ratings: Table, rule: IntervalRule) -> dict[str, Figure]:
    """All of it, by name, with the intervals of a rule."""
    parts = (_two_raters, _many_raters, _scores, _candidates, _validity)
    figures = {name: result for part in parts for name, result in part(ratings, rule).items()}
    return dict(figures_in("", figures))


def _against_a(ratings: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items that rater A labelled, what A said, and the verdict."""
    own = ratings.rater == 0
    return ratings.item[own], ratings.met[own], ratings.verdict[ratings.item[own]]


def _two_raters(ratings: Table, rule: IntervalRule) -> dict[str, Any]:
    """The judge against rater A, and beside rater B."""
    cases = ratings.n_cases
    item, a, verdict = _against_a(ratings)
    case, given = ratings.case[item], verdict < 2
    valid = confusion_counts(a[given], verdict[given], case=case[given], n_cases=cases)
    judged = np.where(given, verdict, 1 - a)
    counted = confusion_counts(a, judged, case=case, n_cases=cases)
    b = np.full(len(ratings.case), -1)
    b[ratings.item[ratings.rater == 1]] = ratings.met[ratings.rater == 1]
    shared = b[item] >= 0
    tables = [
        confusion_counts(a[shared], other[shared], case=case[shared], n_cases=cases) for other in (judged, b[item])
    ]
    (difference,) = mf1_differences(*tables, rule=rule)
    right = [other[shared] == a[shared] for other in (judged, b[item])]
    only = [np.bincount(case[shared], weights=x & ~y, minlength=cases).astype(int) for x, y in (right, right[::-1])]
    n_cases = len(set(case[shared].tolist()))
    differ = np.zeros((cases, 2), dtype=np.int64)
    np.add.at(differ, (case[given], (a != verdict)[given].astype(int)), 1)
    chances = by_chance(Units(differ), [np.arange(cases) % 2], seed=1, permutations=19) if differ.sum() else []
    halves = np.array([differ[::2].sum(axis=0), differ[1::2].sum(axis=0)])
    chance = np.where(verdict[given] == 1, 0.75, 0.25)
    both = np.stack([sums_by_case(np.ones(len(item)), case, cases)[:, 0]] * 2, axis=1)
    return {
        "two": two_rater_agreement(valid, counted=counted, rule=rule)[0],
        "mf1.zero": macro_f1(counted.pooled(), "zero"),
        "sensitivity": sensitivity_figures(counted.pooled()),
        "specificity": specificity_figures(counted.pooled()),
        "difference": difference,
        "ratio_difference": ratio_difference(both * [1, 0], both, rule=rule, empty="no pairs"),
        "inferiority": finding_figure(non_inferiority(difference)),
        "mcnemar": mcnemar(*only, n_cases=n_cases),
        "mid_p": [mcnemar_p(int(only[0].sum()), int(only[1].sum()), how) for how in (Method.MID_P, Method.CHI_SQUARE)],
        "information": mutual_information(halves, *chances),
        "information.by_case": mutual_information(differ),
        "brier": brier_score(a[given], chance, case=case[given], n_cases=cases, rule=rule),
        "ece": expected_calibration_error(a[given], chance),
        "curve": calibration_curve(a[given], chance, case=case[given], n_cases=cases, rule=rule),
    }


def finding_figure(result: Any) -> Figure:
    """A finding of non-inferiority as a figure."""
    return result if isinstance(result, Undefined) else Estimate(result.bound, result.n, note=result.finding.value)


def _many_raters(ratings: Table, rule: IntervalRule) -> dict[str, Any]:
    cases, items = ratings.n_cases, len(ratings.case)
    case, verdict = ratings.case[ratings.item], ratings.verdict[ratings.item]
    by_judge = judge_pairs(ratings.met, np.where(verdict < 2, verdict == 1, ratings.met == 0))
    valid = ConfusionCounts.from_cells(by_judge.cells() * (verdict < 2))
    others = other_rater_pairs(ratings.item, ratings.met)
    by_item = value_counts(ratings.item, ratings.met, items, 2)
    labelled = by_item[by_item.sum(axis=1) > 0]
    place = (case * ratings.n_raters + ratings.rater).astype(np.int64)
    each = others.summed_by(place, cases * ratings.n_raters)
    figures: dict[str, Any] = {
        "judge": meta_evaluation(
            valid.summed_by(case, cases)[:, None], counted=by_judge.summed_by(case, cases)[:, None], rule=rule
        )[0],
        "ceiling": meta_evaluation(others.summed_by(case, cases)[:, None], rule=rule)[0],
        "alpha": {
            level: krippendorff_alpha(by_item, level, case=ratings.case, n_cases=cases, rule=rule)
            for level in ("nominal", "ordinal", "interval")
        },
        "fleiss": fleiss_kappa(labelled, rule=rule),
        "icc": intraclass_correlations(ratings.item, ratings.rater, ratings.met),
        "alternative": alternative_annotator_test(
            ratings.item, ratings.rater, ratings.met, np.where(ratings.verdict < 2, ratings.verdict, NO_ANSWER),
            case=ratings.case,
            n_annotators=ratings.n_raters, n_cases=cases, minimum=3, rule=rule,
        ),
        "rater_rest": rater_rest(ratings.item, ratings.rater, ratings.met, n_pairs=items, n_raters=ratings.n_raters),
    }  # fmt: skip
    if ratings.n_raters:
        shape = (cases, ratings.n_raters)
        by_rater = ConfusionCounts(*(cell.reshape(shape) for cell in (each.tp, each.fp, each.fn, each.tn)))
        figures["physicians"] = meta_evaluation(by_rater, rule=rule)
    return figures


def _scores(ratings: Table, rule: IntervalRule) -> dict[str, Any]:
    """Items as criteria of one response to each case, decided by A; and as responses, decided by all and the judge."""
    cases = ratings.n_cases
    item, a, _verdict = _against_a(ratings)
    case = ratings.case[item]
    unique_cases, place = np.unique(case, return_inverse=True)
    hits, present = (
        np.bincount(place, weights=w, minlength=len(unique_cases)).astype(int) for w in (a, np.ones(len(a)))
    )
    position = item - np.searchsorted(ratings.case, case) if len(item) else item
    labels, counts = (
        np.bincount(ratings.item, weights=w, minlength=len(ratings.case))
        for w in (ratings.met, np.ones(len(ratings.met)))
    )
    graded = np.where(counts > 0, labels / np.maximum(counts, 1), np.nan)
    (powered,) = prediction_powered(
        case_sums(case=ratings.case, n_cases=cases, prediction=(ratings.verdict == 1) * 1.0, label=graded), clip=(0, 1)
    )
    plans: dict[str, Figure] = {
        "detectable.se": detectable_from_standard_error(0.1, len(unique_cases), 20, effective=len(unique_cases))
    }
    spread = float(np.std(hits / present, ddof=1)) if len(unique_cases) > 1 else 0.0
    plans["detectable"] = detectable_mean_difference(spread, len(unique_cases), 20)
    if powered.label_variance is not None and powered.residual_variance is not None:
        pilot = Pilot(powered.label_variance, powered.residual_variance, powered.n_labelled_cases, powered.n_cases)
        plans |= {f"budget.{how}": cases_needed(pilot, 0.2, with_judge=how == "judge") for how in ("judge", "alone")}
    return {
        "cacs": cacs_at_k(hits, present, K),
        "pass": pass_at_k(hits, present, K),
        "accuracy": rubric_accuracy(hits, present),
        "calibration": calibrate(hits, present, case=unique_cases, rule=rule),
        "worst": worst_at_k(case, a, K).figure,
        "ratio": ratio_figures(
            sums_by_case(a, case, cases), sums_by_case(np.ones(len(a)), case, cases), rule=rule
        ),
        "item_rest": item_rest(
            place, position, a * (1 - 2 * (position % 2)), 1 - position % 2,
            n_units=len(unique_cases), n_items=int(position.max(initial=-1)) + 1,
        ),
        "length": length_control(item**2, a, item % 2, case),
        "powered": powered,
        "plans": plans,
        "exact_share": exact_proportion(int(a.sum()), len(a)),
        "median": median_figure(hits.tolist()),
    }  # fmt: skip


def _candidates(ratings: Table, rule: IntervalRule) -> dict[str, Any]:
    """Raters in the place of candidates: what each called met in each case."""
    cases = ratings.n_cases
    case, size = ratings.case[ratings.item], (ratings.n_raters, cases)
    hits, present = (
        np.bincount(ratings.rater * cases + case, weights=w, minlength=ratings.n_raters * cases)
        .reshape(size)
        .astype(int)
        for w in (ratings.met, np.ones(len(ratings.met)))
    )
    names = [chr(ord("A") + place) for place in range(ratings.n_raters)]
    by_name = {
        name: (hits[i][present[i] > 0], present[i][present[i] > 0], np.flatnonzero(present[i]))
        for i, name in enumerate(names)
    }
    rows = sensitivity({name: column[:2] for name, column in by_name.items()}, K, 1)
    rated = present.sum(axis=1) > 0
    verdicts = np.array(
        [(ratings.verdict[ratings.item[ratings.rater == i]] == 1).sum() for i in range(ratings.n_raters)]
    )
    shares = [met[rated] / present.sum(axis=1)[rated] for met in (hits.sum(axis=1), verdicts)]
    errors = propagate([(name, *column[:2]) for name, column in by_name.items()], ErrorRates(0.9, 0.8), K, draws=20)
    return {
        "sensitivity_to_k": [(row.spearman, row.kendall, row.top3, row.top5, row.values) for row in rows],
        "values": candidate_values(by_name, rows, rule=rule),
        "ranks": rank_agreement(shares[0], shares[1]),
        "rank_range": rule.ranks(case_ratio(hits.T, present.T)),
        "error": errors,
    }


def _validity(ratings: Table, rule: IntervalRule) -> dict[str, Any]:
    """Items that A labelled as gold points, which the judge and A cover in full, and as pairs with a trial each way."""
    item, a, verdict = _against_a(ratings)
    order = np.argsort(item, kind="stable")
    a, verdict, case, cases = a[order], verdict[order], ratings.case[item[order]], ratings.n_cases
    member = np.ones((len(a), 1), dtype=bool)
    extent = np.array([Extent.NONE, Extent.FULL, Extent.INVALID])[verdict]
    own = np.where(a == 1, Extent.FULL, Extent.PARTIAL)
    covered = [covered_in_full(each, unit=case, member=member) for each in (extent, own)]
    pair = np.repeat(np.arange(len(a)), 2)
    unusable = np.where(verdict == 2, np.nan, verdict)
    results = pair_results(
        Trials(
            pair=pair,
            is_reference_first=np.tile([True, False], len(a)),
            reference=np.stack([unusable, a + unusable * 0], axis=1).ravel(),
            candidate=np.stack([a + unusable * 0, a + unusable * 0], axis=1).ravel(),
            stated=np.zeros(2 * len(a), dtype=np.int64),
            has_stated=np.zeros(2 * len(a), dtype=bool),
            points=np.full(2 * len(a), 2.0),
        ),
        DecisionRule.SIGN,
        n_pairs=len(a),
        n_due=2,
    )
    ends = np.zeros(len(a)), np.ones(len(a))
    facts = PairFacts(case=case, n_cases=cases, points=np.full(len(a), 2.0), least=ends[0], greatest=ends[1], span=1.0)
    present = np.bincount(case, minlength=cases)
    before, after = (
        100 * np.bincount(case, weights=hits, minlength=cases)[present > 0] / present[present > 0]
        for hits in (a, verdict == 1)
    )
    return {
        "intent": intent_alignment(
            extent, case=case, n_cases=cases, points=np.arange(len(a)) + 1.0, member=member, rule=rule
        )[0],
        "sets": compare_sets(
            extent == Extent.FULL, own == Extent.FULL, shares=(covered[0], covered[1]), case=case, n_cases=cases,
            member=member, rule=rule, words=OF_JUDGES,
        )[0],
        "trials": trial_figures(results, facts, member=member, rule=rule)[0],
        "gain": gain_figures(before, after, rule=rule),
        "sign_flip": sign_flip_p(own_gains(before, after), seed=1),
    }  # fmt: skip
