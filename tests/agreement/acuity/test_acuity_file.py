"""`acuity_file` as a user calls it, on files of every shape: figures by hand, and bad input refused whole."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from scipy.stats import binomtest, chi2

from agreement.acuity.measures import OF_EVERYTHING

pytestmark = pytest.mark.slow

LONG = "case,candidate,format,sample,level,reference\n"
VOTES = "case,physician,round,level,certainty\n"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def run(folder: Path, *files: Path, **options: Any) -> str:
    out = StringIO()
    call_command("acuity_file", *map(str, files), out=folder / "out", overwrite=True, stdout=out, **options)
    return out.getvalue()


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def row(folder: Path, name: str, **conditions: str) -> dict[str, str]:
    (match,) = [row for row in rows(folder, name) if all(row[key] == value for key, value in conditions.items())]
    return match


def refusal(folder: Path, *files: Path, **options: Any) -> str:
    with pytest.raises(CommandError) as refused:
        run(folder, *files, **options)
    assert not (folder / "out").exists()
    return str(refused.value)


def long_file(folder: Path, lines: list[str], name: str = "readings.csv") -> Path:
    return write(folder, name, LONG + "".join(f"{line}\n" for line in lines))


def test_states_are_counted_and_never_a_level(tmp_path: Path) -> None:
    file = long_file(
        tmp_path,
        [
            "c1,M,qa,0,self-care,self-care",
            "c1,M,qa,1,refused,self-care",
            "c2,M,qa,0,emergency,urgent-care",
            "c2,M,qa,1,no-level,urgent-care",
            "c3,M,qa,0,self-care|primary-care,emergency",
            "c3,M,qa,1,whatever,emergency",
            "c4,M,qa,0,primary-care,emergency",
            "c4,M,qa,1,NA,emergency",
        ],
    )
    message = run(tmp_path, file)
    own = row(tmp_path, "acuity", aggregate="pooled")
    counts = {name: int(own[name]) for name in own if name.startswith("n_")}
    assert counts == {
        "n_cases": 4, "n_readings": 7, "n_usable": 3, "n_refused": 1, "n_no_level": 1, "n_several": 1, "n_invalid": 1,
        "n_missing": 1,
    }  # fmt: skip
    # Usable: right, one over, two under. Of eight asked one is right; under are that one and the four unusable on cases
    # above the lowest level (c2, c3 twice, c4), not the one on c1.
    figures = {"accuracy": 1 / 3, "over": 1 / 3, "under": 1 / 3, "comprehensiveness": 3 / 8, "accuracy_all": 1 / 8}
    figures |= {"under_all": 5 / 8, "safety_all": 3 / 8, "cost": (1 + 10) / 3}
    # An unusable one costs the worst answer: c1 3 over, c2 2 under at 5, c3 and c4 3 under at 5.
    figures["cost_all"] = (1 + 10 + 3 + 10 + 15 * 3) / 8
    for name, value in figures.items():
        assert float(own[name]) == pytest.approx(value), name
    assert "4 cases with a clear reference" in message
    # Word for word, with their lines; what was not given has none.
    unusable = [(own["state"], own["text"], own["line"]) for own in rows(tmp_path, "unusable")]
    assert unusable == [
        ("refused", "refused", "3"),
        ("no-level", "no-level", "5"),
        ("several", "self-care|primary-care", "6"),
        ("invalid", "whatever", "7"),
    ]
    assert {own["file"] for own in rows(tmp_path, "unusable")} == {"readings.csv"}


def test_the_three_ways_over_samples(tmp_path: Path) -> None:
    file = long_file(
        tmp_path,
        [
            *(f"c1,M,qa,{i},{level},self-care" for i, level in enumerate(["self-care", "self-care", "primary-care"])),
            # A tie: the more urgent one counts.
            "c2,M,qa,0,primary-care,urgent-care",
            "c2,M,qa,1,urgent-care,urgent-care",
            "c3,M,qa,0,emergency,emergency",
        ],
    )
    run(tmp_path, file)
    accuracy = {row["aggregate"]: float(row["accuracy"]) for row in rows(tmp_path, "acuity")}
    assert accuracy == pytest.approx({"expected": (2 / 3 + 1 / 2 + 1) / 3, "mode": 1.0, "pooled": 4 / 6})
    own = row(tmp_path, "acuity", aggregate="expected")
    assert own["alpha"] == "" and "alpha: weighted readings" in own["note"]
    # Three samples were asked of each case.
    assert (own["n_missing"], float(own["accuracy_all"])) == ("3", pytest.approx(4 / 9))
    mode = row(tmp_path, "acuity", aggregate="mode")
    # Refusals beside a usable reading would not count.
    assert (mode["comprehensiveness"], mode["accuracy_all"], mode["cost_all"]) == ("", "", "")
    assert "under_all, cost_all: the mode is that of usable readings" in mode["note"]


def test_boundary_references_have_a_table_of_their_own(tmp_path: Path) -> None:
    levels = ("self-care", "primary-care", "urgent-care", "emergency")
    lines = [f"b{i},M,qa,0,{level},primary-care|urgent-care" for i, level in enumerate(levels)]
    run(tmp_path, long_file(tmp_path, [*lines, "c,M,qa,0,self-care,self-care"]))
    own = row(tmp_path, "boundary", aggregate="pooled", reference="primary-care|urgent-care")
    assert [float(own[name]) for name in ("n", "within", "upper", "above", "below")] == [4, 2, 1, 1, 1]
    assert row(tmp_path, "acuity", aggregate="pooled")["n_cases"] == "1"


def results(folder: Path, name: str, runs: int | None, output: str = "em") -> Path:
    """Two emergencies, answered ``runs`` times; None for one answer without the number of a run."""
    lines = [
        {"case_id": case, "true_urgency": "em", "llm_output": output, "correct": True, "model": "x"}
        | ({} if runs is None else {"run_id": n + 1})
        for n in range(runs or 1)
        for case in (1, 2)
    ]
    return write(folder, name, "".join(json.dumps(line) + "\n" for line in lines))


def test_result_files_name_their_candidate_by_the_file_or_the_option(tmp_path: Path) -> None:
    first, second = results(tmp_path, "first.jsonl", 2), results(tmp_path, "second.jsonl", 1, "sc")
    both = refusal(tmp_path, first, second, scheme="em-ne-sc", candidate="M")
    assert "second.jsonl is refused" in both and "line 1, sample: The candidate already has this sample" in both
    message = run(tmp_path, first, second, scheme="em-ne-sc")
    assert {row["candidate"] for row in rows(tmp_path, "acuity")} == {"first", "second", "all"}
    # The flag says right, label and answer say wrong: it is counted, and never used.
    assert "2 stored flags contradict label and level (lines 1, 2); none was used" in message
    assert row(tmp_path, "acuity", candidate="second", aggregate="pooled")["accuracy"] == "0.0"

    samples = [results(tmp_path, f"{n}.jsonl", None) for n in range(3)]
    run(tmp_path, *samples, scheme="em-ne-sc", candidate="M")
    own = row(tmp_path, "acuity", aggregate="pooled")
    assert (own["candidate"], own["n_readings"], own["n_missing"]) == ("M", "6", "0")


def votes_file(folder: Path, levels: dict[str, list[str]]) -> Path:
    lines = [
        f"{case},P{n},1,{level},{'' if level == 'cannot-tell' else 50}\n"
        for case, given in levels.items()
        for n, level in enumerate(given)
    ]
    return write(folder, "votes.csv", VOTES + "".join(lines))


def test_a_label_too_coarse_for_the_scale_is_left_to_the_panel(tmp_path: Path) -> None:
    lines = [
        json.dumps({"case_id": case, "true_urgency": label, "llm_output": "em"}) + "\n"
        for case, label in (("c1", "em"), ("c2", "ne"), ("c3", "ne"))
    ]
    file = write(tmp_path, "m.jsonl", "".join(lines))
    votes = votes_file(tmp_path, {"c2": ["urgent-care", "urgent-care", "emergency"]})
    message = run(tmp_path, file, scheme="em-ne-sc", scale="four", votes=votes)
    assert "2 cases with a clear reference" in message
    assert "1 case without a reference" in message
    own = row(tmp_path, "panel_cases", case="c2")
    assert (own["low"], own["high"], own["panel_status"], own["m"]) == ("urgent-care", "urgent-care", "clear", "3")


def test_votes(tmp_path: Path) -> None:
    readings = long_file(tmp_path, [f"{case},M,qa,{n},urgent-care," for case in ("c1", "c2", "c3") for n in (0, 1)])
    votes = votes_file(
        tmp_path,
        {
            "c1": ["self-care", "emergency", "primary-care"],
            "c2": ["urgent-care", "urgent-care|emergency", "urgent-care"],
            "c3": ["cannot-tell", "cannot-tell", "self-care"],
        },
    )
    message = run(tmp_path, readings, votes=votes)
    assert "1 case ambiguous" in message and "1 case set aside" in message
    panel = row(tmp_path, "panel")
    names = ("n_cases", "n_votes", "n_cannot_tell", "n_boundary_votes", "n_ambiguous")
    assert [panel[name] for name in names] == ["3", "7", "2", "1", "1"]
    assert float(row(tmp_path, "panel_cases", case="c1")["dispersion"]) == pytest.approx((9 + 1 + 4) / 3)
    assert row(tmp_path, "uncertainty", set="ambiguous")["n_cases"] == "1"
    # No level of the first case has half of the votes, and no dispersion is above 5.
    assert "1 case ambiguous" in run(tmp_path, readings, votes=votes, ambiguous="majority:0.5")
    assert "ambiguous" not in run(tmp_path, readings, votes=votes, ambiguous="dispersion:5")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("c1,P0,1,soon,50", "line 2, level: “soon” is not a level of the scale: self-care, primary-care"),
        ("c1,P0,1,self-care|urgent-care,50", "line 2, level: A vote between two levels must name adjacent levels"),
        ("c1,P0,1,self-care,101", "line 2, certainty: This must be a whole number from 0 to 100."),
        ("c1,P0,1,cannot-tell,50", "line 2, certainty: Certainty is not allowed with cannot tell."),
        ("c1,P0,2,self-care,50", "line 2, round: No vote of round 1 precedes this one."),
        ("c1,P0,1,self-care,50\nc1,P0,1,emergency,50", "line 3, physician: This vote is already in line 2."),
    ],
)
def test_votes_that_are_refused(tmp_path: Path, line: str, message: str) -> None:
    readings = long_file(tmp_path, ["c1,M,qa,0,self-care,self-care"])
    assert message in refusal(tmp_path, readings, votes=write(tmp_path, "votes.csv", f"{VOTES}{line}\n"))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["c1,M,qa,0,self-care,soon"], "line 2, reference: The scheme direct has no rule for “soon”."),
        (
            ["c1,M,qa,0,self-care,emergency", "c1,M,qa,1,self-care,self-care"],
            "line 3, reference: The case has a different label earlier",
        ),
        (["c1,M,qa,0,self-care,", "c1,M,qa,0,emergency,"], "line 3, sample: The candidate already has this sample"),
        (["c1,M,phone,0,self-care,"], "line 2, format: “phone” is not one of: qa, chat"),
        (["c1,M,qa,one,self-care,"], "line 2, sample: This must be a whole number"),
        (["c1,M,qa,0"], "line 2: The row has 4 cells, the header 6."),
    ],
)
def test_readings_that_are_refused(tmp_path: Path, lines: list[str], message: str) -> None:
    assert message in refusal(tmp_path, long_file(tmp_path, lines))


def test_labels_without_a_rule_are_counted(tmp_path: Path) -> None:
    message = refusal(tmp_path, long_file(tmp_path, [f"c{n},M,qa,0,self-care,soon" for n in range(4)]))
    assert "“soon” appears in 4 rows." in message


def test_confidences_of_two_kinds_in_one_file_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "r.csv", "case,candidate,level,confidence\nc1,M,self-care,0.5\nc2,M,self-care,80\n")
    assert "line 2, confidence: The file mixes confidences from 0 to 1 with confidences from 0 to 100." in refusal(
        tmp_path, file
    )


def test_wide_files_and_matrices(tmp_path: Path) -> None:
    lines = "case,reference,M,N\nc1,emergency,emergency,self-care\nc2,self-care,,self-care\n"
    run(tmp_path, write(tmp_path, "wide.csv", lines))
    assert row(tmp_path, "acuity", candidate="M", aggregate="pooled")["n_missing"] == "1"
    assert row(tmp_path, "acuity", candidate="N", aggregate="pooled")["accuracy"] == "0.5"
    missed = row(tmp_path, "missed", candidate="N", aggregate="pooled", sent_to="")
    assert (missed["n"], missed["missed"]) == ("1", "1")

    run(tmp_path, write(tmp_path, "m.csv", "set,reference,level,n\nM,emergency,emergency,7\nM,emergency,self-care,3\n"))
    own = row(tmp_path, "acuity", aggregate="pooled")
    assert (own["n_cases"], own["accuracy"], own["under"]) == ("10", "0.7", "0.3")
    assert row(tmp_path, "confusion", aggregate="pooled", reference="emergency", level="self-care")["n"] == "3.0"


def test_what_is_no_file_of_acuity(tmp_path: Path) -> None:
    assert "The header has no column for the case" in refusal(tmp_path, write(tmp_path, "a.csv", "x,y\n1,2\n"))
    other = write(tmp_path, "b.jsonl", '{"prompt": "?"}\n')
    assert "The fields do not match any file of labels or results." in refusal(tmp_path, other)
    assert "cannot be read" in refusal(tmp_path, tmp_path / "nowhere.csv")
    assert "none of: dispersion:X" in refusal(tmp_path, other, ambiguous="often")
    vignettes = write(tmp_path, "v.jsonl", '{"urgency_level": "em", "case_description": "Made up."}\n')
    assert "no file holds a reading or a vote" in refusal(tmp_path, vignettes, scheme="em-ne-sc")


def test_the_order_of_rows_changes_no_byte(tmp_path: Path) -> None:
    levels = ("self-care", "primary-care", "emergency")
    lines = [
        f"c{n},{candidate},{format_},{sample},{levels[(n + sample) % 3]},{levels[n % 3]}"
        for n in range(7)
        for candidate in "MN"
        for format_ in ("qa", "chat")
        for sample in (0, 1)
    ]
    written = []
    for order in (lines, lines[::-1]):
        run(tmp_path, long_file(tmp_path, order))
        written.append({path.name: path.read_bytes() for path in sorted((tmp_path / "out").iterdir())})
    assert written[0] == written[1]


def test_a_single_level_and_nothing_usable(tmp_path: Path) -> None:
    run(tmp_path, long_file(tmp_path, [f"c{n},M,qa,0,self-care,self-care" for n in range(3)]))
    own = row(tmp_path, "acuity", aggregate="pooled")
    assert (own["accuracy"], own["qwk"], own["alpha"]) == ("1.0", "", "")
    assert "qwk, alpha: reference and readings have one level throughout" in own["note"]
    run(tmp_path, long_file(tmp_path, [f"c{n},M,qa,0,refused,emergency" for n in range(3)]))
    own = row(tmp_path, "acuity", aggregate="expected")
    assert (own["n_refused"], own["accuracy"], own["accuracy_all"], own["cost_all"]) == ("3", "", "0.0", "15.0")
    assert "no usable reading on a case with a clear reference" in own["note"]


def test_confidence_by_its_source(tmp_path: Path) -> None:
    heading = "case,candidate,level,confidence,sample,reference\n"
    lines = [
        f"c{n},M,{'self-care' if n % 3 else 'emergency'},{50 + n % 2 * 40},{sample},self-care\n"
        for n in range(30)
        for sample in (0, 1)
    ]
    run(tmp_path, write(tmp_path, "r.csv", heading + "".join(lines)))
    stated = row(tmp_path, "confidence", confidence_source="stated")
    # Of 60 readings a third is wrong; 0.5 and 0.9 in turn say nothing of which.
    assert (stated["n"], float(stated["accuracy"]), float(stated["mean_confidence"])) == (
        "60",
        2 / 3,
        pytest.approx(0.7),
    )
    assert float(stated["auroc"]) == pytest.approx(0.5)
    assert float(stated["brier"]) == pytest.approx((2 / 3 * (0.25 + 0.01) + 1 / 3 * (0.25 + 0.81)) / 2)
    samples = row(tmp_path, "confidence", confidence_source="samples")
    assert samples["ece_mass"] == "" and "30 of the 50 answers needed" in samples["note"]
    widths = [
        own for own in rows(tmp_path, "reliability") if own["bins"] == "width" and own["confidence_source"] == "stated"
    ]
    assert [(own["bin"], own["n"]) for own in widths] == [("5", "30"), ("9", "30")]


def test_without_confidence_there_is_none(tmp_path: Path) -> None:
    run(tmp_path, long_file(tmp_path, ["c1,M,qa,0,self-care,self-care"]))
    (own,) = rows(tmp_path, "confidence")
    assert (own["confidence_source"], own["n"], own["mean_confidence"]) == ("", "0", "")
    assert "no confidence was stated" in own["note"]


def test_formats_are_compared_where_a_candidate_has_both(tmp_path: Path) -> None:
    lines = [f"c{n},M,qa,0,urgent-care,urgent-care" for n in range(6)]
    lines += [f"c{n},M,chat,0,{'primary-care' if n < 4 else 'urgent-care'},urgent-care" for n in range(6)]
    run(tmp_path, long_file(tmp_path, [*lines, "c0,N,qa,0,self-care,urgent-care"]))
    assert {own["candidate"] for own in rows(tmp_path, "formats")} == {"M"}
    under = row(tmp_path, "formats", slice="all", measure="under")
    assert (under["qa"], float(under["chat"]), float(under["difference"])) == ("0.0", 4 / 6, 4 / 6)
    assert float(row(tmp_path, "formats", slice="all", measure="shift")["difference"]) == pytest.approx(-4 / 6)
    mcnemar = row(tmp_path, "tests", test="mcnemar")
    assert float(mcnemar["p"]) == pytest.approx(2 * 0.5**4)
    assert "only qa right in 4 cases, only chat in 0" in mcnemar["note"]
    alone = tmp_path / "alone"
    alone.mkdir()
    run(alone, long_file(alone, lines[:6]))
    assert not (alone / "out" / "formats.csv").exists()


def test_the_row_of_all_candidates_counts_what_each_was_asked(tmp_path: Path) -> None:
    """A answers all five samples right; B refuses four of five and errs in the fifth. A alone has the third case."""
    lines = [f"c{n},A,qa,{sample},self-care,self-care" for n in range(3) for sample in range(5)]
    for n in range(2):
        lines += [f"c{n},B,qa,0,primary-care,self-care", *(f"c{n},B,qa,{k},refused,self-care" for k in range(1, 5))]
    run(tmp_path, long_file(tmp_path, lines))
    own = row(tmp_path, "acuity", candidate="all", aggregate="expected")
    # By case the mean of the candidates' means: ½, ½, and 1 where only A answered.
    assert float(own["accuracy"]) == pytest.approx((0.5 + 0.5 + 1) / 3)
    # Asked were 3 cases × 5 samples of both, B's third case too: 15 right of 30.
    pooled = row(tmp_path, "acuity", candidate="all", aggregate="pooled")
    assert float(own["accuracy_all"]) == float(pooled["accuracy_all"]) == pytest.approx(15 / 30)
    assert float(own["comprehensiveness"]) == pytest.approx(17 / 30)
    # One step over costs 1 twice, each of the 13 unusable the worst, 3 over.
    assert float(own["cost_all"]) == pytest.approx((2 + 13 * 3) / 30)
    assert (own["n_cases"], own["n_missing"]) == ("3", "5")


def test_who_was_asked_about_what(tmp_path: Path) -> None:
    vignettes = write(tmp_path, "v.jsonl", '{"urgency_level": "em", "case_description": "Made up."}\n')
    message = run(tmp_path, vignettes, results(tmp_path, "m.jsonl", 1), scheme="em-ne-sc")
    # Nobody has a reading of the vignette.
    assert row(tmp_path, "acuity", aggregate="pooled")["n_cases"] == "2"
    assert "1 case is in no file of readings" in message
    # Two files without a common case are two datasets; with one they are the same.
    first = long_file(tmp_path, ["c1,M,qa,0,self-care,self-care"], "first.csv")
    second = long_file(tmp_path, ["c2,N,qa,0,self-care,self-care"], "second.csv")
    run(tmp_path, first, second)
    assert [own["n_cases"] for own in rows(tmp_path, "acuity") if own["aggregate"] == "pooled"] == ["1", "1", "2"]
    third = long_file(tmp_path, ["c1,N,qa,0,self-care,self-care"], "third.csv")
    run(tmp_path, first, second, third)
    own = row(tmp_path, "acuity", candidate="N", aggregate="pooled")
    assert (own["n_cases"], own["n_missing"]) == ("2", "0")
    own = row(tmp_path, "acuity", candidate="M", aggregate="pooled")
    assert (own["n_cases"], own["n_missing"]) == ("1", "0")


def test_a_candidate_that_never_answers_is_asked_all_the_same(tmp_path: Path) -> None:
    run(tmp_path, write(tmp_path, "wide.csv", "case,reference,M,N\nc1,emergency,emergency,\nc2,self-care,,\n"))
    own = row(tmp_path, "acuity", candidate="N", aggregate="pooled")
    assert (own["n_cases"], own["n_readings"], own["n_missing"], own["accuracy_all"]) == ("2", "0", "2", "0.0")


def test_excluded_cases_are_in_no_table(tmp_path: Path) -> None:
    rules = [
        {"source_label": "in", "how": "direct", "level": "self-care"},
        {"source_label": "out", "how": "exclude"},
    ]
    scheme = write(tmp_path, "scheme.json", json.dumps({"name": "mine", "rules": rules}))
    lines = [f"{case},M,qa,{n},self-care,{label}" for case, label in (("c1", "in"), ("c2", "out")) for n in (0, 1)]
    votes = votes_file(tmp_path, {"c2": ["self-care", "emergency", "self-care"]})
    message = run(tmp_path, long_file(tmp_path, lines), scheme=str(scheme), votes=votes)
    assert "1 case excluded by the scheme" in message
    assert row(tmp_path, "acuity", aggregate="pooled")["n_cases"] == "1"
    assert not (tmp_path / "out" / "panel.csv").exists()


def statuses(folder: Path, levels: list[str], ambiguous: str = "dispersion:0.75", label: str = "") -> str:
    readings = long_file(folder, [f"c1,M,qa,{n},self-care,{label}" for n in (0, 1)])
    run(folder, readings, votes=votes_file(folder, {"c1": levels}), ambiguous=ambiguous)
    return row(folder, "panel_cases", case="c1")["panel_status"]


def test_status_at_the_thresholds(tmp_path: Path) -> None:
    home, care, urgent = "self-care", "primary-care", "urgent-care"
    # Three, four and one votes on three levels: 12 + 4 pairs one level apart, 3 pairs two apart, of 28.
    votes = [home] * 3 + [care] * 4 + [urgent]
    assert statuses(tmp_path, votes, "dispersion:1") == "clear"  # (16 + 12) / 28 is not above 1
    assert statuses(tmp_path, votes, "dispersion:0.999") == "ambiguous"
    # u of two levels with half of the votes each is ln 2 / ln 4.
    assert statuses(tmp_path, [home, home, care, care], "entropy:0.5") == "ambiguous"
    assert statuses(tmp_path, [home, home, care, care], "entropy:0.50001") == "boundary"
    # Three of four votes are the majority that is asked for.
    assert statuses(tmp_path, [home, home, home, care], "majority:0.75") == "clear"
    assert statuses(tmp_path, [home, home, home, care], "majority:0.76") == "ambiguous"
    # Half cannot tell: not more than half.
    assert statuses(tmp_path, [home] * 3 + ["cannot-tell"] * 3) == "clear"
    assert statuses(tmp_path, [home] * 3 + ["cannot-tell"] * 4) == "set-aside"
    # With too few votes the label counts.
    assert statuses(tmp_path, [care, care], label="self-care") == "too-few"
    assert row(tmp_path, "acuity", aggregate="pooled")["accuracy"] == "1.0"


def test_figures_come_from_the_first_round(tmp_path: Path) -> None:
    first = [f"c1,P{n},1,self-care,50" for n in range(3)]
    second = [f"c1,P{n},2,emergency,50" for n in range(3)]
    votes = write(tmp_path, "votes.csv", VOTES + "\n".join([*first, *second]) + "\n")
    message = run(tmp_path, long_file(tmp_path, ["c1,M,qa,0,self-care,emergency"]), votes=votes)
    own = row(tmp_path, "panel_cases", case="c1")
    assert (own["m"], own["low"]) == ("3", "self-care")
    assert row(tmp_path, "acuity", aggregate="pooled")["accuracy"] == "1.0"
    assert "The panel gives 1 of the labelled cases another reference than the label" in message


def test_a_point_of_the_cost_curve(tmp_path: Path) -> None:
    # One case two under, one right: at ratio r and γ = 2 the mean is 4r / 2.
    lines = ["c1,M,qa,0,self-care,urgent-care", "c2,M,qa,0,self-care,self-care"]
    run(tmp_path, long_file(tmp_path, lines), gamma=2.0)
    curve = rows(tmp_path, "cost_curve")
    assert len(curve) == 41 and (float(curve[0]["ratio"]), float(curve[-1]["ratio"])) == pytest.approx((1, 20))
    for own in curve:
        assert float(own["cost"]) == pytest.approx(2 * float(own["ratio"]))


def test_pairs_rest_on_the_cases_of_both(tmp_path: Path) -> None:
    lines = [f"c{n},M,qa,0,self-care,self-care" for n in range(4)]
    lines += [f"c{n},N,qa,0,{'emergency' if n else 'self-care'},self-care" for n in range(3)]
    run(tmp_path, long_file(tmp_path, [*lines, "c3,N,qa,0,refused,self-care"]))
    own = row(tmp_path, "pairs", aggregate="pooled", measure="accuracy")
    assert (own["n_cases"], own["first_value"], float(own["second_value"])) == ("3", "1.0", pytest.approx(1 / 3))
    assert {"severe_over", "safety"} <= {own["measure"] for own in rows(tmp_path, "pairs")}
    # Over everything asked the refusal counts: 4 of 4 against 1 of 4.
    own = row(tmp_path, "pairs", aggregate="pooled", measure="accuracy_all")
    assert (own["n_cases"], own["first_value"], own["second_value"], own["difference"]) == ("4", "1.0", "0.25", "0.75")
    assert not [own for own in rows(tmp_path, "pairs") if own["aggregate"] == "mode" and own["measure"] == "cost_all"]


def test_mcnemar_over_cases_counts_the_samples_of_both(tmp_path: Path) -> None:
    # In each of 12 cases the first alone is right once; in two of them the second alone is right twice.
    lines = []
    for n in range(12):
        second = ["emergency", "self-care", "self-care"]
        first = ["self-care", *(["emergency"] * 2 if n < 2 else ["self-care"] * 2)]
        for name, levels in (("M", first), ("N", second)):
            lines += [f"c{n},{name},qa,{k},{level},self-care" for k, level in enumerate(levels)]
    run(tmp_path, long_file(tmp_path, lines))
    own = row(tmp_path, "pairs", aggregate="mode", measure="accuracy")
    # b - c is 1 in ten cases and -1 in two: (11/12) · 8² / 12, on one degree of freedom.
    assert float(own["p_clustered"]) == pytest.approx(chi2.sf(11 / 12 * 64 / 12, 1))


def test_macro_f1_needs_five_cases_of_each_level(tmp_path: Path) -> None:
    for n, shown in ((5, True), (4, False)):
        lines = [f"a{k},M,qa,0,self-care,self-care" for k in range(8)]
        lines += [f"b{k},M,qa,0,{'emergency' if k else 'self-care'},emergency" for k in range(n)]
        run(tmp_path, long_file(tmp_path, lines))
        own = row(tmp_path, "acuity", aggregate="pooled")
        assert (own["macro_f1_low"] != "") is shown
        assert ("macro_f1: no interval: 4 of the 5 cases needed of each level" in own["note"]) is not shown


def test_the_settings_are_written_beside_the_tables(tmp_path: Path) -> None:
    run(tmp_path, long_file(tmp_path, ["c1,M,qa,0,self-care,self-care"]), ratio=3.0)
    settings = json.loads((tmp_path / "out" / "settings.json").read_text("utf-8"))
    assert (settings["scale"]["name"], settings["scheme"], settings["ratio"]) == ("four", "direct", 3.0)
    assert (settings["ambiguous"], settings["interval"]) == ("dispersion:0.75", "jackknife")


def test_files_of_an_earlier_run_are_named(tmp_path: Path) -> None:
    readings = long_file(tmp_path, ["c1,M,qa,0,self-care,self-care"])
    run(tmp_path, readings, votes=votes_file(tmp_path, {"c1": ["self-care"] * 3}))
    assert "From an earlier run, not written now: uncertainty.csv" in run(tmp_path, readings)


def test_columns_that_were_not_read_are_named(tmp_path: Path) -> None:
    file = write(tmp_path, "r.csv", "case,candidate,level,refrence\nc1,M,self-care,self-care\n")
    assert "Columns that were not read: refrence" in run(tmp_path, file)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratio": float("nan")}, "--ratio must be a number from 0 to 1000"),
        ({"gamma": float("inf")}, "--gamma must be a number from 0 to 10"),
        ({"ambiguous": "dispersion:nan"}, "is none of: dispersion:X"),
        ({"ambiguous": "majority:75"}, "majority:X (0 to 1)"),
        ({"candidate": "all"}, "no candidate can have that name"),
        ({"candidate": "\ud800"}, "no candidate can have that name"),
        ({"scale": "s" * 5000}, "there is no scale"),
    ],
)
def test_options_that_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    assert message in refusal(tmp_path, long_file(tmp_path, ["c1,M,qa,0,self-care,self-care"]), **options)


def test_labels_that_mean_the_same_are_one(tmp_path: Path) -> None:
    run(tmp_path, long_file(tmp_path, ["c1,M,qa,0,self-care,SELF_CARE", "c1,M,qa,1,self-care,Self-care"]))
    assert row(tmp_path, "acuity", aggregate="pooled")["accuracy"] == "1.0"


def test_two_texts_of_one_case_are_refused(tmp_path: Path) -> None:
    files = [
        write(tmp_path, f"{n}.jsonl", json.dumps({"urgency_level": "em", "case_description": f"Made up {n}."}) + "\n")
        for n in (1, 2)
    ]
    message = refusal(tmp_path, *files, scheme="em-ne-sc")
    assert "line 1, case_description: The case D-0001 has a different text earlier (SHA-256" in message


def test_a_number_of_many_digits(tmp_path: Path) -> None:
    heading = "case,candidate,level,sample\n"
    file = write(tmp_path, "s.csv", f"{heading}c1,M,self-care,{'1' * 5000}\n")
    assert "must be a whole number" in refusal(tmp_path, file)
    run(tmp_path, write(tmp_path, "r.csv", f"{heading}c1,M,self-care,{'0' * 5000}1\n"))


def test_a_pair_with_gaps_is_as_in_a_file_of_its_shared_cases(tmp_path: Path) -> None:
    # Each candidate refuses a third of the cases, each another third, so that every pair has other cases.
    levels = ("self-care", "primary-care", "urgent-care", "emergency")
    lines = [
        (case, candidate, f"c{case:02},{name},qa,0,{level},{levels[case % 4]}")
        for case in range(30)
        for candidate, name in enumerate("ABC")
        for level in ["refused" if case % 3 == candidate else levels[min(case % 5 // 2 + candidate, 3)]]
    ]
    run(tmp_path, long_file(tmp_path, [line for _case, _candidate, line in lines]))
    whole = _of_usable(rows(tmp_path, "pairs"))
    assert {row["n_cases"] for row in whole} == {"10"}
    for pair in ((0, 1), (0, 2), (1, 2)):
        shared = [line for case, candidate, line in lines if candidate in pair and case % 3 not in pair]
        run(tmp_path, long_file(tmp_path, shared))
        alone = _of_usable(rows(tmp_path, "pairs"))
        names = {"first": "ABC"[pair[0]], "second": "ABC"[pair[1]]}
        own = [row for row in whole if names.items() <= row.items()]
        for column in ("measure", "aggregate", "note", "n_cases"):
            assert [row[column] for row in own] == [row[column] for row in alone]
        for column in ("first_value", "second_value", "difference", "difference_low", "difference_high"):
            numbers = [[float(row[column] or "nan") for row in given] for given in (own, alone)]
            assert numbers[0] == pytest.approx(numbers[1], abs=1e-12, nan_ok=True)


def _of_usable(pairs: list[dict[str, str]]) -> list[dict[str, str]]:
    """The rows of measures of usable readings; those over everything asked rest on other cases."""
    return [row for row in pairs if row["measure"] not in OF_EVERYTHING]


def test_levels_too_low_with_a_safety_net(tmp_path: Path) -> None:
    heading = "case,candidate,format,sample,level,escalation,reference\n"
    lines = [
        "c1,M,chat,0,primary-care,emergency,emergency",
        "c2,M,chat,0,self-care,,emergency",
        "c3,M,chat,0,self-care,primary-care,urgent-care",
        "c4,M,chat,0,primary-care,urgent-care,urgent-care",
        "c5,M,chat,0,urgent-care,emergency,urgent-care",  # right
        "c6,M,chat,0,refused,emergency,emergency",  # names no level
        "c7,M,chat,0,self-care,None,primary-care",
        "c1,M,qa,0,self-care,,emergency",  # a forced choice says nothing of it
    ]
    file = write(tmp_path, "advice.csv", heading + "\n".join(lines))
    message = run(tmp_path, file)
    assert "not read" not in message
    place = {"candidate": "M", "format": "chat", "aggregate": "pooled"}
    own = row(tmp_path, "missed", **place, sent_to="")
    names = ("n", "missed", "n_low", "n_stated", "n_net", "n_emergency_net")
    # Five are too low; the advice on c1 and c4 reaches the reference under a condition.
    assert [own[name] for name in names] == ["2", "2", "5", "5", "2", "1"]
    ends = binomtest(2, 5).proportion_ci(method="wilson")
    shares = [float(own[name]) for name in ("net_share", "net_share_low", "net_share_high")]
    assert shares == pytest.approx([0.4, ends.low, ends.high])
    by_level = {row["sent_to"]: (row["n_low"], row["n_net"]) for row in rows(tmp_path, "missed") if row["sent_to"]
                and all(row[name] == value for name, value in place.items())}  # fmt: skip
    assert by_level == {"self-care": ("3", "0"), "primary-care": ("2", "2"), "urgent-care": ("0", "")}
    own = row(tmp_path, "missed", candidate="M", format="qa", aggregate="pooled", sent_to="")
    assert (own["n_low"], own["n_stated"], own["n_net"], own["net_share"]) == ("1", "0", "", "")
    assert own["note"] == "net_share: no reading states what is advised under a condition"
    mode = row(tmp_path, "missed", candidate="M", format="chat", aggregate="mode", sent_to="")
    assert mode["note"] == "net_share: the mode of a case has no advice under a condition"


def test_advice_under_a_condition_that_is_no_level_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "advice.csv", "case,level,escalation,reference\nc1,self-care,soon,emergency\n")
    assert "line 2, escalation: “soon” is not one of: self-care, primary-care" in refusal(tmp_path, file)
