"""The tables of a report of scores: those of the command ``scores``, and those of the scoreboard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from agreement.judged.coverage import coverage_remarks
from agreement.kinds.shared import raters_table
from agreement.reports.interval_facts import interval_facts
from agreement.reports.tables import Result, Row, Table
from agreement.scoreboard import annotators, both_sides, case_hits, graders, lengths, scoreboard
from agreement.scoreboard.case_sets import ChosenSets
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.length_adjustment import DEFAULT_ADJUSTMENT, LengthAdjustment
from rubrics.models import Benchmark, Candidate
from scoring.scores import length_adjusted, score_tables
from scoring.scores.lengths import read_lengths
from scoring.scores.scored import ScoreInputs, read_score_inputs, read_scored
from scoring.scores.sheet import OVERALL, Sheet, read_sheet
from scoring.selectors.raters import Rater, require_verdicts, resolve_rater


def compute(
    benchmark: Benchmark,
    *,
    rater: str,
    k: int,
    also: Sequence[str] = (),
    subsets: Sequence[str] = (),
    first_labels: bool = False,
    subset_axes: bool = False,
    show: Sequence[str] = (),
    cases: Sequence[str] = (),
    length_centre: float = DEFAULT_ADJUSTMENT.centre,
    length_penalty: float = DEFAULT_ADJUSTMENT.penalty,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Every candidate by one rater; ``also`` are raters to compare ranks with, ``subsets`` named slices by slug.

    ``first_labels``: there are slices by the first label of a case too; ``subset_axes``: by axis within named slices.
    ``length_centre`` and ``length_penalty`` are those of the length-adjusted score.

    ``seed`` is that of `rubric_score_se`. ``show`` and ``cases`` choose what figures draw, and change no table.
    """
    resolved = resolve_rater(benchmark, rater)
    others = [resolve_rater(benchmark, other) for other in also]
    require_verdicts(resolved, *others)
    progress(0.05)
    marks, of_marks = _marks(benchmark, others, k)  # before the rater itself, whose arrays stay until the end
    progress(0.2)
    scored = read_scored(
        benchmark,
        resolved,
        k,
        rule=rule,
        seed=seed,
        more=partial(ChosenSets(subsets, first_labels, subset_axes).slices, benchmark),
    )
    progress(0.4)
    scores = score_tables.tables_of(scored)
    board = scoreboard.make_scoreboard(scored)
    progress(0.6)
    length = read_lengths(benchmark, scored.sheet.response_ids)
    adjustment = LengthAdjustment(length_centre, length_penalty)
    adjusted = length_adjusted.length_adjusted_rows(scored, length, adjustment)
    counts = annotators.count_physicians(benchmark)
    groups = annotators.read_groups(benchmark)
    counted = annotators.count_rows(counts, groups, rule=rule)
    progress(0.8)
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
        "values": Table.of(scoreboard.VALUE_COLUMNS, board.values, scoreboard.VALUE_TEXT),
        "difficulty": Table.of(scoreboard.DIFFICULTY_COLUMNS, board.difficulty, scoreboard.DIFFICULTY_TEXT),
        "case_hits": Table.of(case_hits.COLUMNS, case_hits.case_rows(scored), case_hits.TEXT),
        "both_sides": Table.of(both_sides.COLUMNS, both_sides.pair_rows(scored), both_sides.TEXT),
        "counts": Table.of(annotators.COLUMNS, counted, annotators.TEXT),
        "length": Table.of(lengths.COLUMNS, lengths.length_rows(scored, length), lengths.TEXT),
        "length_adjusted": Table.of(length_adjusted.COLUMNS, adjusted, length_adjusted.TEXT),
        "robustness": Table.of(graders.COLUMNS, beside.rows, graders.TEXT),
        "graders": Table.of(graders.VALUE_COLUMNS, beside.values, graders.VALUE_TEXT),
        "scores": Table.of(score_tables.SCORES_COLUMNS, scores.rows, score_tables.SCORES_TEXT),
        "responses": Table.of(score_tables.RESPONSES_TABLE, scores.responses, score_tables.RESPONSES_TEXT),
        "worst_at_k": Table.of(score_tables.WORST_TABLE, scores.worst_at_k, score_tables.WORST_TEXT),
        "raters": raters_table(resolved, *others),
    }
    behind = [annotators.digested(counts), groups.labels, groups.digest]
    inputs = [_own_inputs(scored), length.tolist(), behind, of_marks]
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
            "length_centre": length_centre,
            "length_penalty": length_penalty,
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
    benchmark: Benchmark,
    *,
    rater: str,
    also: Sequence[str] = (),
    subsets: Sequence[str] = (),
    first_labels: bool = False,
    subset_axes: bool = False,
    **chosen: Any,
) -> str:
    """The digest that `compute` would give of the inputs as they stand now; ``k`` and ``chosen`` are no inputs."""
    of_others = []
    for other in (resolve_rater(benchmark, name) for name in also):
        of_others.append(_digest_of_other(read_sheet(benchmark, other), other.label))
    inputs = read_score_inputs(
        benchmark,
        resolve_rater(benchmark, rater),
        more=partial(ChosenSets(subsets, first_labels, subset_axes).slices, benchmark),
    )
    length = read_lengths(benchmark, inputs.sheet.response_ids)
    counts = annotators.count_physicians(benchmark)
    groups = annotators.read_groups(benchmark)
    behind = [annotators.digested(counts), groups.labels, groups.digest]
    return _digest([_own_inputs(inputs), length.tolist(), behind, of_others])


def _digest(inputs: list[Any]) -> str:
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _own_inputs(inputs: ScoreInputs) -> list[Any]:
    sheet = score_tables.digest_of_sheet(inputs.sheet, inputs.rater.label, inputs.names, inputs.keys)
    return [sheet, _slices(inputs)]


def _digest_of_other(sheet: Sheet, label: str) -> str:
    """Of what another rater decided, whose ranks are compared."""
    return score_tables.digest_of_sheet(sheet, label, [], [])


def _marks(benchmark: Benchmark, others: Sequence[Rater], k: int) -> tuple[list[graders.Marks], list[str]]:
    """The marks of the other raters, and the digests of what they were read from: of one sheet at a time."""
    marks, digests = [], []
    for other in others:
        read = graders.read_marks(benchmark, other, k)
        digests.append(_digest_of_other(read.sheet, read.label))
        marks.append(replace(read, sheet=read.sheet.without_rows()))
    return marks, digests


def _slices(inputs: ScoreInputs) -> list[Row]:
    """The content of every slice, so that a change to a tag, a map or a named slice changes the digest."""

    def digest(mask: Any) -> str:
        return "" if mask is None else hashlib.sha256(np.packbits(mask).tobytes()).hexdigest()

    return [
        {"name": part.name, "cases": digest(part.cases), "criteria": digest(part.criteria)} for part in inputs.slices
    ]
