"""Data of a benchmark's juries: members, the runs that count for them, and how often they are unanimous."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.core.cache import cache
from django.db import connection
from django.db.models import Exists, OuterRef, Q

from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark
from rubrics.selectors.exclusion import state_of
from scoring.judges.kinds import kind as kinds
from scoring.models import Judge, JudgeRun
from scoring.runs.comparing import CACHED_SECONDS, Comparison, cache_key, compare_all
from scoring.runs.selectors import RunSet, run_sets
from scoring.scores.sheet import due_pairs
from scoring.selectors.raters import MAJORITY, UNANIMOUS, jury_ratings, rater_of_jury

_SHARED = """
    SELECT jury, count(*) FROM (
        SELECT s.jury
        FROM unnest(%(juries)s::bigint[], %(runs)s::bigint[], %(places)s::int[], %(seats)s::int[])
             AS s (jury, run, place, seats)
        JOIN scoring_verdict v ON v.run_id = s.run
        JOIN rubrics_response r ON r.id = v.response_id
        JOIN rubrics_case c ON c.id = r.case_id AND c.excluded_at IS NULL
        GROUP BY s.jury, s.seats, v.response_id, v.criterion_id
        HAVING count(DISTINCT s.place) = s.seats
    ) AS pairs GROUP BY jury
"""


def judge_names(benchmark: Benchmark) -> list[str]:
    """Names of judges, other than juries, that may join a jury: they belong to the benchmark or have a run on it."""
    ran = JudgeRun.objects.filter(benchmark=benchmark, judge=OuterRef("pk"))
    judges = Judge.objects.filter(Q(benchmark=benchmark) | Exists(ran), task=Judge.Task.RUBRIC)
    judges = judges.exclude(kind__in=kinds.juries())
    return sorted(set(judges.values_list("name", flat=True)))


def names_that_ran(benchmark: Benchmark) -> set[str]:
    """Names of the judges with a finished run on the benchmark, whose verdicts a jury can use."""
    runs = JudgeRun.objects.filter(benchmark=benchmark, status=JudgeRun.Status.FINISHED, purpose=JudgeRun.Purpose.GRADE)
    return set(runs.order_by().values_list("judge__name", flat=True).distinct())


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a jury. ``judge``: its newest version, if it belongs here; ``runs``: the source of its verdicts."""

    name: str
    judge: Judge | None
    runs: RunSet | None

    @property
    def run(self) -> JudgeRun | None:
        """The newest of the runs that give its verdicts."""
        return self.runs.newest if self.runs else None


@dataclass(frozen=True, slots=True)
class JuryState:
    """A jury with the present runs of its members. ``n_shared``: pairs that all of them have decided."""

    jury: Judge
    members: tuple[Member, ...]
    n_shared: int

    @property
    def is_unanimous(self) -> bool:
        """Whether all must say the same; else the majority decides."""
        return bool(self.jury.config.get("rule", MAJORITY) == UNANIMOUS)

    @property
    def waiting_for(self) -> list[str]:
        """Names of the members without a finished run; the jury is a rater only if there are none."""
        return [member.name for member in self.members if member.run is None]


def jury_states(benchmark: Benchmark, juries: Sequence[Judge]) -> dict[int, JuryState]:
    """The state of each jury by its pk; the number of queries does not grow with the number of juries."""
    names = {name for jury in juries for name in jury.config["members"]}
    if not names:
        return {}
    runs_of = run_sets(benchmark, names)
    at_home = Judge.objects.filter(benchmark=benchmark, name__in=names, task=Judge.Task.RUBRIC)
    at_home = at_home.exclude(kind__in=kinds.juries())
    judge_of = {judge.name: judge for judge in at_home.order_by("name", "-version").distinct("name")}
    seats = {jury.pk: tuple(_seats(jury, judge_of, runs_of)) for jury in juries}
    shared = _shared_pairs(seats)
    return {jury.pk: JuryState(jury, seats[jury.pk], shared.get(jury.pk, 0)) for jury in juries}


def _seats(jury: Judge, judge_of: dict[str, Judge], runs_of: dict[str, RunSet]) -> list[Member]:
    return [Member(name, judge_of.get(name), runs_of.get(name)) for name in jury.config["members"]]


