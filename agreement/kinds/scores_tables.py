"""The tables of a report of scores: those of the command ``scores``, and those of the scoreboard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from agreement.judged.coverage import coverage_remarks
from agreement.kinds.shared import raters_table
from agreement.reports.interval_facts import interval_facts
from agreement.reports.tables import Result, Row, Table
from agreement.scoreboard import annotators, graders, lengths, scoreboard
from agreement.scoreboard.case_sets import set_slices
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark, Candidate
from scoring.scores import score_tables
from scoring.scores.scored import Scored, read_scored
from scoring.scores.sheet import OVERALL
from scoring.selectors.raters import require_verdicts, resolve_rater


def compute(
    benchmark: Benchmark,
    *,
    rater: str,
    k: int,
    also: Sequence[str] = (),
    subsets: Sequence[str] = (),
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Every candidate by one rater; ``also`` are raters to compare ranks with, ``subsets`` named slices by slug.

    ``seed`` is that of `rubric_score_se`.
    """
    resolved = resolve_rater(benchmark, rater)
    others = [resolve_rater(benchmark, other) for other in also]
    require_verdicts(resolved, *others)
    progress(0.05)
    scored = read_scored(
        benchmark,
        resolved,
        k,
        rule=rule,
        seed=seed,
        more=lambda sheet, cases: set_slices(benchmark, sheet, cases, subsets),
    )
    progress(0.3)
    scores = score_tables.tables_of(scored)
    board = scoreboard.make_scoreboard(scored)
    progress(0.5)
    length = lengths.read_lengths(benchmark, scored.sheet.response_ids)
    counts = annotators.count_physicians(benchmark)
    groups = annotators.read_groups(benchmark)
    counted = annotators.count_rows(counts, groups, rule=rule)
    progress(0.7)
    marks = [graders.read_marks(benchmark, other, k) for other in others]
    names = dict(Candidate.objects.filter(benchmark=benchmark).values_list("pk", "name"))
    beside = graders.robustness(graders.marks_of(resolved.label, scored.sheet, k), marks, names)
    own = raters_table(resolved)
    progress(0.95)
    whole = [row for row in board.slices if row["slice"] == OVERALL]
    tables = {
        "scoreboard": Table.of(scoreboard.COLUMNS, whole, scoreboard.TEXT),
        "scoreboard_slices": Table.of(scoreboard.SLICE_COLUMNS, board.slices, scoreboard.TEXT),
        "gap": Table.of(scoreboard.GAP_COLUMNS, board.gap, scoreboard.TEXT),
        "families": Table.of(scoreboard.FAMILY_COLUMNS, board.families, ("family", *scoreboard.TEXT)),
        "registers": Table.of(scoreboard.REGISTER_COLUMNS, board.registers, scoreboard.TEXT),
        "counts": Table.of(annotators.COLUMNS, counted, annotators.TEXT),
        "length": Table.of(lengths.COLUMNS, lengths.length_rows(scored, length), lengths.TEXT),
        "robustness": Table.of(graders.COLUMNS, beside.rows, graders.TEXT),
        "graders": Table.of(graders.VALUE_COLUMNS, beside.values, graders.VALUE_TEXT),
        "scores": Table.of(score_tables.SCORES_COLUMNS, scores.rows, score_tables.SCORES_TEXT),
        "responses": Table.of(score_tables.RESPONSES_COLUMNS, scores.responses, score_tables.RESPONSES_TEXT),
        "worst_at_k": Table.of(score_tables.WORST_COLUMNS, scores.worst_at_k, score_tables.WORST_TEXT),
        "raters": raters_table(resolved, *others),
    }
    behind = [annotators.digested(counts), groups.labels, groups.digest]
    inputs = [_own_inputs(scored), length.tolist(), behind, _other_inputs(marks)]
    return Result(
        tables=tables,
        facts={
            "rater": scores.rater,
            "also": [other.label for other in others],
            "undecided_by": resolved.undecided_by,
            "raters": own.dicts(),
            "raters_beside": raters_table(*others).dicts(),
            "runs": [run.public_id for resolved_rater in (resolved, *others) for run in resolved_rater.runs],
            "k": scores.k,
            "worst_k": board.worst_k,
            "rules": scores.rules,
            "slices": [part.name for part in scored.slices],
            "family_kind": board.family_kind,
            "groups": groups.labels,
            "n_cases": len(np.unique(scored.sheet.response_case[scored.grid.has_score.any(axis=0)])),
            **interval_facts(rule, min(scoreboard.effective_cases(whole), default=None)),
        },
        notes=coverage_remarks(resolved, *others),
        digest=_digest(inputs),
    )


def digest_now(
    benchmark: Benchmark, *, rater: str, k: int, also: Sequence[str] = (), subsets: Sequence[str] = ()
) -> str:
    """The digest that `compute` would give of the inputs as they stand now."""
    scored = read_scored(
        benchmark,
        resolve_rater(benchmark, rater),
        k,
        more=lambda sheet, cases: set_slices(benchmark, sheet, cases, subsets),
    )
    length = lengths.read_lengths(benchmark, scored.sheet.response_ids)
    counts = annotators.count_physicians(benchmark)
    groups = annotators.read_groups(benchmark)
    marks = [graders.read_marks(benchmark, resolve_rater(benchmark, other), k) for other in also]
    behind = [annotators.digested(counts), groups.labels, groups.digest]
    return _digest([_own_inputs(scored), length.tolist(), behind, _other_inputs(marks)])


def _digest(inputs: list[Any]) -> str:
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _own_inputs(scored: Scored) -> list[Any]:
    sheet = score_tables.digest_of_sheet(scored.sheet, scored.rater.label, scored.names, scored.keys)
    return [sheet, _slices(scored)]


def _other_inputs(marks: Sequence[graders.Marks]) -> list[str]:
    return [score_tables.digest_of_sheet(mark.sheet, mark.label, [], []) for mark in marks]


def _slices(scored: Scored) -> list[Row]:
    """The content of every slice, so that a change to a tag, a map or a named slice changes the digest."""

    def digest(mask: Any) -> str:
        return "" if mask is None else hashlib.sha256(np.packbits(mask).tobytes()).hexdigest()

    return [
        {"name": part.name, "cases": digest(part.cases), "criteria": digest(part.criteria)} for part in scored.slices
    ]
