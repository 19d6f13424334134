"""The worked examples out of the database, equal to those of `coverage_file`."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from consilium.core.out_folder import OutFolder
from consilium.statistics.intervals import IntervalRule, interval_rule
from tests.scoring.conftest import Loopback
from tests.validation.coverage.coverage_world import matching, worked_example
from tests.validation.files.made_up import coverage_lines, rows
from tests.validation.files.made_up import run as run_on_file
from validation.coverage.config import SetConfig, endpoint_kind_of
from validation.coverage.inputs import read_coverage
from validation.coverage.services import ask_physicians, decide
from validation.coverage.tables import coverage_files
from validation.models import CoverageDecision, CoverageRun

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
# What a file cannot hold.
BACKWARD = ("precision", "precision_sound", "f1", "endpoint_kind", "note")
EXACT: dict[str, Any] = {"rel": 0, "abs": 1e-9}


def tables(run: CoverageRun, folder: Path, rule: IntervalRule | None = None, **options: Any) -> dict[str, list[Any]]:
    """The tables of a run, written as files and read again."""
    files = coverage_files(read_coverage(run), rule=rule or interval_rule("jackknife", seed=0), **options)
    OutFolder(folder).write(files)
    return {
        file.name: list(csv.DictReader(StringIO((folder / f"{file.name}.csv").read_text(encoding="utf-8"))))
        for file in files
    }


def same(ours: list[dict[str, str]], theirs: list[dict[str, str]], *, besides: tuple[str, ...] = ()) -> None:
    """The same cells, numbers to 1e-9."""
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs, strict=True):
        assert list(own) == list(other)
        for name in own:
            if name in besides:
                continue
            try:
                assert float(own[name]) == pytest.approx(float(other[name]), **EXACT), name
            except ValueError:
                assert own[name] == other[name], name


@pytest.mark.parametrize(("rule", "over"), [("jackknife", "cases"), ("percentile", "cases"), ("percentile", "points")])
def test_the_worked_example_is_that_of_the_file(loopback: Loopback, tmp_path: Path, rule: str, over: str) -> None:
    world = worked_example()
    run = world.run(loopback.url)
    assert (run.status, run.error) == ("finished", "")
    ours = tables(run, tmp_path / "ours", interval_rule(rule, seed=3), over=over)
    run_on_file("coverage_file", tmp_path, coverage_lines(), interval=rule, seed=3, over=over)
    everything = [row for row in ours["coverage"] if row["slice"] == "all"]
    same(everything, rows(tmp_path, "coverage"), besides=BACKWARD)
    same([row for row in ours["comparisons"] if row["slice"] == "all"], rows(tmp_path, "comparisons"))
    a, b = everything
    assert (float(a["cia"]), float(a["cia_partly"]), a["n_invalid"]) == (0.68, 0.76, "1")
    assert float(a["cia_mean_of_cases"]) == pytest.approx(17 / 24, **EXACT)
    assert float(a["cia_valid"]) == pytest.approx(17 / 24, **EXACT)
    assert float(b["cia"]) == 0.48 and float(b["cia_mean_of_cases"]) == pytest.approx(17 / 36, **EXACT)
    (compared,) = [row for row in ours["comparisons"] if row["slice"] == "all"]
    assert (compared["b"], compared["c"]) == ("8", "3")
    assert float(compared["chi2_clustered"]) == pytest.approx(2.546296296296, **EXACT)
    assert float(compared["p_exact"]) == pytest.approx(0.2265625, **EXACT)


def test_the_table_of_points_is_a_file_for_the_command(loopback: Loopback, tmp_path: Path) -> None:
    """Its columns axis and sign make the same slices."""
    world = worked_example()
    ours = tables(world.run(loopback.url), tmp_path / "ours")
    lines = (tmp_path / "ours" / "coverage_points.csv").read_bytes()
    run_on_file("coverage_file", tmp_path, lines)
    theirs = rows(tmp_path, "coverage")
    own = [row for row in ours["coverage"] if not row["slice"].startswith("tag:")]
    assert {row["slice"] for row in own} == {"all", "axis:accuracy", "sign:positive"}
    same(own, theirs, besides=BACKWARD)


def test_controls_stand_beside_the_figure(loopback: Loopback, tmp_path: Path) -> None:
    """The gold set covers itself; the set of the next case covers nothing here."""
    ours = tables(worked_example().run(loopback.url), tmp_path)
    shown = {(row["control"], row["set"]): row for row in ours["coverage_controls"] if row["slice"] == "all"}
    assert {key: float(row["cia"]) for key, row in shown.items()} == {
        ("itself", "gold"): 1.0, ("shifted", "A"): 0.0, ("shifted", "B"): 0.0,
    }  # fmt: skip
    assert {row["n_points"] for row in shown.values()} == {"25"}


def test_matching_with_sound_extras(loopback: Loopback, tmp_path: Path) -> None:
    world = matching()
    run = world.run(loopback.url)
    before = tables(run, tmp_path / "before")["coverage"][0]
    assert before["precision_sound"] == ""
    assert "precision_sound: physicians have not decided on 5 of 5 unmatched criteria" in before["note"]
    ask_physicians(run=run, at=timezone.now())
    open_ones = CoverageDecision.objects.filter(run=run, stage="coverage_back").order_by("step__key")
    answers = {"0.2": "needless", "0.3": "needed", "0.8": "needed", "0.9": "wrong", "0.10": "ungradable"}
    assert {own.step.key for own in open_ones} == set(answers)
    for own in open_ones:
        decide(decision=own, answer=answers[own.step.key], by=world.physicians[0], at=timezone.now())
    ours = tables(run, tmp_path / "after")
    row = ours["coverage"][0]
    expected = {
        "cia": 5 / 8, "cia_partly": 3 / 4, "cia_weighted": 33 / 45, "precision": 1 / 2, "f1": 5 / 9,
        "precision_sound": 7 / 10,
    }  # fmt: skip
    assert {name: float(row[name]) for name in expected} == pytest.approx(expected, **EXACT)
    (counted,) = ours["coverage_criteria"]
    counts = {name: int(counted[name]) for name in ("n_criteria", "full", "partly", "none", "needed", "undecided")}
    assert counts == {"n_criteria": 10, "full": 5, "partly": 1, "none": 4, "needed": 2, "undecided": 0}
    # A single case has no next one, so there is no shifted control.
    assert [row["control"] for row in ours["coverage_controls"] if row["slice"] == "all"] == ["itself"]


def test_lists_say_what_one_set_alone_covers_and_what_a_set_lacks(loopback: Loopback, tmp_path: Path) -> None:
    ours = tables(worked_example().run(loopback.url), tmp_path)
    only = ours["only_one"]
    assert (len(only), sum(row["covered_by"] == "A" for row in only)) == (11, 8)
    first = next(row for row in only if (row["case"], row["gold"]) == ("c3", "001"))
    assert (first["text"], first["covered_by"], first["by"]) == ("Gold c3 0", "B", "1. Set B: full: Gold c3 0;")
    lacking = [row for row in ours["uncovered"] if row["set"] == "A"]
    assert sorted((row["case"], row["gold"], row["extent"]) for row in lacking) == [
        ("c1", "003", "none"), ("c11", "002", "invalid"), ("c12", "002", "none"), ("c3", "001", "none"),
        ("c5", "001", "partly"), ("c6", "002", "none"), ("c8", "001", "none"), ("c8", "002", "partly"),
    ]  # fmt: skip


@pytest.mark.parametrize("origin", ["split", "drafted"])
def test_criteria_by_rules_mark_figures_by_a_model(origin: str) -> None:
    own: dict[str, Any] = {
        "split": {"source": "gold", "model": "", "criteria": 1, "points": 2, "cases": 1, "unsplit": 0, "corrected": 0},
        "drafted": {"recipe": "Simple", "version": 1, "models": []},
    }
    kinds = [
        endpoint_kind_of(
            CoverageRun(endpoint_kind="model"),
            [SetConfig(name="A", id="a", digest="0", **{origin: {**own[origin], "by_rules": by_rules}})],
        )
        for by_rules in (False, True)
    ]
    assert kinds == ["model", "rules"]
