"""A rater's decisions, read and scored: the input of all tables of scores.

One query reads the rubrics' items, one the rater (`scoring.scores.sheet`); everything after that is arrays. The
counting rules are in `scoring.scores.points` and in ``docs/statistics.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from consilium.statistics.intervals import IntervalRule
from rubrics.models import Benchmark, Candidate, Case
from scoring.scores.grid import Grid, grid_of
from scoring.scores.points import DEFAULT_RULES, CountingRules
from scoring.scores.score_columns import MEAN_OF_REPLICATES, Columns
from scoring.scores.sheet import Row, Sheet, Slice, read_sheet, slices_of
from scoring.selectors.raters import Rater, require_verdicts

# Makes slices beyond those of scores.csv from the sheet, the labels of its cases by pk and those slices.
MoreSlices = Callable[[Sheet, dict[int, Row], Sequence[Slice]], Sequence[Slice]]


def no_more(sheet: Sheet, cases: dict[int, Row], standard: Sequence[Slice]) -> Sequence[Slice]:
    """Only the slices of scores.csv."""
    return ()


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreInputs:
    """What a rater decided. ``slices`` holds those of scores.csv, the overall one first, and then the others.

    ``names`` and ``kinds`` are indexed by the sheet's candidates, ``keys`` by its cases.
    """

    rater: Rater
    sheet: Sheet
    names: list[str]
    kinds: list[str]
    keys: list[str]
    slices: list[Slice]
    n_standard: int  # how many slices are those of scores.csv


@dataclass(frozen=True, eq=False, kw_only=True)
class Scored(ScoreInputs):
    """The same with the scores as arrays."""

    k: int
    rules: CountingRules
    grid: Grid
    columns: Columns
    rule: IntervalRule | None
    seed: int

    @property
    def order(self) -> list[int]:
        """Indices of the candidates in the order of their names."""
        return sorted(range(len(self.names)), key=lambda place: self.names[place])

    @property
    def counted_as(self) -> str:
        """The counting rules, as reports name them."""
        return str(self.rules) if self.sheet.share is None else f"{self.rules}; rubric score: {MEAN_OF_REPLICATES}"


def read_scored(
    benchmark: Benchmark,
    rater: Rater,
    k: int,
    *,
    rule: IntervalRule | None = None,
    seed: int = 0,
    rules: CountingRules = DEFAULT_RULES,
    more: MoreSlices = no_more,
) -> Scored:
    """Read what ``rater`` decided and score it with the coverage threshold ``k`` (1 or more).

    Without a ``rule`` no figure has an interval. ``seed`` is that of what is drawn: the deviations of the rubric score.
    Raises `scoring.selectors.raters.NoRatings` if a run of the rater has no verdict.
    """
    inputs = read_score_inputs(benchmark, rater, more=more)
    grid = grid_of(inputs.sheet, inputs.slices, rules)
    return Scored(
        **vars(inputs),
        k=k,
        rules=rules,
        grid=grid,
        columns=Columns(inputs.sheet, grid, k, rater.undecided_by, rule=rule, seed=seed),
        rule=rule,
        seed=seed,
    )


def read_score_inputs(benchmark: Benchmark, rater: Rater, *, more: MoreSlices = no_more) -> ScoreInputs:
    """Read what ``rater`` decided, and score nothing; `NoRatings` as `read_scored`."""
    require_verdicts(rater)
    sheet = read_sheet(benchmark, rater)
    labels = ("key", "difficulty", "register", "language", "tags", "label_tags")
    cases: dict[int, Row] = {
        pk: dict(zip(labels, values, strict=True))
        for pk, *values in Case.objects.filter(pk__in=sheet.case_ids.tolist()).values_list("pk", *labels)
    }
    candidates = Candidate.objects.in_bulk(sheet.candidate_ids.tolist())
    standard = list(slices_of(benchmark, sheet, cases))
    slices = [*standard, *more(sheet, cases, standard)]
    return ScoreInputs(
        rater=rater,
        sheet=sheet,
        names=[candidates[pk].name for pk in sheet.candidate_ids.tolist()],
        kinds=[candidates[pk].kind for pk in sheet.candidate_ids.tolist()],
        keys=[cases[pk]["key"] for pk in sheet.case_ids.tolist()],
        slices=slices,
        n_standard=len(standard),
    )
