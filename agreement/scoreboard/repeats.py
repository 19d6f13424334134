"""How scores vary from one repeat to the next: over samples of a candidate, replicates of a judge's run, and runs.

Each repeat is scored as in a report of scores. Repeats of a candidate are compared over the same units only: by sample
over cases, each setting apart, by replicate and by run over responses. The repeats are those that most of the units
with two or more have (of equally many the larger set); units that lack one of them are left out and counted.

- *sample*: several responses of a candidate to a case in one setting, by the rater's outcome. Varies with candidate and
  rater.
- *replicate*: what a judge answered several times in one run about the same response. Varies with the judge alone.
- *run*: finished runs of the same version of a judge, each with its own outcome.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.counting.inputs import digest_of
from consilium.core.phrases import joined, labelled
from consilium.core.ratings import Ratings
from consilium.core.reasons import Reason
from consilium.statistics.cacs import cacs_values
from consilium.statistics.estimate import Figure
from consilium.statistics.outcomes import Outcome
from consilium.statistics.repeat_spread import repeat_spread
from rubrics.models import Benchmark, Candidate, Case
from scoring.models import JudgeRun
from scoring.runs.selectors import RunSet
from scoring.scores.points import DEFAULT_RULES, score_responses
from scoring.scores.score_columns import CLIP
from scoring.scores.score_tables import digest_of_sheet
from scoring.scores.sheet import Row, Sheet, read_sheet, settings_of
from scoring.selectors.raters import Rater, rater_of_runs

SAMPLE, REPLICATE, RUN = "sample", "replicate", "run"
MEASURES = ("rubric_score", "rubric_accuracy", "cacs_at_k")
MAX_RUNS = 16  # the newest runs of a judge; HealthBench repeats 16 times
COLUMNS = (
    *("candidate", "by", "measure", "n_repeats", "n_cases", "n_responses", "average", "sd", "minimum", "maximum"),
    *("k", "note"),
)
VALUE_COLUMNS = ("candidate", "by", "repeat", "n_cases", "n_responses", *MEASURES, "k")
TEXT_COLUMNS = ("candidate", "by", "measure", "repeat", "note")

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Scoring:
    """One way to score responses: a sheet, and which of its responses it is about (all where None)."""

    sheet: Sheet
    repeat: str  # empty where the samples are the repeats
    only: NDArray[np.bool_] | None = None
    settings: NDArray[np.int64] | None = None  # of its responses, as codes; where the samples are the repeats


@dataclass(frozen=True, eq=False)
class RepeatInputs:
    """The scorings by kind of repeat: one for samples, one for each replicate and for each run."""

    scorings: dict[str, list[Scoring]]
    names: dict[int, str]
    digest: str


@dataclass(frozen=True)
class RepeatTables:
    """Rows by column name."""

    rows: list[Row]
    values: list[Row]


def read_repeats(benchmark: Benchmark, rater: Rater) -> RepeatInputs:
    """Read the rater, and of a judge its replicates and its runs of the same version."""
    sheet = read_sheet(benchmark, rater)
    _names, settings = np.unique(np.array(settings_of(sheet.response_ids), dtype=str), return_inverse=True)
    scorings = {SAMPLE: [Scoring(sheet, "", settings=settings)], REPLICATE: [], RUN: []}
    digests = [_digest(benchmark, rater, sheet)]
    if len(rater.judges) == 1 and not rater.members:
        runs = rater.judges[0]
        for number in _replicates(runs):
            ratings = runs.replicate_ratings(number)
            scorings[REPLICATE].append(_of_replicate(sheet, ratings, str(number)))
            digests.append(digest_of(ratings, names=(str(number),)))
        for run in _runs(benchmark, rater, runs):
            own = rater_of_runs(RunSet((run,)), f"run:{run.public_id}")
            of_run = read_sheet(benchmark, own)
            scorings[RUN].append(Scoring(of_run, run.public_id))
            digests.append(_digest(benchmark, own, of_run))
    names = dict(Candidate.objects.filter(benchmark=benchmark).values_list("pk", "name"))
    return RepeatInputs(scorings, names, hashlib.sha256(json.dumps(digests).encode()).hexdigest())


def _digest(benchmark: Benchmark, rater: Rater, sheet: Sheet) -> str:
    names = dict(Candidate.objects.filter(benchmark=benchmark).values_list("pk", "name"))
    keys = dict(Case.objects.filter(benchmark=benchmark).values_list("pk", "key"))
    return digest_of_sheet(
        sheet,
        rater.label,
        [names[pk] for pk in sheet.candidate_ids.tolist()],
        [keys[pk] for pk in sheet.case_ids.tolist()],
    )


def _replicates(runs: RunSet) -> list[int]:
    """The numbers of the replicates; none where there is only one."""
    most = max(run.replicates for run in runs.runs)
    return list(range(most)) if most > 1 else []


def _runs(benchmark: Benchmark, rater: Rater, runs: RunSet) -> list[JudgeRun]:
    """The newest finished runs of the same version of a judge, the oldest first; none where one alone was named."""
    if rater.label.startswith("run:"):
        return []
    same = JudgeRun.objects.graded().filter(benchmark=benchmark, judge=runs.newest.judge_id).select_related("judge")
    own = list(reversed(same[:MAX_RUNS]))
    return own if len(own) > 1 else []


def _of_replicate(sheet: Sheet, ratings: Ratings, name: str) -> Scoring:
    """The sheet with the verdicts of one replicate; a response without any is no part of it."""
    keys = (sheet.response_ids[sheet.response] << 31) | sheet.criterion_ids[sheet.criterion]
    given = ratings.keys()
    answer = np.full(len(keys), np.int64(Outcome.MISSING))
    if len(given):
        place = np.minimum(np.searchsorted(given, keys), len(given) - 1)
        has_verdict = given[place] == keys
        answer[has_verdict] = ratings.outcome[place[has_verdict]]
    answer[sheet.answer == Outcome.FAULTY] = Outcome.FAULTY
    answered = np.isin(sheet.response_ids, np.unique(ratings.response))
    return Scoring(replace(sheet, answer=answer, open=np.zeros_like(sheet.open), share=None), name, answered)


@dataclass(frozen=True, eq=False)
class _Scored:
    """Scored responses of every repeat, one entry each: ids, and the repeat. A measure of some responses is the sum of
    its row of ``above`` over that of ``below``, both of shape (measures, entries), where ``is_scored``.
    """

    candidate: Array
    case: Array
    unit: Array
    repeat: Array
    above: Array
    below: Array
    is_scored: Array

    def chosen(self, mask: Array) -> _Scored:
        return _Scored(**{name: column[..., mask] for name, column in self.__dict__.items()})


def _scored(scorings: Sequence[Scoring], k: int) -> _Scored:
    parts = [_score(scoring, number, k) for number, scoring in enumerate(scorings)]
    names = parts[0].__dict__
    return _Scored(**{name: np.concatenate([part.__dict__[name] for part in parts], axis=-1) for name in names})


def _score(scoring: Scoring, number: int, k: int) -> _Scored:
    sheet = scoring.sheet
    scores = score_responses(
        sheet.response, sheet.points, sheet.answer, len(sheet.response_ids), DEFAULT_RULES, sheet.share
    )
    cacs = cacs_values(scores.hits, np.where(scores.has_hits, scores.n_positive, 0), k)
    ones = np.ones(len(sheet.response_ids))
    samples = scoring.settings is not None
    case = sheet.case_ids[sheet.response_case]
    unit = sheet.response_ids
    if scoring.settings is not None:
        unit = case * (int(scoring.settings.max(initial=0)) + 1) + scoring.settings
    # In the order of `MEASURES`.
    scored = _Scored(
        candidate=sheet.candidate_ids[sheet.response_candidate],
        case=case,
        unit=unit,
        repeat=sheet.response_sample.astype(np.int64) if samples else np.full(len(ones), number, dtype=np.int64),
        above=np.stack([np.nan_to_num(scores.score), 100.0 * scores.hits, np.nan_to_num(cacs)]),
        below=np.stack([ones, scores.n_positive, ones]),
        is_scored=np.stack([scores.has_score, scores.has_hits, ~np.isnan(cacs)]),
    )
    return scored if scoring.only is None else scored.chosen(scoring.only)


def repeat_tables(inputs: RepeatInputs, k: int) -> RepeatTables:
    """Every table, by candidate and kind of repeat. Of replicates and runs only candidates with two or more."""
    rows: list[Row] = []
    values: list[Row] = []
    for by, scorings in inputs.scorings.items():
        if not scorings:
            continue
        scored = _scored(scorings, k)
        labels = None if by == SAMPLE else [scoring.repeat for scoring in scorings]
        for pk in sorted(np.unique(scored.candidate).tolist(), key=inputs.names.__getitem__):
            own = scored.chosen(scored.candidate == pk)
            named = {"candidate": inputs.names[pk], "by": by}
            candidate_rows, candidate_values = _rows(own, labels, k)
            if by == SAMPLE or len(candidate_values) > 1:
                rows += [{**named, **row, "k": k} for row in candidate_rows]
                values += [{**named, **row, "k": k} for row in candidate_values]
    order = {name: place for place, name in enumerate((SAMPLE, REPLICATE, RUN))}
    rows.sort(key=lambda row: (row["candidate"], order[row["by"]], MEASURES.index(row["measure"])))
    values.sort(key=lambda row: (row["candidate"], order[row["by"]]))
    return RepeatTables(rows, values)


def _rows(own: _Scored, labels: list[str] | None, k: int) -> tuple[list[Row], list[Row]]:
    """A row for each measure, and one for each repeat, of one candidate."""
    repeats = _common(own)
    values: list[Row] = [
        {"repeat": str(repeat) if labels is None else labels[repeat], "n_cases": 0, "n_responses": 0}
        for repeat in repeats
    ]
    rows = []
    n_all = len(np.unique(own.unit))
    left_out = Reason.CASES_NOT_REPEATED if labels is None else Reason.RESPONSES_NOT_REPEATED
    for above, below, is_scored, measure in zip(own.above, own.below, own.is_scored, MEASURES, strict=True):
        inside = is_scored & _in_all(own, is_scored, repeats)
        n_cases, n_units = len(np.unique(own.case[inside])), len(np.unique(own.unit[inside]))
        figures = []
        for repeat, row in zip(repeats, values, strict=True):
            chosen = inside & (own.repeat == repeat)
            total = float(below[chosen].sum())
            figure = float(above[chosen].sum()) / total if total else None
            if figure is not None and measure == "rubric_score":
                figure = min(max(figure, CLIP[0]), CLIP[1])
            row[measure] = figure
            if measure == "rubric_score":
                row["n_cases"], row["n_responses"] = n_cases, int(chosen.sum())
            figures.append(figure)
        spread = repeat_spread(
            [figure for figure in figures if figure is not None], empty=Reason.NO_CASE_IN_EVERY_REPEAT()
        )
        named: dict[str, Figure] = {
            "average": spread.mean,
            "sd": spread.sd,
            "minimum": spread.lowest,
            "maximum": spread.highest,
        }
        rows.append(
            {
                "measure": measure,
                "n_repeats": len(repeats) if n_cases else 0,
                "n_cases": n_cases,
                "n_responses": int(inside.sum()) // max(len(repeats), 1),
                **{name: figure.value for name, figure in named.items()},
                "note": joined(
                    labelled("sd", spread.sd.note) if spread.sd.note else "",
                    left_out.counted(n_all - n_units) if n_units else "",
                ),
            }
        )
    return rows, values


def _common(own: _Scored) -> list[int]:
    """The repeats that most of the units with two or more scored repeats have; without such a unit, those of most."""
    is_scored = own.is_scored[0]  # of the rubric score
    sets = _sets(own.unit[is_scored], own.repeat[is_scored])
    several = [repeats for repeats in sets if len(repeats) > 1] or sets
    # Of sets that equally many units have, the larger one; then the one with the lower numbers.
    ranked = sorted(Counter(several).items(), key=lambda item: (-item[1], -len(item[0]), item[0]))
    return list(ranked[0][0]) if ranked else []


def _sets(unit: Array, repeat: Array) -> list[tuple[int, ...]]:
    """The repeats of each unit, in order."""
    pairs = np.unique(np.stack([unit, repeat], axis=1), axis=0)
    _units, first = np.unique(pairs[:, 0], return_index=True)
    return [tuple(part.tolist()) for part in np.split(pairs[:, 1], first[1:])] if len(pairs) else []


def _in_all(own: _Scored, is_scored: NDArray[np.bool_], repeats: list[int]) -> NDArray[np.bool_]:
    """The entries of these repeats whose unit is scored in all of them."""
    inside = is_scored & np.isin(own.repeat, repeats)
    pairs = np.unique(np.stack([own.unit[inside], own.repeat[inside]], axis=1), axis=0)
    units, counts = np.unique(pairs[:, 0], return_counts=True)
    return np.asarray(inside & np.isin(own.unit, units[counts == len(repeats)]))