def _shared_pairs(seats: dict[int, tuple[Member, ...]]) -> dict[int, int]:
    """How many pairs all members have, by the jury's pk; cached, since finished runs do not change."""
    judges = {
        jury: [member.runs for member in members if member.runs is not None]
        for jury, members in seats.items()
        if all(member.runs for member in members)
    }
    state = {judge.newest.benchmark_id: "" for of_jury in judges.values() for judge in of_jury}
    state = {benchmark: state_of(benchmark) for benchmark in state}
    keys = {
        jury: cache_key(
            f"jury-shared-{state[of_jury[0].newest.benchmark_id]}", [run for judge in of_jury for run in judge.runs]
        )
        for jury, of_jury in judges.items()
    }
    kept: dict[str, int] = cache.get_many(set(keys.values()))
    unknown = {jury: of_jury for jury, of_jury in judges.items() if keys[jury] not in kept}
    if unknown:
        counted = _counted(unknown)
        fresh = {keys[jury]: counted.get(jury, 0) for jury in unknown}
        cache.set_many(fresh, CACHED_SECONDS)
        kept |= fresh
    return {jury: kept[key] for jury, key in keys.items()}


def _counted(judges: dict[int, list[RunSet]]) -> dict[int, int]:
    rows = [
        (jury, run.pk, place, len(of_jury))
        for jury, of_jury in judges.items()
        for place, judge in enumerate(of_jury)
        for run in judge.runs
    ]
    juries, runs, places, seats = (list(column) for column in zip(*rows, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_SHARED, {"juries": juries, "runs": runs, "places": places, "seats": seats})
        return dict(cursor.fetchall())


@dataclass(frozen=True)
class JuryFigures:
    """How a jury's verdicts come about. All counts are of pairs.

    ``n_due``: all members were to decide the pair; ``n_missing`` of these lack a verdict of at least one member. The
    ``n_shared`` pairs that all members have consist of ``all_met``, ``all_not_met``, ``outvoted`` (a majority, though
    not all), ``undecided`` and ``invalid`` (for every member).
    """

    n_due: int
    n_missing: int
    n_shared: int
    all_met: int
    all_not_met: int
    outvoted: int
    undecided: int
    invalid: int
    pairwise: tuple[Comparison, ...]

    @property
    def unanimous(self) -> int:
        """The number of pairs to which all members give the same verdict, met or not met."""
        return self.all_met + self.all_not_met

    @property
    def unanimous_share(self) -> float | None:
        """The share of unanimous pairs among those that all members have; None if there are none."""
        return self.unanimous / self.n_shared if self.n_shared else None


def jury_figures(benchmark: Benchmark, jury: Judge) -> JuryFigures:
    """How often a jury's members agree, all together and two by two.

    Raises `scoring.selectors.raters.UnknownRater` if a member has no finished run.
    """
    rater = rater_of_jury(benchmark, jury)
    members = [judge.ratings() for judge in rater.judges]
    verdicts, as_one = jury_ratings(members, jury.config.get("rule", MAJORITY)), jury_ratings(members, UNANIMOUS)
    due = due_pairs(rater)
    keys = verdicts.keys()
    missing = 0 if due is None else int((~np.isin(due.keys(), keys, assume_unique=True)).sum())
    all_met, all_not_met = (int((as_one.outcome == code).sum()) for code in (Outcome.MET, Outcome.NOT_MET))
    decided = int((verdicts.outcome <= Outcome.MET).sum())
    return JuryFigures(
        n_due=0 if due is None else len(due),
        n_missing=missing,
        n_shared=len(keys),
        all_met=all_met,
        all_not_met=all_not_met,
        outvoted=decided - all_met - all_not_met,
        undecided=int((verdicts.outcome == Outcome.UNDECIDED).sum()),
        invalid=int((verdicts.outcome == Outcome.INVALID).sum()),
        pairwise=tuple(
            compare_all(
                benchmark,
                [
                    (judge.judge_name, ratings, judge.newest)
                    for judge, ratings in zip(rater.judges, members, strict=True)
                ],
            )
        ),
    )
