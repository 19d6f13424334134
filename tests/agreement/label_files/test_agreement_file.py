"""`agreement_file` as a user calls it: figures, CSV, strict reading, nothing written on error, no database."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

LABELS = "labels.jsonl"
JUDGE = "judge.jsonl"


def label(item: str, *votes: tuple[str, bool], category: str = "cluster:a", prompt: str | None = None) -> dict:
    return {
        "item_id": item,
        "binary_labels": [met for _, met in votes],
        "anonymized_physician_ids": [who for who, _ in votes],
        "category": category,
        "prompt_id": prompt or f"prompt of {item}",
        "completion_id": f"completion of {item}",
    }


def verdict(item: str, met: bool) -> dict:
    return {"item_id": item, "criteria_met": met}


def write(path: Path, rows: list) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def run(folder: Path, rows: list, verdicts: list | None = None, **options) -> tuple[str, dict[str, list[dict]]]:
    out, stdout = folder / "out", io.StringIO()
    if verdicts is not None:
        options["judge"] = write(folder / JUDGE, verdicts)
    call_command("agreement_file", write(folder / LABELS, rows), out=out, stdout=stdout, **options)
    return stdout.getvalue(), {
        path.stem: list(csv.DictReader(io.StringIO(path.read_text("utf-8")))) for path in out.iterdir()
    }


def rows_by_judge(rows: list[dict]) -> dict[str, list[dict]]:
    own: dict[str, list[dict]] = {}
    for row in rows:
        own.setdefault(row["judge"], []).append({name: value for name, value in row.items() if name != "judge"})
    return own


def refusal(folder: Path, rows: list, verdicts: list | None = None) -> str:
    with pytest.raises(CommandError) as caught:
        run(folder, rows, verdicts)
    assert not (folder / "out").exists()
    return str(caught.value)


def test_two_physicians_and_a_judge_by_hand(tmp_path):
    rows = [
        label("1", ("P", True), ("Q", True)),
        label("2", ("P", True), ("Q", False)),
        label("3", ("P", False), ("Q", False), category="cluster:b"),
    ]
    output, tables = run(tmp_path, rows, [verdict("1", True), verdict("2", False), verdict("3", False)])
    # Judge: (met, met) x2, (met, not), (not, not) x3. F1 met 4/5, F1 not met 6/7, kappa 2·(2·3)/(3·4+3·2) = 12/18.
    everything = tables["agreement"][0]
    assert everything["slice"] == "all"
    assert (everything["n_pairs"], everything["n_responses"], everything["n_cases"]) == ("6", "3", "3")
    assert float(everything["f1_met"]) == pytest.approx(4 / 5)
    assert float(everything["f1_not_met"]) == pytest.approx(6 / 7)
    assert float(everything["f1_balanced"]) == float(everything["mf1"]) == pytest.approx((4 / 5 + 6 / 7) / 2)
    assert float(everything["kappa"]) == pytest.approx(2 / 3)
    assert float(everything["precision_met"]) == 1
    assert float(everything["recall_met"]) == pytest.approx(2 / 3)
    assert (float(everything["prevalence_a"]), float(everything["prevalence_b"])) == pytest.approx((1 / 2, 1 / 3))
    assert everything["mf1_low"] == ""
    assert "3.0 of the 5 effective cases" in everything["note"]
    # Ceiling: ordered pairs 2 met-met, 2 not-not, one each way apart. Alpha: Do = 2/6, De = 2·3·3/(6·5) = 3/5.
    ceiling = tables["ceiling"][0]
    assert ceiling["n_pairs"] == "6"
    assert float(ceiling["f1_balanced"]) == pytest.approx(2 / 3)
    assert float(ceiling["alpha"]) == pytest.approx(1 - (1 / 3) / (3 / 5))
    assert [row["slice"] for row in tables["ceiling"]] == ["all", "cluster:a", "cluster:b"]
    # The category with one answer only: no kappa, no alpha, MF1 from one class, each with its reason.
    one_answer = tables["ceiling"][2]
    assert (one_answer["kappa"], one_answer["alpha"], one_answer["f1_met"]) == ("", "", "")
    assert "alpha: constant ratings" in one_answer["note"]
    assert "neither rater said met" in one_answer["note"]
    # P against Q: (met, met), (not, met), (not, not) for reference Q.
    physician = tables["physicians"][0]
    assert list(physician)[:2] == ["physician", "slice"]
    assert (physician["physician"], physician["slice"], physician["n_pairs"]) == ("P", "all", "3")
    assert float(physician["precision_met"]) == 0.5
    assert float(physician["recall_met"]) == 1
    assert [(row["physician"], row["slice"]) for row in tables["physicians"]] == [
        (who, name) for who in "PQ" for name in ("all", "cluster:a", "cluster:b")
    ]
    assert "judge against physicians" in output
    assert "0.828571" in output  # (4/5 + 6/7) / 2


@pytest.mark.slow
def test_figures_equal_scikit_learn_on_listed_pairs(tmp_path):
    from itertools import permutations

    from sklearn.metrics import cohen_kappa_score, f1_score

    chance = random.Random(5)
    rows, verdicts = [], []
    for number in range(60):
        votes = [(f"P{who}", chance.random() < 0.6) for who in chance.sample(range(8), chance.choice([2, 2, 3]))]
        rows.append(label(f"i{number}", *votes, category=f"cluster:{number % 3}", prompt=f"p{number // 2}"))
        verdicts.append(verdict(f"i{number}", chance.random() < 0.6))
    output, tables = run(tmp_path, rows, verdicts)
    line = next(line for line in output.splitlines() if "effective cases" in line)
    behind = [float(number) for number in re.findall(r"[0-9.]+", line)]
    assert len(behind) == 2 and all(5 <= cases <= 30 for cases in behind)  # of the judge and of the ceiling; 30 cases
    for position, remainder in enumerate([None, 0, 1, 2]):
        picked = [i for i in range(60) if remainder is None or i % 3 == remainder]
        pairs = [(met, verdicts[i]["criteria_met"]) for i in picked for met in rows[i]["binary_labels"]]
        others = [pair for i in picked for pair in permutations(rows[i]["binary_labels"], 2)]
        for table, listed in (("agreement", pairs), ("ceiling", others)):
            row = tables[table][position]
            a, b = zip(*listed, strict=True)
            assert int(row["n_pairs"]) == len(listed)
            assert int(row["n_responses"]) == len(picked)
            assert int(row["n_cases"]) == len({i // 2 for i in picked})
            assert float(row["mf1"]) == pytest.approx(f1_score(a, b, average="macro"), abs=1e-12)
            assert float(row["kappa"]) == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
            assert float(row["mf1_low"]) < float(row["mf1"]) < float(row["mf1_high"])
    for row in tables["physicians"]:
        if row["slice"] == "all":
            listed = [
                (other, own)
                for label_row in rows
                for (who, own), (_, other) in permutations(
                    zip(label_row["anonymized_physician_ids"], label_row["binary_labels"], strict=True), 2
                )
                if who == row["physician"]
            ]
            assert int(row["n_pairs"]) == len(listed)
            assert float(row["f1_met"]) == pytest.approx(f1_score(*zip(*listed, strict=True)), abs=1e-12)


def test_order_of_lines_changes_no_byte(tmp_path):
    chance = random.Random(1)
    rows = [
        label(f"i{n}", *[(f"P{who}", chance.random() < 0.5) for who in chance.sample(range(5), 2)], prompt=f"p{n % 12}")
        for n in range(40)
    ]
    verdicts = [verdict(f"i{n}", chance.random() < 0.5) for n in range(40)]
    files = []
    for turn in range(2):
        folder = tmp_path / str(turn)
        folder.mkdir()
        chance.shuffle(rows)
        chance.shuffle(verdicts)
        run(folder, rows, verdicts)
        files.append({path.name: path.read_bytes() for path in (folder / "out").iterdir()})
    assert files[0] == files[1]
    assert set(files[0]) == {"agreement.csv", "physicians.csv", "ceiling.csv"}
    assert b"\r" not in b"".join(files[0].values())


def test_without_a_judge(tmp_path):
    output, tables = run(tmp_path, [label("1", ("P", True), ("Q", False))])
    assert set(tables) == {"physicians", "ceiling"}
    assert "judge against" not in output


def test_items_the_judge_left_out_count_against_it(tmp_path):
    rows = [label("1", ("P", True), ("Q", True)), label("2", ("P", False), ("Q", False)), label("3", ("P", True))]
    output, tables = run(tmp_path, rows, [verdict("1", True), verdict("2", False), verdict("elsewhere", True)])
    row = tables["agreement"][0]
    assert (row["n_pairs"], row["n_invalid"]) == ("5", "1")
    # The missing verdict stands as not met: met 4/5, not met 4/5. On the 4 valid pairs everything agrees.
    assert float(row["mf1"]) == pytest.approx(0.8)
    assert float(row["kappa"]) == 1
    assert "mf1 on the pairs with a verdict: 1.000000" in row["note"]
    assert "1 verdicts are about items that the label file does not have" in output
    assert "pairs without a verdict" in output


def test_published_form_without_item_ids(tmp_path):
    rows = []
    for n in range(3):
        row = label(str(n), ("P", True), ("Q", n == 1), prompt="same prompt")
        del row["item_id"]
        rows.append({**row, "prompt": [{"role": "user", "content": "made up"}], "rubric": f"text {n}"})
    verdicts = [
        {**{name: row[name] for name in ("prompt_id", "completion_id", "category", "rubric")}, "criteria_met": True}
        for row in rows
    ]
    _, tables = run(tmp_path, rows, verdicts)
    assert (tables["agreement"][0]["n_pairs"], tables["agreement"][0]["n_cases"]) == ("6", "1")


def test_formulas_in_names_stay_inert(tmp_path):
    _, tables = run(tmp_path, [label("1", ("=cmd()", True), ("@Q", True), category="+cluster")])
    assert {row["physician"] for row in tables["physicians"]} == {"'=cmd()", "'@Q"}
    assert tables["ceiling"][1]["slice"] == "'+cluster"


GOOD = label("good", ("P", True), ("Q", True))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("{", "line 2: is not JSON"),
        ("[]", "line 2: must be an object"),
        ('{"item_id": "x", "item_id": "y"}', "line 2, item_id: is given twice"),
        ('{"score": NaN}', "line 2: NaN is not JSON"),
        ('{"score": 1e400}', "line 2: 1e400 is too large"),
        ('{"n": ' + "9" * 5000 + "}", "line 2: is not JSON"),
        ("[" * 100_000, "line 2: is nested too deeply"),
        ({**GOOD, "binary_labels": [1, 0]}, "line 2, binary_labels: must be a list of true and false"),
        ({**GOOD, "binary_labels": []}, "line 2, binary_labels:"),
        ({**GOOD, "binary_labels": "true"}, "line 2, binary_labels:"),
        ({**GOOD, "anonymized_physician_ids": ["P"]}, "line 2, anonymized_physician_ids: must be a list with one"),
        ({**GOOD, "anonymized_physician_ids": ["P", "P"]}, "anonymized_physician_ids: names the same physician twice"),
        ({**GOOD, "anonymized_physician_ids": ["P", 7]}, "line 2, anonymized_physician_ids: must be a text"),
        ({**GOOD, "item_id": ""}, "line 2, item_id: must be a text"),
        ({**GOOD, "category": None}, "line 2, category: must be a text"),
        ({**GOOD, "category": "a\x00b"}, "line 2, category: contains a NUL"),
        ({**GOOD, "item_id": "\ud800"}, "line 2, item_id: contains a NUL or half"),
        (
            {name: GOOD[name] for name in ("binary_labels", "anonymized_physician_ids", "category")},
            "item_id: is missing",
        ),
        (GOOD, "line 2, item_id: the same item as line 1"),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value)[:40],
)
def test_a_broken_row_is_named_and_nothing_written(tmp_path, row, expected):
    message = refusal(tmp_path, [GOOD, row])
    assert expected in message
    assert "nothing was written" in message


def test_broken_bytes(tmp_path):
    for content in ("\ufeff{}".encode("utf-16"), b'{"item_id": "\xff"}\n', b"", b"\n\n"):
        (tmp_path / LABELS).write_bytes(content)
        with pytest.raises(CommandError):
            call_command("agreement_file", tmp_path / LABELS, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("agreement_file", tmp_path / "nowhere", out=tmp_path / "out")


def test_a_byte_order_mark_and_separators_inside_strings_are_text(tmp_path):
    row = label("one\u2028item", ("P", True), ("Q", True))
    (tmp_path / LABELS).write_text("\ufeff" + json.dumps(row, ensure_ascii=False) + "\n", "utf-8")
    call_command("agreement_file", tmp_path / LABELS, out=tmp_path / "out", stdout=io.StringIO())
    assert (tmp_path / "out" / "ceiling.csv").exists()


def test_fifty_errors_are_named_and_all_counted(tmp_path):
    message = refusal(tmp_path, [GOOD, *["nonsense"] * 60])
    assert "line 51: is not JSON" in message
    assert "line 52" not in message
    assert "and 10 more" in message


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"item_id": "good", "criteria_met": "true"}], "line 1, criteria_met: must be true or false"),
        ([verdict("good", True), verdict("good", True)], "line 2, item_id: the same item as line 1"),
        ([verdict("another", True)], "no item of this file is in the label file"),
    ],
)
def test_a_broken_judge_file_is_refused(tmp_path, rows, expected):
    message = refusal(tmp_path, [GOOD], rows)
    assert expected in message
    assert JUDGE in message


@pytest.mark.slow
def test_runs_from_the_command_line_without_a_database(tmp_path):
    home = tmp_path / "home"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing",
        "CONSILIUM_HOME": str(home),
        "DEBUG": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    write(tmp_path / LABELS, [GOOD])
    done = subprocess.run(
        [
            sys.executable,
            "manage.py",
            "agreement_file",
            tmp_path / LABELS,
            "--out",
            tmp_path / "out",
            "--interval",
            "percentile",
            "--seed",
            "4",
        ],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "seed 4" in done.stdout
    assert (tmp_path / "out" / "ceiling.csv").exists()
    assert not (home / "postgres").exists()


def test_several_judges_have_a_column_and_each_the_numbers_of_its_own(tmp_path):
    rows = [
        label("1", ("P", True), ("Q", True)),
        label("2", ("P", True), ("Q", False)),
        label("3", ("P", False), ("Q", False), category="cluster:b"),
    ]
    first = [verdict("1", True), verdict("2", False), verdict("3", False)]
    second = [verdict("1", False), verdict("2", True), verdict("4", True)]
    (tmp_path / "alone").mkdir()
    _, alone = run(tmp_path / "alone", rows, first)
    paths = [write(tmp_path / f"{name}.jsonl", verdicts) for name, verdicts in (("one", first), ("two", second))]
    out, stdout = tmp_path / "out", io.StringIO()
    labels = write(tmp_path / LABELS, rows)
    call_command("agreement_file", labels, judge=[str(paths[0]), f"other={paths[1]}"], out=out, stdout=stdout)
    text = {path.stem: path.read_text("utf-8") for path in out.iterdir()}
    tables = {name: list(csv.DictReader(io.StringIO(own))) for name, own in text.items()}
    assert text["agreement"].startswith("judge,slice,n_pairs,")
    for name in ("physicians", "ceiling"):
        assert text[name] == (tmp_path / "alone" / "out" / f"{name}.csv").read_text("utf-8")
    by_judge = rows_by_judge(tables["agreement"])
    assert list(by_judge) == ["one", "other"]
    assert by_judge["one"] == alone["agreement"]
    # Met 3 of 6 labels; the second judge: item 1 wrong twice, item 2 right once, item 3 none, so wrong twice.
    # F1 met 2·1/(2·1 + 1 + 2 + 2), where item 3 counts as met twice; F1 not met 0.
    everything = by_judge["other"][0]
    assert (everything["n_pairs"], everything["n_invalid"]) == ("6", "2")
    assert float(everything["f1_met"]) == pytest.approx(2 / 7)
    assert float(everything["f1_not_met"]) == 0
    assert float(everything["mf1"]) == pytest.approx(1 / 7)
    output = stdout.getvalue()
    assert "one" in output and "other" in output and "physicians' ceiling" in output
    assert "other: 1 of 3 items have no verdict" in output
    assert "other: 1 verdicts are about items that the label file does not have." in output


def test_judges_of_one_name_and_files_without_a_common_item_are_refused(tmp_path):
    rows = [label("1", ("P", True), ("Q", True))]
    labels, good = write(tmp_path / LABELS, rows), write(tmp_path / "a.jsonl", [verdict("1", True)])
    (tmp_path / "b").mkdir()
    same, other = (write(tmp_path / name, [verdict("9", True)]) for name in ("b/a.jsonl", "c.jsonl"))
    for judges, words in (
        ([str(good), str(same)], "Two judges are called “a”"),
        ([f"x={good}", f"x={good}"], "Two judges are called “x”"),
        ([str(good), str(other)], f"{other} is refused, nothing was written:"),
        ([f"={good}"], "NAME=FILE"),
        (["x="], "NAME=FILE"),
        ([str(good), "gone=nowhere.jsonl"], "nowhere.jsonl cannot be read"),
    ):
        with pytest.raises(CommandError) as caught:
            call_command("agreement_file", labels, judge=judges, out=tmp_path / "out")
        assert words in str(caught.value)
        assert not (tmp_path / "out").exists()


def test_a_judge_file_with_an_equals_sign_in_its_name_is_that_file(tmp_path):
    labels = write(tmp_path / LABELS, [label("1", ("P", True), ("Q", True))])
    path = write(tmp_path / "t=0.jsonl", [verdict("1", True)])
    call_command("agreement_file", labels, judge=[str(path)], out=tmp_path / "out", stdout=io.StringIO())
    assert (tmp_path / "out" / "agreement.csv").read_text("utf-8").startswith("slice,")
