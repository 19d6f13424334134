"""`coverage_file` as a user calls it: figures by hand, intervals by plain NumPy, and bad files refused whole."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.core.management import CommandError
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from tests.statistics.by_hand import difference_ends, less_mean, ratio_ends, ratio_without
from tests.validation.files.made_up import coverage_lines, numbers, refusal, row, rows, run

pytestmark = pytest.mark.slow

EXACT = {"rel": 0, "abs": 1e-9}
COMMAND = "coverage_file"


def test_the_worked_example(tmp_path: Path) -> None:
    printed = run(COMMAND, tmp_path, coverage_lines())
    a, b = rows(tmp_path, "coverage")
    assert ",".join(a) == (
        "set,slice,n_points,n_cases,cia,cia_low,cia_high,cia_partly,cia_mean_of_cases,cia_weighted,cia_valid,precision,"
        "precision_sound,f1,n_invalid,n_missing,endpoint_kind,note"
    )
    for own, name in ((a, "A"), (b, "B")):
        assert (own["set"], own["slice"], own["n_points"], own["n_cases"]) == (name, "all", "25", "12")
        assert own["endpoint_kind"] == own["precision"] == own["precision_sound"] == own["f1"] == ""
        assert own["note"] == "precision, precision_sound, f1: the file does not contain the criteria of the set"
        assert float(own["cia_low"]) < float(own["cia"]) < float(own["cia_high"])
    columns = ("cia", "cia_partly", "cia_mean_of_cases", "cia_weighted", "cia_valid", "n_invalid", "n_missing")
    assert numbers(a, *columns) == pytest.approx([0.68, 0.76, 17 / 24, 0.68, 17 / 24, 1, 0], **EXACT)
    assert numbers(b, *columns) == pytest.approx([0.48, 0.60, 17 / 36, 0.48, 0.48, 0, 0], **EXACT)

    (own,) = rows(tmp_path, "comparisons")
    assert ",".join(own) == (
        "first,second,slice,n,b,c,difference,low,high,chi2_clustered,p_clustered,chi2_edwards,p_edwards,p_exact,p_mid,"
        "note"
    )
    assert ",".join(list(own.values())[:6]) == "A,B,all,25,8,3"
    assert own["note"] == ""
    columns = ("difference", "chi2_clustered", "p_clustered", "chi2_edwards", "p_edwards", "p_exact", "p_mid")
    expected = [0.2, 2.546296296296, 0.110553142556, 16 / 11, 0.227799993988, 0.2265625, 0.14599609375]
    assert numbers(own, *columns) == pytest.approx(expected, **EXACT)
    assert float(own["low"]) < 0.2 < float(own["high"])
    assert "0.680000" in printed and "jackknife over cases" in printed


def test_points_weigh_and_one_case_has_no_interval(tmp_path: Path) -> None:
    # Eight gold points of one case: five in full, one partly. 10 + 5 + 7 + 8 + 3 of 45.
    points = (10, 5, 7, -8, 3, 6, -4, 2)
    extents = ("full",) * 5 + ("partial", "none", "none")
    lines = [f"c,g{i},{own},{extent}" for i, (own, extent) in enumerate(zip(points, extents, strict=True))]
    run(COMMAND, tmp_path, ["case,gold,points,drafted", *lines])
    (own,) = rows(tmp_path, "coverage")
    columns = ("cia", "cia_partly", "cia_mean_of_cases", "cia_weighted", "cia_valid")
    assert numbers(own, *columns) == pytest.approx([5 / 8, 3 / 4, 5 / 8, 33 / 45, 5 / 8], **EXACT)
    assert own["cia_low"] == own["cia_high"] == ""
    assert "cia: no interval: 1.0 of the 5 effective cases needed" in own["note"]
    assert rows(tmp_path, "comparisons") == []


def test_slices_in_their_columns(tmp_path: Path) -> None:
    lines = [
        "case,gold,points,axis,sign,tag,A",
        "c1,g1,5,safety,positive,heart,full",
        "c1,g2,-5,safety,negative,,none",
        "c2,g1,2,tone,positive,heart,invalid",
        "c2,g2,,tone,,,",
    ]
    run(COMMAND, tmp_path, lines)
    assert [(own["slice"], own["n_points"], own["cia"]) for own in rows(tmp_path, "coverage")] == [
        ("all", "4", "0.25"),
        ("axis:safety", "2", "0.5"),
        ("axis:tone", "2", "0.0"),
        ("sign:negative", "1", "0.0"),
        ("sign:positive", "2", "0.5"),
        ("tag:heart", "2", "0.5"),
    ]
    tone = row(tmp_path, "coverage", slice="axis:tone")
    assert (tone["n_invalid"], tone["n_missing"], tone["cia_valid"], tone["cia_weighted"]) == ("1", "1", "", "")
    assert "cia_weighted: not every gold point has points" in tone["note"]
    assert "cia_valid: no valid answer on any gold point" in tone["note"]
    assert float(row(tmp_path, "coverage", slice="sign:positive")["cia_weighted"]) == pytest.approx(5 / 7)


@pytest.mark.parametrize("over", ["cases", "points"])
def test_the_percentile_bootstrap_is_that_of_plain_numpy(tmp_path: Path, over: str) -> None:
    run(COMMAND, tmp_path, coverage_lines(), interval="percentile", seed=7, over=over)
    case, full = [], []
    for line in sorted(coverage_lines()[1:]):
        cells = line.split(",")
        case.append(cells[0])
        full.append([cells[3] == "full", cells[4] == "full"])
    covered = np.array(full, dtype=float)
    units = case if over == "cases" else [str(number).zfill(2) for number in range(len(case))]
    names = sorted(set(units))
    member = np.array([[unit == name for unit in units] for name in names], dtype=float)
    due, by_unit = member.sum(axis=1), member @ covered
    drawn = np.random.Generator(np.random.PCG64(7)).integers(len(names), size=(1000, len(names)), dtype=np.int32)
    shares = by_unit[drawn].sum(axis=1) / due[drawn].sum(axis=1)[:, None]
    ends = np.quantile(shares, [0.025, 0.975], axis=0)
    for place, name in enumerate("AB"):
        own = row(tmp_path, "coverage", set=name)
        assert numbers(own, "cia_low", "cia_high") == pytest.approx(ends[:, place], **EXACT)
        assert ("over gold points" in own["note"]) is (over == "points")
    apart = np.quantile(shares[:, 0] - shares[:, 1], [0.025, 0.975])
    (own,) = rows(tmp_path, "comparisons")
    assert numbers(own, "low", "high") == pytest.approx(apart, **EXACT)
    assert float(own["chi2_clustered"]) == pytest.approx(2.546296296296, **EXACT)  # always over cases


def test_intervals_of_the_default_rule_by_hand(tmp_path: Path) -> None:
    run(COMMAND, tmp_path, coverage_lines())
    due = [3, 2, 3, 1, 2, 3, 2, 2, 2, 1, 2, 2]
    full = ([2, 2, 2, 1, 1, 2, 2, 0, 2, 1, 1, 1], [1, 1, 2, 1, 0, 2, 1, 1, 1, 0, 2, 0])
    sides = []
    for own, name in zip(full, "AB", strict=True):
        ends = ratio_ends(own, due)
        assert numbers(row(tmp_path, "coverage", set=name), "cia_low", "cia_high") == pytest.approx(ends, **EXACT)
        sides.append((sum(own) / sum(due), *ends))
    deviations = zip(*(less_mean(ratio_without(own, due)) for own in full), strict=True)
    (own,) = rows(tmp_path, "comparisons")
    expected = difference_ends(sides[0], sides[1], list(deviations))
    assert numbers(own, "low", "high") == pytest.approx(expected, **EXACT)


def test_fewer_than_ten_cases_have_no_clustered_test(tmp_path: Path) -> None:
    run(COMMAND, tmp_path, coverage_lines(" · ".join(f"{n} fn ff nf" for n in range(9))))
    (own,) = rows(tmp_path, "comparisons")
    assert own["chi2_clustered"] == own["p_clustered"] == ""
    assert "chi2_clustered, p_clustered: no test: 9 of the 10 cases needed" in own["note"]
    assert float(own["p_exact"]) == 1


def test_sets_that_do_not_differ(tmp_path: Path) -> None:
    """A set beside itself: no difference, and no discordant gold point to test."""
    run(COMMAND, tmp_path, coverage_lines(" · ".join(f"{n} ff nn" for n in range(12))))
    (own,) = rows(tmp_path, "comparisons")
    assert (own["difference"], own["b"], own["c"]) == ("0.0", "0", "0")
    assert own["p_exact"] == own["p_mid"] == own["p_clustered"] == own["chi2_edwards"] == ""
    assert "p_mid: no gold point that one set alone covers in full" in own["note"]


def test_a_gold_set_against_itself_is_covered_in_full(tmp_path: Path) -> None:
    run(COMMAND, tmp_path, coverage_lines(" · ".join(f"{n} ff ff" for n in range(12))))
    own = row(tmp_path, "coverage", set="A")
    assert numbers(own, "cia", "cia_partly", "cia_mean_of_cases", "cia_weighted", "cia_valid") == [1] * 5
    # 24 points of 12 equal cases, none missed: 12 cases of 12 by mid-p, 0.05^(1/12).
    assert numbers(own, "cia_low", "cia_high") == pytest.approx([0.05 ** (1 / 12), 1], **EXACT)


@pytest.mark.parametrize("over", ["cases", "points"])
def test_the_order_of_rows_changes_no_byte(tmp_path: Path, over: str) -> None:
    header, *lines = coverage_lines()
    lines = [line.replace(",1,", f",{number / 7},") for number, line in enumerate(lines, start=1)]
    files = []
    for place, own in enumerate((lines, random.Random(3).sample(lines, len(lines)))):
        folder = tmp_path / str(place)
        folder.mkdir()
        run(COMMAND, folder, [header, *own], interval="percentile", over=over)
        files.append([(folder / "out" / f"{name}.csv").read_bytes() for name in ("coverage", "comparisons")])
    assert files[0] == files[1]


@effort(max_examples=25)
@given(
    points=st.lists(st.tuples(st.integers(0, 11), *[st.sampled_from("fpni-")] * 2), min_size=1, max_size=40),
    order=st.randoms(use_true_random=False),
)
def test_whatever_a_file_says_its_counts_add_up(tmp_path_factory: pytest.TempPathFactory, points, order) -> None:  # type: ignore[no-untyped-def]
    cases = " · ".join(f"{number}x{case} {a}{b}" for number, (case, a, b) in enumerate(points))
    header, *lines = coverage_lines(cases)
    lines = [
        f"{line.split(',')[0].split('x')[1]},{number},{line.split(',', 2)[2]}" for number, line in enumerate(lines)
    ]
    folder, shuffled = (tmp_path_factory.mktemp("coverage") for _ in range(2))
    run(COMMAND, folder, [header, *lines])
    run(COMMAND, shuffled, [header, *order.sample(lines, len(lines))])
    assert (folder / "out" / "coverage.csv").read_bytes() == (shuffled / "out" / "coverage.csv").read_bytes()
    for place, name in enumerate("AB", start=1):
        own = row(folder, "coverage", set=name)
        n = {letter: sum(point[place] == letter for point in points) for letter in "fpni-"}
        assert (int(own["n_invalid"]), int(own["n_missing"])) == (n["i"], n["-"])
        assert float(own["cia"]) == pytest.approx(n["f"] / len(points))
        assert float(own["cia_partly"]) == pytest.approx((n["f"] + n["p"]) / len(points))
        valid = n["f"] + n["p"] + n["n"]
        assert own["cia_valid"] == "" if not valid else float(own["cia_valid"]) == pytest.approx(n["f"] / valid)
        if own["cia_low"]:
            assert 0 <= float(own["cia_low"]) <= float(own["cia"]) <= float(own["cia_high"]) <= 1
    (own,) = rows(folder, "comparisons")
    assert int(own["b"]) - int(own["c"]) == pytest.approx(float(own["difference"]) * len(points))


def test_what_spreadsheets_write_is_read(tmp_path: Path) -> None:
    """A byte order mark, CRLF, quotes, line ends within cells, and an apostrophe before a formula."""
    content = '\ufeffcase,gold,points,"A\n1"\r\n"c\r\nx",g1,1.5e0,full\r\n\r\nc2,\'=1+1,-2,\r\n'
    run(COMMAND, tmp_path, content.encode())
    (own,) = rows(tmp_path, "coverage")
    assert (own["set"], own["n_points"], own["n_missing"], own["cia"]) == ("A\n1", "2", "1", "0.5")


GOOD = "c1,g1,1,full"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "file: The file is empty."),
        (["case,gold,points,A"], "file: There are no rows below the header."),
        (["case,gold,A", "c1,g1,full"], "line 1, points: This column is not in the header."),
        (["case,gold,points", "c1,g1,1"], "line 1: The header has no set"),
        (["case,gold,points,A,A", "c1,g1,1,full,full"], "line 1, A: This column appears twice in the header."),
        (["case,gold,points,", GOOD], "line 1: A column has no name."),
        (["case,gold,points,all", GOOD], "line 1, all: “all” is reserved for everything"),
        (["case,gold,points,é,e\u0301", "c1,g1,1,full,full"], "The header names this set twice."),
        (
            ["case,gold,points,A", GOOD, "c1,g2,1,covered"],
            "line 3, A: “covered” is not one of: full, partial, none, inv",
        ),
        (["case,gold,points,A", GOOD, "c1,g2,1,Full"], "line 3, A: “Full” is not one of"),
        (["case,gold,points,A", GOOD, GOOD], "line 3, gold: This gold point is already on line 2."),
        (["case,gold,points,A", GOOD, ",g2,1,full"], "line 3, case: This must not be empty."),
        (["case,gold,points,A", GOOD, "c1,,1,full"], "line 3, gold: This must not be empty."),
        (
            ["case,gold,points,A", GOOD, "c1,g2,0,full"],
            "line 3, points: A criterion must add or deduct at least one point",
        ),
        (["case,gold,points,A", "c1,g2,nan,full"], "line 2, points: “nan” is not a number."),
        (["case,gold,points,A", "c1,g2,1e999,full"], "line 2, points: “1e999” is not a number."),
        (["case,gold,points,A", "c1,g2,１,full"], "line 2, points: “１” is not a number."),
        (["case,gold,points,A", "c1,g2,1_0,full"], "line 2, points: “1_0” is not a number."),
        (["case,gold,points,A", GOOD, "c1,g2,1"], "line 3: The row has 3 cells, the header 4."),
        (["case,gold,points,sign,A", "c1,g1,-2,positive,full"], "line 2, sign: The sign of the points is different."),
        (
            ["case,gold,points,sign,A", "c1,g1,-2,minus,full"],
            "line 2, sign: “minus” is not one of: positive, negative.",
        ),
        (["case,gold,points,A", 'c1,"g\n1",1,full', "c2,g1,x,full"], "line 4, points: “x” is not a number."),
    ],
)
def test_a_broken_file_is_refused_by_line_and_field(tmp_path: Path, lines: list[str], expected: str) -> None:
    message = refusal(COMMAND, tmp_path, lines)
    assert expected in message and "nothing was written" in message


def test_a_missing_file_and_a_negative_seed(tmp_path: Path) -> None:
    assert "--seed must be 0 or more" in refusal(COMMAND, tmp_path, coverage_lines(), seed=-1)
    (tmp_path / "file.csv").write_bytes("\ufeffcase".encode("utf-16"))
    assert "looks like UTF-16" in refusal(COMMAND, tmp_path, (tmp_path / "file.csv").read_bytes())


def test_files_of_another_command_are_kept(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "coverage.csv").write_text("mine\n")
    with pytest.raises(CommandError, match=r"coverage\.csv with other content"):
        run(COMMAND, tmp_path, coverage_lines())
    assert (tmp_path / "out" / "coverage.csv").read_text() == "mine\n"
    assert "coverage.csv (replaced)" in run(COMMAND, tmp_path, coverage_lines(), overwrite=True)


def test_it_runs_from_the_command_line_without_a_database(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text("\n".join(coverage_lines()))
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing",
        "CONSILIUM_HOME": str(tmp_path / "home"),
        "DEBUG": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        [sys.executable, "manage.py", COMMAND, tmp_path / "file.csv", "--out", tmp_path / "out"],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert row(tmp_path, "coverage", set="A")["cia"] == "0.68"
    assert not (tmp_path / "home" / "postgres").exists()
