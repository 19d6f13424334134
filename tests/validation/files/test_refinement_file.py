"""`refinement_file` as a user calls it: figures by hand, and bad files refused whole."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from tests.statistics.by_hand import ratio_ends
from tests.validation.files.made_up import BASE, REFINED, numbers, refinement_lines, refusal, row, rows, run

pytestmark = pytest.mark.slow

EXACT = {"rel": 0, "abs": 1e-9}
COMMAND = "refinement_file"


def test_the_worked_example(tmp_path: Path) -> None:
    printed = run(COMMAND, tmp_path, refinement_lines())
    (own,) = rows(tmp_path, "refinement")
    assert ",".join(own) == (
        "arm,slice,n,base,refined,gain,gain_low,gain_high,relative,headroom,relative_of_cases,n_relative,"
        "of_upper_bound,improved,same,worse,p_sign_flip,length_ratio,new_numbers,endpoint_kind,note"
    )
    expected = {
        "n": 12, "base": 54.5, "refined": 62.5, "gain": 8, "relative": 0.146788990826, "headroom": 0.175824175824,
        "relative_of_cases": 0.154549648647, "n_relative": 11, "improved": 9, "same": 1, "worse": 2,
        "p_sign_flip": 0.0078125,
    }  # fmt: skip
    assert numbers(own, *expected) == pytest.approx(list(expected.values()), **EXACT)
    assert float(own["gain_low"]) < 8 < float(own["gain_high"])
    assert (own["arm"], own["slice"]) == ("", "all")
    assert own["of_upper_bound"] == own["length_ratio"] == own["new_numbers"] == own["endpoint_kind"] == ""
    assert own["note"] == (
        "of_upper_bound: no arm “gold” as upper bound; length_ratio: no case with both lengths; "
        "new_numbers: the file does not contain texts"
    )
    assert "0.146789" in printed


def test_the_percentile_bootstrap_is_that_of_plain_numpy(tmp_path: Path) -> None:
    run(COMMAND, tmp_path, refinement_lines(), interval="percentile", seed=2)
    order = sorted(range(12), key=lambda number: f"c{number}")
    gains = np.array([REFINED[number] - BASE[number] for number in order])
    drawn = np.random.Generator(np.random.PCG64(2)).integers(12, size=(1000, 12), dtype=np.int32)
    ends = np.quantile(gains[drawn].mean(axis=1), [0.025, 0.975])
    assert numbers(row(tmp_path, "refinement"), "gain_low", "gain_high") == pytest.approx(ends, **EXACT)


def test_the_interval_of_the_default_rule_by_hand(tmp_path: Path) -> None:
    gains = [after - before for before, after in zip(BASE, REFINED, strict=True)]
    run(COMMAND, tmp_path, refinement_lines())
    expected = ratio_ends(gains, [1] * 12, -100, 100)
    assert numbers(row(tmp_path, "refinement"), "gain_low", "gain_high") == pytest.approx(expected, **EXACT)
    # With a score of -20 the gain may be from -120 to 120.
    run(COMMAND, tmp_path, [*refinement_lines(), "c12,-20,10"])
    expected = ratio_ends([*gains, 30], [1] * 13, -120, 120)
    assert numbers(row(tmp_path, "refinement"), "gain_low", "gain_high") == pytest.approx(expected, **EXACT)


ARMS = [
    "arm,case,base,refined,length_base,length_refined,tag",
    "guided,c1,40,60,100,150,heart",
    "guided,c2,50,55,200,150,lung",
    "guided,c3,30,,100,100,lung",
    "gold,c1,40,70,100,300,heart",
    "gold,c2,50,60,,100,lung",
    "gold,c4,20,90,100,100,",
]


def test_arms_lengths_and_the_upper_bound(tmp_path: Path) -> None:
    run(COMMAND, tmp_path, ARMS)
    sizes = [(own["arm"], own["slice"], own["n"]) for own in rows(tmp_path, "refinement")]
    assert sizes == [
        ("gold", "all", "3"), ("gold", "tag:heart", "1"), ("gold", "tag:lung", "1"),
        ("guided", "all", "2"), ("guided", "tag:heart", "1"), ("guided", "tag:lung", "1"),
    ]  # fmt: skip
    own = row(tmp_path, "refinement", arm="guided", slice="all")
    # Gains 20 and 5 where the upper bound has 30 and 10; lengths 300 of 300.
    assert numbers(own, "gain", "of_upper_bound", "length_ratio") == pytest.approx([12.5, 25 / 40, 1], **EXACT)
    assert "1 case excluded: a score is missing" in own["note"]
    gold = row(tmp_path, "refinement", arm="gold", slice="all")
    assert numbers(gold, "of_upper_bound", "length_ratio") == pytest.approx([1, 2], **EXACT)
    assert "length_ratio: over the 2 cases with both lengths" in gold["note"]
    run(COMMAND, tmp_path, ARMS, upper_bound="guided")
    gold = row(tmp_path, "refinement", arm="gold", slice="all")
    assert float(gold["of_upper_bound"]) == pytest.approx(40 / 25, **EXACT)


def test_what_is_undefined_has_its_reason(tmp_path: Path) -> None:
    lines = [
        "arm,case,base,refined",
        "gold,c1,0,0",
        "gold,c2,0,-10",
        "none,c1,50,",
        "none,c9,,60",
        "top,c7,100,90",
    ]
    run(COMMAND, tmp_path, lines)
    gold, none, top = rows(tmp_path, "refinement")
    assert (gold["relative"], gold["relative_of_cases"], gold["n_relative"]) == ("", "", "0")
    assert "relative: the mean base score is not above 0" in gold["note"]
    assert "relative_of_cases: no case with a base score above 0" in gold["note"]
    assert "of_upper_bound: the upper bound does not gain" in gold["note"]
    assert (none["n"], none["gain"], none["p_sign_flip"]) == ("0", "", "")
    assert "p_sign_flip" in none["note"] and "no case with both scores" in none["note"]
    assert "2 cases excluded: a score is missing" in none["note"]
    assert top["headroom"] == "" and "headroom: the mean base score is 100" in top["note"]
    assert "of_upper_bound: no case that the upper bound has too" in top["note"]
    assert "gain: no interval: 1.0 of the 5 effective cases needed" in top["note"]


def test_more_than_twenty_cases_draw_signs_by_the_seed(tmp_path: Path) -> None:
    chance = random.Random(4)
    lines = [f"c{number:02},{chance.randint(30, 70)},{chance.randint(32, 75)}" for number in range(30)]
    values = []
    for seed, own in ((1, lines), (1, random.Random(0).sample(lines, 30)), (2, lines)):
        run(COMMAND, tmp_path, ["case,base,refined", *own], seed=seed)
        values.append((tmp_path / "out" / "refinement.csv").read_bytes())
    assert values[0] == values[1] != values[2]
    own = row(tmp_path, "refinement")
    assert "p_sign_flip: by 100000 drawn patterns of signs" in own["note"]
    # The exact p, from all sums of 30 whole numbers.
    gains = [int(line.split(",")[2]) - int(line.split(",")[1]) for line in lines]
    ways = {0: 1}
    for gain in gains:
        counted: dict[int, int] = {}
        for total, n in ways.items():
            for sign in (1, -1):
                counted[total + sign * gain] = counted.get(total + sign * gain, 0) + n
        ways = counted
    exact = sum(n for total, n in ways.items() if abs(total) >= abs(sum(gains))) / 2**30
    assert float(own["p_sign_flip"]) == pytest.approx(exact, abs=4 * (exact / 100_000) ** 0.5 + 2e-5)


scores = st.integers(-20, 100)


@effort(max_examples=30)
@given(pairs=st.lists(st.tuples(scores, scores), min_size=1, max_size=15), order=st.randoms(use_true_random=False))
def test_before_and_after_exchanged(tmp_path_factory: pytest.TempPathFactory, pairs, order) -> None:  # type: ignore[no-untyped-def]
    lines = [(f"c{number}", base, refined) for number, (base, refined) in enumerate(pairs)]
    turned = [(case, refined, base) for case, base, refined in lines]
    folders = [tmp_path_factory.mktemp("refinement") for _ in range(3)]
    for folder, own in zip(folders, (lines, turned, order.sample(lines, len(lines))), strict=True):
        run(COMMAND, folder, ["case,base,refined", *(",".join(map(str, cells)) for cells in own)])
    here, other = (row(folder, "refinement") for folder in folders[:2])
    assert float(here["gain"]) == -float(other["gain"])
    assert (here["improved"], here["same"], here["worse"]) == (other["worse"], other["same"], other["improved"])
    assert here["p_sign_flip"] == other["p_sign_flip"]
    first, _, shuffled = ((folder / "out" / "refinement.csv").read_bytes() for folder in folders)
    assert first == shuffled


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "file: The file is empty."),
        (["case,base,refined"], "file: There are no rows below the header."),
        (["case,base", "c1,4"], "line 1, refined: This column is not in the header."),
        (["case,base,refined", "c1,4,5", "c1,4,5"], "line 3, case: This case is already on line 2."),
        (["case,base,refined", "c1,4,NaN"], "line 2, refined: “NaN” is not a number."),
        (["case,base,refined", "c1,4,-inf"], "line 2, refined: “-inf” is not a number."),
        (["case,base,refined", "c1,4,101"], "line 2, refined: A score cannot exceed 100."),
        (["case,base,refined,arm", "c1,4,5,All"], "line 2, arm: “All” is reserved for everything"),
        (["case,base,refined,arm", "c1,4,5,"], "line 2, arm: This must not be empty."),
        (["case,base,refined,length_base", "c1,4,5,-1"], "line 2, length_base: A length cannot be negative."),
    ],
)
def test_a_broken_file_is_refused_by_line_and_field(tmp_path: Path, lines: list[str], expected: str) -> None:
    message = refusal(COMMAND, tmp_path, lines)
    assert expected in message and "nothing was written" in message


def test_a_missing_column_is_the_only_fault_of_its_file(tmp_path: Path) -> None:
    message = refusal(COMMAND, tmp_path, ["case,base", ",x", "c1,4"])
    assert message.splitlines()[1:] == ["line 1, refined: This column is not in the header."]


def test_an_upper_bound_that_is_no_arm(tmp_path: Path) -> None:
    assert "the file has no arm “best”" in refusal(COMMAND, tmp_path, ARMS, upper_bound="best")
