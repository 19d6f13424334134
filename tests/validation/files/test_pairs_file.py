"""`pairs_file` as a user calls it: figures by hand, sets beside each other, and bad files refused whole."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from tests.statistics.by_hand import ratio_ends
from tests.validation.files.made_up import lines_of, numbers, pair_rows, refusal, row, rows, run

pytestmark = pytest.mark.slow

EXACT = {"rel": 0, "abs": 1e-9}
COMMAND = "pairs_file"
SWAPPED = {"ref": "cand", "cand": "ref", "same": "same", "": ""}


@pytest.mark.parametrize("rule", ["sign", "stated"])
def test_the_worked_example(tmp_path: Path, rule: str) -> None:
    printed = run(COMMAND, tmp_path, lines_of(pair_rows()), rule=rule, self_consistency=True)
    (own,) = rows(tmp_path, "pairs")
    assert ",".join(own) == (
        "set,slice,rule,n_pairs,win,tie,loss,win_low,win_high,mean_delta,delta_low,delta_high,mean_delta_100,"
        "auroc_paired,auroc_paired_low,auroc_paired_high,auroc_pooled,auroc_self,position_effect,order_consistent,"
        "n_undecided,endpoint_kind,note"
    )
    assert (own["set"], own["slice"], own["rule"], own["n_pairs"]) == ("", "all", rule, "7")
    expected = {
        "win": 2 / 7, "tie": 4 / 7, "loss": 1 / 7, "mean_delta": 19 / 21, "auroc_paired": 4.5 / 7,
        "auroc_pooled": 30 / 49, "auroc_self": 0.8, "position_effect": 22 / 21, "order_consistent": 4 / 7,
    }  # fmt: skip
    assert numbers(own, *expected) == pytest.approx(list(expected.values()), **EXACT)
    assert (own["n_undecided"], own["endpoint_kind"], own["mean_delta_100"]) == ("0", "", "")
    assert "mean_delta_100: not every pair has points_abs" in own["note"]
    assert "auroc_pooled: on raw totals" in own["note"]
    assert "every pair is treated as a case" in own["note"]
    for value, low, high in (
        ("win", "win_low", "win_high"),
        ("mean_delta", "delta_low", "delta_high"),
        ("auroc_paired", "auroc_paired_low", "auroc_paired_high"),
    ):
        assert float(own[low]) < float(own[value]) < float(own[high])
    # Shares of one pair a case, 2 of 7 by mid-p: the ends halve the tails of the binomial, as SciPy has it.
    from scipy.stats import binom

    low, high = numbers(own, "win_low", "win_high")
    assert binom.sf(2, 7, low) + binom.pmf(2, 7, low) / 2 == pytest.approx(0.025, abs=1e-6)
    assert binom.cdf(2, 7, high) - binom.pmf(2, 7, high) / 2 == pytest.approx(0.025, abs=1e-6)
    assert "auroc_self" in printed and "0.800000" in printed


def test_self_consistency_is_shown_on_request_alone(tmp_path: Path) -> None:
    printed = run(COMMAND, tmp_path, lines_of(pair_rows()))
    assert row(tmp_path, "pairs")["auroc_self"] == "" and "auroc_self" not in printed


def test_points_give_deltas_by_a_hundred_ranges_and_margins(tmp_path: Path) -> None:
    # P4 is worth 16 points from -4 to 12, all others 10 from 0 to 10.
    of_p4 = {"points_abs": 16, "points_min": -4, "points_max": 12}
    of_others = {"points_abs": 10, "points_min": 0, "points_max": 10}
    lines = lines_of([own | (of_p4 if own["pair"] == "P4" else of_others) for own in pair_rows()])
    run(COMMAND, tmp_path, lines, rule="margin", margin=0.1)
    own = row(tmp_path, "pairs")
    # 100 · Δ / Σ|p|: 55/3, 10/3, -10, 25, 0, 40/3, -5/3.
    assert float(own["mean_delta_100"]) == pytest.approx((55 / 3 + 10 / 3 - 10 + 25 + 40 / 3 - 5 / 3) / 7, **EXACT)
    # Sums of six totals, of 60 at most; P4 has 7 and 3 of -4 to 12: 11/16 and 7/16.
    reference, candidate = [30, 42, 15, 0, 18, 46, 36], [19, 40, 21, 0, 18, 38, 37]
    scaled = [[total / 60 for total in side] for side in (reference, candidate)]
    scaled[0][3], scaled[1][3] = 11 / 16, 7 / 16
    above = sum((a > b) + (a == b) / 2 for a, b in product(*scaled))
    assert float(own["auroc_pooled"]) == pytest.approx(above / 49, **EXACT)
    assert "auroc_pooled" not in own["note"]
    # A tie up to 1 point, of P4 up to 1.6: P2, P3 and P7 differ by less in most trials; P3 has -2 in three of six.
    assert numbers(own, "win", "tie", "loss") == pytest.approx([2 / 7, 5 / 7, 0], **EXACT)
    assert "a trial is a tie up to 0.1 of the points" in own["note"]


def test_the_default_margin_is_two_percent_and_reaches_the_difference_itself(tmp_path: Path) -> None:
    own = {"pair": "P", "order": "ref_first", "trial": 0, "total_ref": 0.4, "total_cand": 0.3, "points_abs": 5}
    other = {**own, "order": "cand_first"}
    run(COMMAND, tmp_path, lines_of([own, other]), rule="margin")  # 0.1 is 0.02 · 5, but for rounding
    assert row(tmp_path, "pairs")["tie"] == "1.0"
    run(COMMAND, tmp_path, lines_of([own | {"total_ref": 0.41}, other | {"total_ref": 0.41}]), rule="margin")
    assert row(tmp_path, "pairs")["win"] == "1.0"


def test_totals_that_differ_by_rounding_alone_are_the_same(tmp_path: Path) -> None:
    totals = [("0.3", "0.2"), ("0.1", "0.2")]  # both sums are 0.4
    lines = [
        {"pair": "P", "order": order, "trial": trial, "total_ref": a, "total_cand": b}
        for order in ("ref_first", "cand_first")
        for trial, (a, b) in enumerate(totals)
    ]
    run(COMMAND, tmp_path, lines_of(lines))
    own = row(tmp_path, "pairs")
    assert (own["mean_delta"], own["auroc_paired"], own["order_consistent"]) == ("0.0", "0.5", "1.0")


def dropped(*gone: tuple[str, str, int], emptied: tuple[tuple[str, str, int], ...] = ()) -> list[dict[str, Any]]:
    """The example without some trials, and with some that have no totals."""
    left = []
    for own in pair_rows():
        place = (own["pair"], own["order"], own["trial"])
        if place in emptied:
            own = {**own, "total_ref": "", "total_cand": "", "stated": ""}
        if place not in gone:
            left.append(own)
    return left


def test_pairs_without_enough_trials_have_no_decision_and_are_counted(tmp_path: Path) -> None:
    first, second = "ref_first", "cand_first"
    # P1 keeps none in one order; P2 two good ones of three due; P3 three good ones, in both orders.
    lines = dropped(
        *(("P1", second, trial) for trial in range(3)),
        *(("P2", second, trial) for trial in (1, 2)),
        ("P3", first, 2),
        emptied=(("P2", first, 0), ("P2", first, 1), ("P3", second, 0), ("P3", second, 1)),
    )
    run(COMMAND, tmp_path, lines_of(lines))
    own = row(tmp_path, "pairs")
    assert (own["n_pairs"], own["n_undecided"]) == ("5", "2")
    # P3 with -2, -2 first and 1 second is a loss with Δ -1; P4 4, P5 0, P6 4/3, P7 -1/6.
    assert numbers(own, "win", "tie", "loss") == pytest.approx([1 / 5, 3 / 5, 1 / 5], **EXACT)
    assert float(own["mean_delta"]) == pytest.approx((-1 + 4 + 0 + 4 / 3 - 1 / 6) / 5, **EXACT)
    assert float(own["position_effect"]) == pytest.approx((-3 + 8 + 0 + (2 - 2 / 3) + 1 / 3) / 5, **EXACT)
    assert "4 unusable trials excluded" in own["note"]
    # With four due, P3 has too few as well; with one, P2 has enough.
    for due, n in ((4, ("4", "3")), (1, ("6", "1"))):
        run(COMMAND, tmp_path, lines_of(lines), trials=due)
        own = row(tmp_path, "pairs")
        assert (own["n_pairs"], own["n_undecided"]) == n


def test_a_trial_that_states_nothing_counts_only_where_totals_decide(tmp_path: Path) -> None:
    lines = [own | {"stated": "" if own["pair"] == "P1" else own["stated"]} for own in pair_rows()]
    run(COMMAND, tmp_path, lines_of(lines))
    assert row(tmp_path, "pairs")["n_pairs"] == "7"
    run(COMMAND, tmp_path, lines_of(lines), rule="stated")
    assert (row(tmp_path, "pairs")["n_pairs"], row(tmp_path, "pairs")["n_undecided"]) == ("6", "1")


def test_no_pair_with_a_decision(tmp_path: Path) -> None:
    lines = [own for own in pair_rows() if own["order"] == "ref_first"]
    run(COMMAND, tmp_path, lines_of(lines), self_consistency=True)
    own = row(tmp_path, "pairs")
    assert (own["n_pairs"], own["n_undecided"]) == ("0", "7")
    for column in ("win", "mean_delta", "mean_delta_100", "auroc_paired", "auroc_pooled", "auroc_self"):
        assert own[column] == ""
    assert "auroc_self, position_effect, order_consistent: no pair with a decision" in own["note"]


def test_self_consistency_with_one_class(tmp_path: Path) -> None:
    lines = [own for own in pair_rows() if own["pair"] in ("P1", "P6")]
    run(COMMAND, tmp_path, lines_of(lines), self_consistency=True)
    own = row(tmp_path, "pairs")
    assert own["auroc_self"] == "" and "auroc_self: all pairs are won, or none is" in own["note"]


def test_slices_of_kinds_and_intervals_over_cases(tmp_path: Path) -> None:
    lines = [
        own | {"case": f"c{int(own['pair'][1]) % 3}", "kind": "dose" if own["pair"] in ("P1", "P3") else "unit"}
        for own in pair_rows()
    ]
    run(COMMAND, tmp_path, lines_of(lines))
    figures = {own["slice"]: own for own in rows(tmp_path, "pairs")}
    assert list(figures) == ["all", "kind:dose", "kind:unit"]
    assert (figures["kind:dose"]["n_pairs"], figures["kind:dose"]["win"]) == ("2", "0.5")
    assert float(figures["kind:dose"]["mean_delta"]) == pytest.approx((11 / 6 - 1) / 2, **EXACT)
    assert "every pair is treated as a case" not in figures["all"]["note"]
    # Three cases with 3, 2 and 2 pairs: 49/17 effective ones.
    assert "2.9 of the 5 effective cases needed" in figures["all"]["note"]


def many(n: int = 24, seed: int = 3) -> list[dict[str, Any]]:
    """Two sets on the same pairs, three pairs to two cases."""
    chance = random.Random(seed)
    return [
        {"set": name, "case": f"c{number * 2 // 3:02}", "pair": f"p{number:02}", "order": order, "trial": trial,
         "total_ref": chance.randint(2, 9), "total_cand": chance.randint(0, 8), "stated": "", "points_abs": 10 + number}
        for name in ("A", "B") for number in range(n) for order in ("ref_first", "cand_first") for trial in range(3)
    ]  # fmt: skip


def by_hand(lines: list[dict[str, Any]]) -> dict[str, dict[str, tuple[int, float, float, str]]]:
    """Decision, Δ, 100·Δ/Σ|p| and case of each pair of each set, one trial at a time."""
    figures: dict[str, dict[str, tuple[int, float, float, str]]] = {}
    for name in sorted({own["set"] for own in lines}):
        figures[name] = {}
        for pair in sorted({own["pair"] for own in lines}):
            trials = [own for own in lines if (own["set"], own["pair"]) == (name, pair)]
            apart = [own["total_ref"] - own["total_cand"] for own in trials]
            votes = [sum((a > 0) - (a < 0) == sign for a in apart) for sign in (-1, 0, 1)]
            most = [sign for sign, n in zip((-1, 0, 1), votes, strict=True) if n == max(votes)]
            delta = sum(apart) / len(apart)
            decision = most[0] if len(most) == 1 else 0
            figures[name][pair] = (decision, delta, 100 * delta / trials[0]["points_abs"], trials[0]["case"])
    return figures


def test_two_sets_on_the_same_pairs(tmp_path: Path) -> None:
    lines = many()
    run(COMMAND, tmp_path, lines_of(lines), interval="percentile", seed=5)
    sets = by_hand(lines)
    (own,) = rows(tmp_path, "pair_comparisons")
    assert [own[name] for name in ("first", "second", "slice", "rule", "n")] == ["A", "B", "all", "sign", "24"]
    pairs = [(sets["A"][pair], sets["B"][pair]) for pair in sets["A"]]
    b = sum(a[0] == 1 and other[0] != 1 for a, other in pairs)
    c = sum(a[0] != 1 and other[0] == 1 for a, other in pairs)
    assert (int(own["b"]), int(own["c"])) == (b, c)
    assert float(own["difference"]) == pytest.approx((b - c) / 24, **EXACT)
    cases = sorted({a[3] for a, _ in pairs})
    d = [sum((a[0] == 1) - (other[0] == 1) for a, other in pairs if a[3] == case) for case in cases]
    k = len(cases)
    assert float(own["chi2_clustered"]) == pytest.approx((k - 1) / k * sum(d) ** 2 / sum(x * x for x in d), **EXACT)
    # Percentile intervals of the differences, by plain NumPy.
    drawn = np.random.Generator(np.random.PCG64(5)).integers(k, size=(1000, k), dtype=np.int32)
    size = np.array([sum(a[3] == case for a, _ in pairs) for case in cases])

    def ends(value: Any) -> list[float]:
        sums = np.array([sum(value(a) - value(other) for a, other in pairs if a[3] == case) for case in cases])
        return np.quantile(sums[drawn].sum(axis=1) / size[drawn].sum(axis=1), [0.025, 0.975]).tolist()

    for name, value in (
        ("difference_100", lambda pair: pair[2]),
        ("difference_auroc", lambda pair: ((pair[1] > 0) - (pair[1] < 0)) / 2),
    ):
        point = sum(value(a) - value(other) for a, other in pairs) / 24
        assert float(own[name]) == pytest.approx(point, **EXACT)
        assert numbers(own, f"{name}_low", f"{name}_high") == pytest.approx(ends(value), **EXACT)
    assert numbers(own, "low", "high") == pytest.approx(ends(lambda pair: (pair[0] == 1 and 1) or 0), **EXACT)
    # The same of a set alone.
    alone = row(tmp_path, "pairs", set="A")
    sums = np.array([sum(a[1] for a, _ in pairs if a[3] == case) for case in cases])
    quantiles = np.quantile(sums[drawn].sum(axis=1) / size[drawn].sum(axis=1), [0.025, 0.975])
    assert numbers(alone, "delta_low", "delta_high") == pytest.approx(quantiles, **EXACT)


def test_intervals_of_the_default_rule_by_hand(tmp_path: Path) -> None:
    lines = many()
    run(COMMAND, tmp_path, lines_of(lines))
    pairs = list(by_hand(lines)["A"].values())
    cases = sorted({case for *_, case in pairs})
    size = [sum(own[3] == case for own in pairs) for case in cases]
    # Σ|points| are 10 to 33, 21.5 on average.
    for columns, value, low, high in (
        (("win_low", "win_high"), lambda own: own[0] == 1, 0, 1),
        (("delta_low", "delta_high"), lambda own: own[1], -21.5, 21.5),
        (("auroc_paired_low", "auroc_paired_high"), lambda own: (own[1] > 0) + (own[1] == 0) / 2, 0, 1),
    ):
        sums = [sum(value(own) for own in pairs if own[3] == case) for case in cases]
        expected = ratio_ends(sums, size, low, high)
        assert numbers(row(tmp_path, "pairs", set="A"), *columns) == pytest.approx(expected, **EXACT)


def test_sets_are_compared_on_the_pairs_that_both_decide(tmp_path: Path) -> None:
    # Set B has trials of p00 in one order alone, and none of p02.
    lines = [own for own in many() if (own["set"], own["pair"], own["order"]) != ("B", "p00", "cand_first")]
    lines = [own for own in lines if (own["set"], own["pair"]) != ("B", "p02")]
    lines = [own | {"points_abs": ""} if own["pair"] == "p01" else own for own in lines]
    run(COMMAND, tmp_path, lines_of(lines))
    (own,) = rows(tmp_path, "pair_comparisons")
    assert own["n"] == "22" and own["difference_100"] == ""
    assert "difference_100: not every pair has points_abs" in own["note"]
    apart = [own | {"set": "B", "pair": f"q{own['pair']}"} if own["set"] == "B" else own for own in many()]
    run(COMMAND, tmp_path, lines_of(apart))
    (own,) = rows(tmp_path, "pair_comparisons")
    assert (own["n"], own["difference"], own["p_exact"]) == ("0", "", "")
    assert "no pair with a decision by both sets" in own["note"]


@pytest.mark.parametrize("interval", ["jackknife", "percentile"])
def test_the_order_of_rows_changes_no_byte(tmp_path: Path, interval: str) -> None:
    lines = many()
    files = []
    for place, own in enumerate((lines, random.Random(1).sample(lines, len(lines)))):
        folder = tmp_path / str(place)
        folder.mkdir()
        run(COMMAND, folder, lines_of(own), interval=interval, self_consistency=True)
        files.append([(folder / "out" / f"{name}.csv").read_bytes() for name in ("pairs", "pair_comparisons")])
    assert files[0] == files[1]


trials = st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["ref", "cand", "same"]))


@effort(max_examples=25)
@given(pairs=st.lists(st.lists(trials, min_size=2, max_size=6), min_size=1, max_size=12), rule=st.sampled_from(
    ["sign", "margin", "stated"]
))  # fmt: skip
def test_reference_and_candidate_exchanged(tmp_path_factory: pytest.TempPathFactory, pairs, rule) -> None:  # type: ignore[no-untyped-def]
    lines = [
        {"pair": f"p{number:02}", "order": ("ref_first", "cand_first")[place % 2], "trial": place // 2,
         "total_ref": reference, "total_cand": candidate, "stated": stated, "points_abs": 9}
        for number, own in enumerate(pairs) for place, (reference, candidate, stated) in enumerate(own)
    ]  # fmt: skip
    turned = [
        own | {"total_ref": own["total_cand"], "total_cand": own["total_ref"], "stated": SWAPPED[own["stated"]]}
        for own in lines
    ]
    folders = [tmp_path_factory.mktemp("pairs") for _ in range(2)]
    for folder, own in zip(folders, (lines, turned), strict=True):
        run(COMMAND, folder, lines_of(own), rule=rule)
    here, other = (row(folder, "pairs") for folder in folders)
    assert (here["n_pairs"], here["tie"], here["order_consistent"]) == (
        other["n_pairs"], other["tie"], other["order_consistent"],
    )  # fmt: skip
    if here["n_pairs"] == "0":
        return
    assert (here["win"], here["loss"]) == (other["loss"], other["win"])
    assert sum(numbers(here, "win", "tie", "loss")) == pytest.approx(1)
    for column in ("mean_delta", "mean_delta_100", "position_effect"):
        assert float(here[column]) == -float(other[column])
    for column in ("auroc_paired", "auroc_pooled"):
        assert float(here[column]) == pytest.approx(1 - float(other[column]), **EXACT)
    if here["delta_low"]:
        turned_ends = [-end for end in numbers(other, "delta_high", "delta_low")]
        assert numbers(here, "delta_low", "delta_high") == pytest.approx(turned_ends, abs=1e-9)


HEADER = "set,case,pair,order,trial,total_ref,total_cand,stated,kind,points_abs,points_min,points_max"
GOOD = "A,c1,p1,ref_first,0,5,3,ref,dose,10,0,10"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "file: The file is empty."),
        ([HEADER], "file: There are no rows below the header."),
        (
            ["pair,order,total_ref,total_cand,stated", "p,ref_first,1,1,"],
            "line 1, trial: This column is not in the header.",
        ),
        ([HEADER, GOOD, GOOD], "line 3, trial: This trial is already on line 2."),
        ([HEADER, GOOD.replace("A,", "all,")], "line 2, set: “all” is reserved for everything"),
        ([HEADER, GOOD.replace("A,", ",")], "line 2, set: This must not be empty."),
        ([HEADER, GOOD.replace("ref_first", "first")], "line 2, order: “first” is not one of: ref_first, cand_first."),
        ([HEADER, GOOD.replace(",0,5", ",-1,5")], "line 2, trial: “-1” is not a whole number"),
        ([HEADER, GOOD.replace(",0,5", ",0.0,5")], "line 2, trial: “0.0” is not a whole number"),
        ([HEADER, GOOD.replace(",0,5", ",,5")], "line 2, trial: This must not be empty."),
        ([HEADER, GOOD.replace(",5,3", ",inf,3")], "line 2, total_ref: “inf” is not a number."),
        ([HEADER, GOOD.replace(",5,3", ",5,")], "line 2, total_cand: Give both totals of a trial, or neither."),
        ([HEADER, GOOD.replace(",ref,", ",win,")], "line 2, stated: “win” is not one of: ref, cand, same."),
        ([HEADER, GOOD.replace(",10,0,", ",0,0,")], "line 2, points_abs: This must be above 0."),
        (
            [HEADER, GOOD.replace(",10,0,", ",1,0,")],
            "line 2, points_abs: The difference between the totals exceeds the sum of all points",
        ),
        (
            [HEADER, GOOD.replace(",0,10", ",4,10")],
            "line 2, total_cand: This value is outside the range from points_min to points_max.",
        ),
        ([HEADER, GOOD.replace(",0,10", ",,10")], "line 2, points_min: Give both ends of a range, or neither."),
        ([HEADER, GOOD.replace(",0,10", ",9,9")], "line 2, points_max: This must be above points_min."),
        (
            [HEADER, GOOD, GOOD.replace("c1", "c2").replace("ref_first", "cand_first")],
            "line 3, case: The pair has a different value on line 2.",
        ),
        (
            [HEADER, GOOD, GOOD.replace("A,c1", "B,c2")],
            "line 3, case: The pair has a different value on line 2.",
        ),
        (
            [HEADER, GOOD, GOOD.replace(",0,5", ",1,5").replace("dose", "unit")],
            "line 3, kind: The pair has a different",
        ),
        ([HEADER, GOOD, GOOD.replace(",0,5", ",1,5").replace(",10,0", ",11,0")], "line 3, points_abs: The pair has"),
    ],
)
def test_a_broken_file_is_refused_by_line_and_field(tmp_path: Path, lines: list[str], expected: str) -> None:
    message = refusal(COMMAND, tmp_path, lines)
    assert expected in message and "nothing was written" in message


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    lines = lines_of(pair_rows())
    assert "line 1, points_abs: This column is not in the header." in refusal(COMMAND, tmp_path, lines, rule="margin")
    assert "--margin is for --rule margin" in refusal(COMMAND, tmp_path, lines, margin=0.1)
    assert "--margin must be" in refusal(COMMAND, tmp_path, lines, rule="margin", margin=float("nan"))
    assert "--trials must be 1 or more" in refusal(COMMAND, tmp_path, lines, trials=0)
    unstated = [{name: cell for name, cell in own.items() if name != "stated"} for own in pair_rows()]
    assert "line 1, stated: This column is not in the header." in refusal(
        COMMAND, tmp_path, lines_of(unstated), rule="stated"
    )
    printed = run(COMMAND, tmp_path, lines_of([own | {"judge": "J"} for own in unstated]))
    assert "Columns that were not read: judge" in printed
