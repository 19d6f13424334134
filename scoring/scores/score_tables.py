"""Scores of candidates by a rater: Rubric score, Rubric Accuracy, Pass@k, CACS@k and worst-at-k, for every slice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from consilium.core.phrases import joined
from consilium.statistics.cacs import cacs_values
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark
from scoring.runs.selectors import coverage_notes
from scoring.scores.grid import Grid
from scoring.scores.points import DEFAULT_RULES, CountingRules
from scoring.scores.score_columns import FIGURES, MEAN_OF_REPLICATES
from scoring.scores.scored import Scored, read_scored
from scoring.scores.sheet import OVERALL, Row, Sheet, Slice, settings_of
from scoring.scores.worst import worst_figures
from scoring.selectors.raters import Rater

__all__ = ["FIGURES", "MEAN_OF_REPLICATES", "Scores", "compute_scores", "digest_of_sheet", "tables_of"]

SCORES_COLUMNS = (
    *("rater", "candidate", "slice", "n", "rubric_score", "rubric_score_se", "rubric_accuracy", "pass_at_k"),
    *("cacs_at_k", "k", "n_invalid", "n_missing", "n_cannot", "n_faulty", "note"),
)
SCORES_TEXT = ("rater", "candidate", "slice", "note")
INTERVALS_COLUMNS = (
    *("rater", "candidate", "slice"),
    *(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high", "_effective")),
    *("k", "note"),
)
# The columns of responses.csv and worst_at_k.csv of the command are a contract; tables of reports have more.
RESPONSES_COLUMNS = ("candidate", "case", "sample", "n_criteria", "hits", "rubric_score", "cacs_at_k")
RESPONSES_TABLE = ("candidate", "case", "setting", "sample", "n_criteria", "hits", "rubric_score", "cacs_at_k")
RESPONSES_TEXT = ("candidate", "case", "setting")
WORST_COLUMNS = ("candidate", "slice", "k", "worst_at_k", "n_cases")
WORST_TABLE = (
    *WORST_COLUMNS,
    *("worst_at_k_low", "worst_at_k_high", "worst_at_k_effective", "n_cases_short", "note"),
)
WORST_TEXT = ("candidate", "slice", "note")
SCOREBOARD_COLUMNS = (
    *("candidate", "kind", "n", "n_cases"),
    *(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")),
    *("k", "n_invalid", "n_missing", "n_cannot", "n_faulty", "note", "n_undecided", "n_criteria"),
)


@dataclass(frozen=True, eq=False)
class Scores:
    """The tables of `scores`, by the names of their files; and a scoreboard."""

    rater: str
    k: int
    rules: str
    rows: list[Row]
    intervals: list[Row]
    responses: list[Row]
    worst_at_k: list[Row]
    scoreboard: list[Row]
    digest: str


def compute_scores(
    benchmark: Benchmark,
    rater: Rater,
    k: int,
    *,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    rules: CountingRules = DEFAULT_RULES,
) -> Scores:
    """The scores of every candidate by ``rater``, with the coverage threshold ``k`` (1 or more).

    ``seed`` is that of `rubric_score_se`, a bootstrap deviation whatever the rule.

    Raises `scoring.selectors.raters.NoRatings` if a run of the rater has no verdict.
    """
    return tables_of(read_scored(benchmark, rater, k, rule=rule, seed=seed, rules=rules))


def tables_of(scored: Scored) -> Scores:
    """The tables of the scores, on the slices of scores.csv."""
    sheet, grid, names, k = scored.sheet, scored.grid, scored.names, scored.k
    slices = scored.slices[: scored.n_standard]
    rows, scoreboard = [], []
    for candidate in scored.order:
        for place, part in enumerate(slices):
            row = scored.columns.row(place, candidate)
            if row is None:
                continue
            if part.name == OVERALL:
                scoreboard.append({"candidate": names[candidate], "kind": scored.kinds[candidate], "k": k, **row})
            rows.append({"rater": scored.rater.label, "candidate": names[candidate], "slice": part.name, "k": k, **row})
    notes = coverage_notes(scored.rater.judges)
    for row in [*scoreboard, *(row for row in rows if row["slice"] == OVERALL)] if notes else ():
        row["note"] = joined(row["note"] or "", *notes)
    return Scores(
        rater=scored.rater.label,
        k=k,
        rules=scored.counted_as,
        rows=[{name: row[name] for name in SCORES_COLUMNS} for row in rows],
        intervals=[{name: row[name] for name in INTERVALS_COLUMNS} for row in rows],
        responses=_responses(sheet, grid, names, scored.keys, k),
        worst_at_k=_worst(scored, slices),
        scoreboard=[{name: row[name] for name in SCOREBOARD_COLUMNS} for row in scoreboard],
        digest=digest_of_sheet(sheet, scored.rater.label, names, scored.keys),
    )


def _responses(sheet: Sheet, grid: Grid, names: list[str], keys: list[str], k: int) -> list[Row]:
    """Rows of responses.csv: N and s of the positive criteria, and the scores, empty where undefined."""
    cacs = cacs_values(grid.hits[0], np.where(grid.has_hits[0], grid.n_positive[0], 0), k)
    settings = settings_of(sheet.response_ids)
    rows = []
    for place in range(len(sheet.response_ids)):
        has_hits, has_score = bool(grid.has_hits[0, place]), bool(grid.has_score[0, place])
        rows.append(
            {
                "candidate": names[sheet.response_candidate[place]],
                "case": keys[sheet.response_case[place]],
                "setting": settings[place],
                "sample": int(sheet.response_sample[place]),
                "n_criteria": int(grid.n_positive[0, place]),
                "hits": int(grid.hits[0, place]) if has_hits else None,
                "rubric_score": float(grid.score[0, place]) if has_score else None,
                "cacs_at_k": None if np.isnan(cacs[place]) else float(cacs[place]),
            }
        )
    return sorted(rows, key=lambda row: (row["candidate"], row["case"], row["setting"], row["sample"]))


def _worst(scored: Scored, slices: list[Slice]) -> list[Row]:
    """Rows of worst_at_k.csv: for k from 1 to the candidate's maximum number of samples of a case in the slice."""
    sheet, grid = scored.sheet, scored.grid
    n_candidates = len(scored.names)
    most = np.zeros((len(slices), n_candidates), dtype=np.int64)
    n_cases = np.zeros((len(slices), n_candidates), dtype=np.int64)
    for place in range(len(slices)):
        scored_here = grid.inside[place] & grid.has_score[place]
        samples = np.zeros((n_candidates, len(sheet.case_ids)), dtype=np.int64)
        np.add.at(samples, (sheet.response_candidate[scored_here], sheet.response_case[scored_here]), 1)
        if samples.size:
            most[place], n_cases[place] = samples.max(axis=1), (samples > 0).sum(axis=1)
    figures_by_k = {k: worst_figures(scored, k, len(slices)).figures for k in range(1, most.max(initial=0) + 1)}
    rows = []
    for candidate in scored.order:
        for place, part in enumerate(slices):
            for k in range(1, int(most[place, candidate]) + 1):
                figure = figures_by_k[k][place * n_candidates + candidate]
                rows.append(
                    {
                        "candidate": scored.names[candidate],
                        "slice": part.name,
                        "k": k,
                        "worst_at_k": figure.value,
                        "n_cases": figure.n,
                        "worst_at_k_low": figure.low,
                        "worst_at_k_high": figure.high,
                        "worst_at_k_effective": figure.effective,
                        "n_cases_short": int(n_cases[place, candidate]) - figure.n,
                        "note": figure.note,
                    }
                )
    return rows


def digest_of_sheet(sheet: Sheet, rater: str, names: list[str], keys: list[str]) -> str:
    """SHA-256 of the input of scores, with the names of its candidates and the keys of its cases."""
    digest = hashlib.sha256("\x1f".join([rater, *names, *keys]).encode())
    for column in (
        sheet.response_ids,
        sheet.criterion_ids,
        sheet.response,
        sheet.criterion,
        sheet.points,
        sheet.answer,
    ):
        digest.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
    if sheet.share is not None:
        digest.update(np.ascontiguousarray(sheet.share, dtype="<f8").tobytes())
    return digest.hexdigest()
