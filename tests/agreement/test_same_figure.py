"""A figure on several pages is the same on each, with its n and the ends of its interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agreement.kinds import agreement, comparison, fidelity, items, powered
from agreement.kinds.scores_tables import compute as scores
from agreement.reports.tables import Result
from tests.agreement.study import Pair, coin, make_study, noisy

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

SEED, K = 4, 2
MEASURES = ("rubric_score", "rubric_accuracy", "cacs_at_k")


def by(result: Result, name: str, key: str = "slice") -> dict[str, dict[str, Any]]:
    return {row[key]: row for row in result.tables[name].dicts()}


def test_every_page_says_the_same() -> None:
    study = make_study(cases=12, points=(3, 1, -2, 1, 5))
    study.group("A", coin(1, *["met", "not_met"] * 12, "cannot_assess"))
    study.group("B", noisy(study, "A", 2, 0.2))
    right, broken = noisy(study, "A", 3, 0.25), coin(9, *["right"] * 12, "invalid", "")

    def judge(pair: Pair) -> str:
        outcome = broken(pair)
        return right(pair) if outcome == "right" else outcome

    study.judge("J", judge)
    study.judge("K", noisy(study, "A", 5, 0.3))
    benchmark = study.benchmark
    beside = by(agreement.compute(benchmark, rater_a="group:A", rater_b="J", seed=SEED), "agreement")
    groups = by(agreement.compute(benchmark, rater_a="group:A", rater_b="group:B", seed=SEED), "agreement")
    item = items.compute(benchmark, rater_a="group:A", rater_b="J", seed=SEED)
    contest = by(comparison.compute(benchmark, reference="group:A", judge_a="J", judge_b="K", seed=SEED), "comparison")
    triad = by(fidelity.compute(benchmark, judge="J", group_a="group:A", group_b="group:B", seed=SEED), "fidelity")
    by_group = scores(benchmark, rater="group:A", k=K, also=("J",), seed=SEED)
    by_judge = by(scores(benchmark, rater="J", k=K, seed=SEED), "scoreboard", "candidate")
    board = by(by_group, "scoreboard", "candidate")

    # MF1 of the judge: all three reports rest on the pairs that A answered; A's "cannot assess" is also B's.
    whole = beside["all"]
    assert whole["n_invalid"] > 0
    for name in ("all", "candidate:alpha"):
        for own, column in ((contest, "mf1_a"), (triad, "mf1_judge_a")):
            for end in ("", "_low", "_high"):
                assert own[name][f"{column}{end}"] == beside[name][f"mf1{end}"], (name, column, end)
            assert own[name]["n_pairs"] == beside[name]["n_pairs"]
        assert triad[name]["mf1_ceiling"] == groups[name]["mf1"]
        (counts,) = [row for row in by_group.tables["counts"].dicts() if (row["group"], row["slice"]) == ("", name)]
        for column in ("n_pairs", "mf1", "mf1_low", "mf1_high"):
            assert counts[column] == groups[name][column]

    # Disagreement is one less agreement; responses and criteria add up to the whole.
    assert item.tables["overall"].dicts()[0]["rate"] == pytest.approx(1 - whole["raw"])
    for row in item.tables["where"].dicts():
        if row["slice"] in beside:
            assert row["rate"] == pytest.approx(1 - beside[row["slice"]]["raw"]), row
    for row in item.tables["tail"].dicts():
        other = beside[row["slice"]]
        assert [row[name] for name in ("mf1", "raw", "n_pairs")] == [other[name] for name in ("mf1", "raw", "n_pairs")]
    criteria = item.tables["criteria"].dicts()
    for column in ("n_pairs", "n_invalid", "n_cannot"):
        assert sum(row[column] for row in criteria) == whole[column]

    # Scores: the board, its file, the responses behind it, another grader's table, and prediction-powered scores.
    file = {(row["candidate"], row["slice"]): row for row in by_group.tables["scores"].dicts()}
    for row in by_group.tables["scoreboard_slices"].dicts():
        if own := file.get((row["candidate"], row["slice"])):
            shared = own.keys() & row.keys() - {"note"}
            assert {name: row[name] for name in shared} == {name: own[name] for name in shared}
    for name, row in board.items():
        own = [row for row in by_group.tables["responses"].dicts() if row["candidate"] == name]
        score = [row["rubric_score"] for row in own if row["rubric_score"] is not None]
        hits = [(row["hits"], row["n_criteria"]) for row in own if row["hits"] is not None]
        assert (row["n"], row["rubric_score"]) == (len(score), pytest.approx(np.clip(np.mean(score), 0, 1)))
        assert row["rubric_accuracy"] == pytest.approx(100 * sum(s for s, _ in hits) / sum(n for _, n in hits))
        graders = [row for row in by_group.tables["graders"].dicts() if row["candidate"] == name]
        for grader in graders:
            scale = 100 if grader["setting"] == "rubric_score" else 1
            assert grader["rater_value"] == pytest.approx(scale * row[grader["setting"]])
    result = powered.compute(benchmark, judge="J", reference="group:A", k=K)
    for row in result.tables["powered"].dicts():
        if row["slice"] == "overall_score":
            assert row["measure"] in MEASURES
            assert row["physicians"] == pytest.approx(board[row["candidate"]][row["measure"]])
            assert row["judge"] == pytest.approx(by_judge[row["candidate"]][row["measure"]])
