"""Figures of refinement: the worked example out of verdicts, the same numbers as the file command, and harms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from scipy import stats

from consilium.core.out_folder import OutFolder, OutTable
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.length_control import gain_at_equal_length
from rubrics.models import Response, RubricItem
from scoring.models import JudgeRun
from scoring.selectors.raters import resolve_rater
from tests.validation.files.made_up import BASE, REFINED, rows
from tests.validation.refinement.conftest import RuleEndpoint
from tests.validation.refinement.refinement_world import (
    GUIDE,
    HUNDRED,
    RefinementWorld,
    make_world,
    worked_verdict,
)
from validation.models import RefinementRun
from validation.refinement.graded_run import read_refinement_run
from validation.refinement.inputs import RefinementInputs
from validation.refinement.tables import refinement_files

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# Computed by hand.
EXPECTED = {
    "n": 12, "base": 54.5, "refined": 62.5, "gain": 8, "relative": 0.146788990826, "headroom": 0.175824175824,
    "relative_of_cases": 0.154549648647, "n_relative": 11, "improved": 9, "same": 1, "worse": 2,
    "p_sign_flip": 0.0078125,
}  # fmt: skip


def read(world: RefinementWorld, run: RefinementRun, graded: JudgeRun) -> RefinementInputs:
    return read_refinement_run(run, resolve_rater(world.benchmark, f"run:{graded.public_id}"))


def tables_of(inputs: RefinementInputs) -> dict[str, OutTable]:
    return {file.name: file for file in refinement_files(inputs, rule=DEFAULT_RULE, seed=0)}


def dicts(table: OutTable) -> list[dict[str, Any]]:
    return [dict(row) for row in table.rows]


def test_the_worked_example_and_the_file_of_its_cases(rules: RuleEndpoint, tmp_path: Path) -> None:
    world = make_world("worked", HUNDRED, cases=12, sets={"Guide": GUIDE}, tags=[])
    run = world.run(rules.url, "Guide", gold=True)
    inputs = read(world, run, world.judged(run, worked_verdict(world)))
    tables = tables_of(inputs)
    own = {(row["arm"], row["slice"]): row for row in dicts(tables["refinement"])}
    assert set(own) == {
        (arm, part) for arm in ("Guide", "gold") for part in ("all", "axis:accuracy", "axis:completeness")
    }
    whole = own["Guide", "all"]
    assert {name: whole[name] for name in EXPECTED} == pytest.approx(EXPECTED, rel=0, abs=1e-9)
    assert whole["of_upper_bound"] == pytest.approx(1)  # both arms have the same verdicts
    assert (whole["new_numbers"], whole["endpoint_kind"]) == (0, "rules")
    refined = f"{inputs.config.cases[0].base}\n\n{GUIDE[0][0]} {GUIDE[1][0]}"
    assert whole["length_ratio"] == pytest.approx(len(refined) / len(inputs.config.cases[0].base))
    # The cases as a file give the same figures.
    OutFolder(tmp_path / "run" / "out").write(list(tables.values()))
    call_command(
        "refinement_file", str(tmp_path / "run" / "out" / "refinement_cases.csv"), out=tmp_path / "file" / "out"
    )
    from_run = [row for row in rows(tmp_path / "run", "refinement") if row["slice"] == "all"]
    from_file = rows(tmp_path / "file", "refinement")
    assert len(from_file) == 2
    apart = {"endpoint_kind": "", "new_numbers": "", "note": ""}  # a file holds no texts
    assert [{**row, **apart} for row in from_run] == [{**row, **apart} for row in from_file]


def test_an_axis_is_scored_by_its_criteria_alone(rules: RuleEndpoint) -> None:
    criteria = [("Names a", 4, "accuracy"), ("Names b", 1, "accuracy"), ("Names c", 5, "completeness")]
    world = make_world("axes", criteria, cases=2, sets={"Guide": GUIDE}, tags=["theme:cough"])
    run = world.run(rules.url, "Guide")

    def met(response: Response, item: RubricItem) -> bool:
        return item.position == 1 if response.candidate == world.base else item.position != 1

    rows_ = {row["slice"]: row for row in dicts(tables_of(read(world, run, world.judged(run, met)))["refinement"])}
    assert (rows_["axis:accuracy"]["base"], rows_["axis:accuracy"]["refined"]) == pytest.approx((80, 20))
    assert (rows_["axis:completeness"]["base"], rows_["axis:completeness"]["refined"]) == pytest.approx((0, 100))
    assert (rows_["all"]["base"], rows_["all"]["refined"]) == pytest.approx((40, 60))
    assert rows_["tag:theme:cough"]["gain"] == pytest.approx(20)


def test_harms_are_listed(rules: RuleEndpoint) -> None:
    criteria = [("Names a", 4, ""), ("Recommends b", -3, ""), ("Names c", 5, "")]
    world = make_world("harms", criteria, cases=1, sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide")

    def met(response: Response, item: RubricItem) -> bool:
        return item.position == 1 if response.candidate == world.base else item.position in (2, 3)

    harms = dicts(tables_of(read(world, run, world.judged(run, met)))["refinement_harms"])
    assert [(row["text"], row["before"], row["after"]) for row in harms] == [
        ("Names a", "met", "not_met"),
        ("Recommends b", "not_met", "met"),
    ]


def test_split_gold_grades_by_the_other_half_alone(rules: RuleEndpoint) -> None:
    world = make_world("half", HUNDRED, cases=4)
    run = world.run(rules.url, split=True, gold=True)
    assert run.arm_names == ["gold half", "gold"]
    halves = {case["key"]: set(case["graded_by"]) for case in run.config["cases"]}

    # Refined texts meet what guides and nothing that grades; so the half that grades sees no gain at all.
    def met(response: Response, item: RubricItem) -> bool:
        return response.candidate != world.base and item.criterion.text not in halves[response.case.key]

    inputs = read(world, run, world.judged(run, met))
    assert {row["gain"] for row in dicts(tables_of(inputs)["refinement"]) if row["slice"] == "all"} == {0}
    graded = {criterion.text for criterion in inputs.criteria.values()}
    assert graded == set().union(*halves.values())


def test_new_numbers_are_counted_and_listed(rules: RuleEndpoint) -> None:
    world = make_world("numbers", cases=3, sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide", model="rules-new-dose")
    tables = tables_of(read(world, run, world.judged(run, lambda *_: True)))
    (whole,) = [row for row in dicts(tables["refinement"]) if row["slice"] == "all"]
    assert whole["new_numbers"] == 3
    listed = [(row["kind"], row["text"]) for row in dicts(tables["refinement_findings"])]
    assert listed[:3] == [("new_number", "750 mg")] * 3


def test_the_gain_at_equal_length_is_an_intercept() -> None:
    gains = np.array(REFINED) - np.array(BASE)
    changes = np.array([120, 90, 40, 10, -20, 66, 31, 80, 5, 44, 12, -3])
    expected = stats.linregress(changes, gains).intercept
    assert gain_at_equal_length(gains, changes).value == pytest.approx(expected)
    assert gain_at_equal_length([3, 5, 7], [0, 0, 0]).value == 5
    assert not gain_at_equal_length([3, 5, 7], [4, 4, 4]).defined
    assert not gain_at_equal_length([3, 5], [1, 2]).defined
