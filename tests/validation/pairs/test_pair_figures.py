"""Runs of trials and the figures of their answers, against the worked example and the file command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from consilium.core.out_folder import OutFolder, OutTable
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.trials import DecisionRule
from tests.scoring.conftest import Loopback
from tests.validation.files.made_up import rows
from tests.validation.pairs.pair_world import DANGEROUS, NINE, PairWorld, make_world, scripted, worked_example
from validation.files.pair_tables import PairOptions
from validation.models import TrialRun
from validation.pairs.services import Answers
from validation.trials.inputs import read_trials
from validation.trials.tables import TrialTables, one_sided

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

EXPECTED = {
    "win": 2 / 7, "tie": 4 / 7, "loss": 1 / 7, "mean_delta": 19 / 21, "mean_delta_100": 100 * 19 / 21 / 9,
    "auroc_paired": 4.5 / 7, "auroc_pooled": 30 / 49, "auroc_self": 0.8, "position_effect": 22 / 21,
    "order_consistent": 4 / 7,
}  # fmt: skip


def tables_of(run: TrialRun, rule: DecisionRule = DecisionRule.SIGN, **options: Any) -> dict[str, OutTable]:
    inputs = read_trials(run)
    tables = TrialTables(inputs, PairOptions(rule, n_trials=inputs.config.trials, **options), DEFAULT_RULE)
    return {file.name: file for file in tables.files()}


def rows_of(table: OutTable) -> list[dict[str, Any]]:
    return [dict(row) for row in table.rows]


@pytest.mark.parametrize("rule", [DecisionRule.SIGN, DecisionRule.STATED])
def test_the_worked_example_and_the_file_of_its_trials(loopback: Loopback, tmp_path: Path, rule: DecisionRule) -> None:
    world = worked_example()
    world.confirm_all()
    run = world.run(loopback.url)
    assert (run.status, run.steps.count(), loopback.requests()) == ("finished", 42, 42)
    tables = tables_of(run, rule, has_self_consistency=True)
    own = rows_of(tables["pairs"])[0]
    assert (own["set"], own["slice"], own["n_pairs"], own["n_undecided"]) == ("A", "all", 7, 0)
    assert {name: own[name] for name in EXPECTED} == pytest.approx(EXPECTED, rel=0, abs=1e-9)
    assert own["endpoint_kind"] == "model"
    # The trials as a file give the same figures, to the last digit that is printed.
    OutFolder(tmp_path / "run" / "out").write(list(tables.values()))
    call_command(
        "pairs_file", str(tmp_path / "run" / "out" / "trials.csv"), out=tmp_path / "file" / "out", rule=str(rule),
        self_consistency=True, trials=3,
    )  # fmt: skip
    from_file = rows(tmp_path / "file", "pairs")
    from_run = [row for row in rows(tmp_path / "run", "pairs") if not row["slice"].startswith("tag:")]
    assert [{**row, "endpoint_kind": ""} for row in from_run] == from_file
    assert len(from_file) == 2  # all, and the one kind


def test_two_sets_and_no_rubric_beside_each_other(loopback: Loopback, tmp_path: Path) -> None:
    lines = ["P1 5-3w 5-3w | 5-3w 5-3w", "P2 4-4s 4-4s | 4-4s 4-4s", "P3 2-4l 2-4l | 2-4l 2-4l"]
    pairs = [scripted(lines[0]), scripted(lines[1], "unit"), scripted(lines[2], "unit")]
    keys = [pair["case"] for pair in pairs]
    world = make_world("several", pairs, {"A": dict.fromkeys(keys, NINE), "B": dict.fromkeys(keys[:2], NINE[:5])})
    world.confirm_all()
    run = world.run(loopback.url, config={"trials": 2, "no_rubric": True})
    # Three pairs by A, two by B and three without a rubric, two trials in each order.
    assert run.steps.count() == 4 * (3 + 2 + 3)
    tables = tables_of(run)
    whole = {row["set"]: row for row in rows_of(tables["pairs"]) if row["slice"] == "all"}
    assert {name: row["n_pairs"] for name, row in whole.items()} == {"(no rubric)": 3, "A": 3, "B": 2}
    assert (whole["A"]["win"], whole["A"]["loss"], whole["A"]["mean_delta"]) == (1 / 3, 1 / 3, 0)
    assert whole["B"]["mean_delta_100"] == pytest.approx(100 * 2 / 5 / 2)
    assert whole["(no rubric)"]["mean_delta_100"] == pytest.approx(0)
    compared = {
        (row["first"], row["second"]): row for row in rows_of(tables["pair_comparisons"]) if row["slice"] == "all"
    }
    assert compared["A", "B"]["n"] == 2
    unit = next(row for row in rows_of(tables["pairs"]) if row["set"] == "A" and row["slice"] == "kind:unit")
    assert (unit["n_pairs"], unit["win"], unit["loss"]) == (2, 0, 1 / 2)
    OutFolder(tmp_path / "run" / "out").write(list(tables.values()))
    call_command("pairs_file", str(tmp_path / "run" / "out" / "trials.csv"), out=tmp_path / "file" / "out", trials=2)
    for name in ("pairs", "pair_comparisons"):
        ours = [row for row in rows(tmp_path / "run", name) if not row["slice"].startswith("tag:")]
        assert [{**row, "endpoint_kind": ""} for row in ours] == [
            {**row, "endpoint_kind": ""} for row in rows(tmp_path / "file", name)
        ]


def test_what_is_noticed_what_decides_and_what_never_does(loopback: Loopback) -> None:
    """By hand: P1 differs in criteria 4 and 5, P2 in none, P3 in 3 and 4."""
    lines = ["P1 5-3w | 5-3w", "P2 4-4s | 4-4s", "P3 2-4l | 2-4l"]
    pairs = [scripted(lines[0]), scripted(lines[1], "unit"), scripted(lines[2], "unit")]
    world = make_world("noticed", pairs, {"A": {pair["case"]: NINE for pair in pairs}})
    world.confirm_all()
    tables = tables_of(world.run(loopback.url, config={"trials": 1, "no_rubric": True}))
    score = {row["slice"]: (row["n_pairs"], row["noticed"]) for row in rows_of(tables["mutation"])}
    assert score == {"all": (3, 2), "kind:dose": (1, 1), "kind:unit": (2, 1), "tag:theme:dosing": (3, 2)}
    (unnoticed,) = rows_of(tables["unnoticed"])
    assert (unnoticed["pair"], unnoticed["change"], unnoticed["why"]) == ("P2", "“once” → “slip”", "Too much.")
    deciding = [(row["pair"], row["criterion"], row["met_by"], row["n_alone"]) for row in rows_of(tables["deciding"])]
    assert deciding == [
        ("P1", "4", "reference", 2), ("P1", "5", "reference", 2), ("P3", "3", "candidate", 2),
        ("P3", "4", "candidate", 2),
    ]  # fmt: skip
    never = {(row["case"], row["criterion"]) for row in rows_of(tables["never_decisive"])}
    assert never == {("P2", str(number)) for number in range(1, 10)} | {
        (case, str(number)) for case, own in (("P1", "45"), ("P3", "34")) for number in range(1, 10)
        if str(number) not in own
    }  # fmt: skip


def test_other_pairs_stand_apart_with_their_number(loopback: Loopback) -> None:
    pairs = [scripted(f"P{number} 5-3w | 5-3w") for number in range(1, 7)]
    world = make_world("apart", pairs, {"A": {pair["case"]: NINE for pair in pairs}})
    world.judge("P1")
    world.judge("P2", Answers(is_single=True, harm="minor", has_other_flaw=False))
    world.judge("P3", Answers(is_single=True, harm="dangerous", has_other_flaw=True))
    world.judge("P4", Answers(is_single=False, harm="dangerous", has_other_flaw=False))
    run = world.run(loopback.url, which="all", config={"trials": 1})
    assert run.steps.count() == 2 * 5  # the rejected pair is not tried
    tables = tables_of(run)
    assert rows_of(tables["pairs"])[0]["n_pairs"] == 1
    apart = {row["grade"]: row["n_pairs"] for row in rows_of(tables["pairs_apart"]) if row["slice"] == "all"}
    assert apart == {"minor": 1, "flawed": 1, "open": 2}
    before = read_trials(run).digest
    world.judge("P5")  # what physicians say later counts, and makes reports stale
    assert rows_of(tables_of(run)["pairs"])[0]["n_pairs"] == 2
    assert read_trials(run).digest != before


@pytest.mark.parametrize(("model", "side"), [("always-a", "first"), ("always-same", "same")])
def test_a_model_that_reads_nothing_is_seen_at_one_look(loopback: Loopback, model: str, side: str) -> None:
    pairs = [scripted(f"P{number} 5-3w | 5-3w") for number in range(1, 4)]
    world = make_world("blind", pairs, {"A": {pair["case"]: NINE for pair in pairs}})
    world.confirm_all()
    tables = tables_of(world.run(loopback.url, model=model, config={"trials": 2}))
    (answers,) = rows_of(tables["answers"])
    assert (answers["n_good"], answers[f"share_{side}"], one_sided(answers)) == (12, 1, side)
    (own,) = [row for row in rows_of(tables["pairs"]) if row["slice"] == "all"]
    assert (own["tie"], own["mean_delta"], own["auroc_paired"]) == (1, 0, 0.5)
    assert own["position_effect"] == (18 if model == "always-a" else 0)


def test_missing_answers_are_counted_and_leave_pairs_without_a_decision(loopback: Loopback) -> None:
    pairs = [scripted("P1 5-3w | 5-3w"), scripted("P2 5-3w | 5-3w")]
    world = make_world("missing", pairs, {"A": {pair["case"]: NINE for pair in pairs}})
    world.confirm_all()
    broken = world.run(loopback.url, model="html", config={"trials": 1})
    assert broken.status == "incomplete"
    (own,) = [row for row in rows_of(tables_of(broken)["pairs"]) if row["slice"] == "all"]
    assert (own["n_pairs"], own["n_undecided"], own["win"]) == (0, 2, None)
    assert "no pair with a decision" in own["note"]
    assert rows_of(tables_of(broken)["answers"])[0]["n_missing"] == 4


def world_of_one(**case: Any) -> PairWorld:
    world = make_world("one", [scripted("P1 5-3w | 5-3w")], {"A": {"P1": NINE}}, **case)
    world.judge("P1", DANGEROUS)
    return world
