"""Which runs speak for a judge, and what they say together.

A judge's name stands for its newest finished run where that was made here. Verdicts that were made elsewhere often come
in several files, a file for each candidate, say: there the name stands for all imported runs together, and the newest
verdict counts for each response, criterion and replicate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import date_format
from numpy.typing import NDArray

from consilium.lib.ratings import OUTCOME_SQL, Outcome, Ratings, Span, copy_columns, fetch_ratings
from rubrics.exclusion import counting, marked
from rubrics.models import Benchmark
from scoring.models import JudgeRun, Verdict


@dataclass(frozen=True, eq=False)
class Shares:
    """The share of a run's valid replicates that say met, for each pair that has one; sorted as `Ratings` are."""

    keys: NDArray[np.int64]
    share: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RunSet:
    """Finished runs of one judge that count together, the newest first: one run, or all that were imported.

    ``by_name``: the judge's name was asked for, not this run; only then may an older run hold more.
    """

    runs: tuple[JudgeRun, ...]
    by_name: bool = False

    @property
    def newest(self) -> JudgeRun:
        """The run that finished last."""
        return self.runs[0]

    @property
    def judge_name(self) -> str:
        return self.newest.judge.name

    @property
    def takes_mean(self) -> bool:
        """Whether the rubric score takes the mean of the replicates, as the judge was set when its run began."""
        config = self.newest.snapshot.get("config") or {}
        return self.newest.replicates > 1 and config.get("aggregate") == "mean"

    @property
    def run_ids(self) -> list[int]:
        """Primary keys of the runs, in their order."""
        return [run.pk for run in self.runs]

    def ratings(self, within: Span | None = None) -> Ratings:
        """Their verdicts; of several replicates the majority, invalid ones aside, and INVALID if none is left."""
        if len(self.runs) == 1 and self.newest.replicates == 1:
            code = OUTCOME_SQL.format(column="outcome")
            query = f"SELECT response_id, criterion_id, {code} FROM scoring_verdict WHERE run_id = %(run)s"
        else:
            query = f"""
                SELECT response_id, criterion_id,
                       CASE WHEN met > not_met THEN 1 WHEN not_met > met THEN 0 WHEN met = 0 THEN 3 ELSE 4 END
                FROM ({self._counts()}) AS counts
            """
        return counting(fetch_ratings(query, self._parameters, within=within), self.newest.benchmark_id)

    def shares(self) -> Shares:
        """Of each pair with a valid replicate: the mean of its valid replicates, met as 1 and not met as 0."""
        query = f"""
            SELECT response_id::int8, criterion_id::int8, (met::float8 / (met + not_met))::float8
            FROM ({self._counts()}) AS counts WHERE met + not_met > 0 ORDER BY 1, 2
        """
        types = {"response": "int8", "criterion": "int8", "share": "float8"}
        columns = copy_columns(query, self._parameters, types=types)
        keys, share = (columns["response"] << 31) | columns["criterion"], columns["share"]
        excluded = marked(columns["response"], self.newest.benchmark_id)
        return Shares(keys, share) if excluded is None else Shares(keys[~excluded], share[~excluded])

    def due(self, within: Span | None = None) -> Ratings:
        """The pairs that any of the runs was to judge, each as UNDECIDED."""
        runs = "= %(run)s" if len(self.runs) == 1 else "= ANY(%(runs)s)"
        pairs = fetch_ratings(_DUE.format(runs=runs), self._parameters, within=within)
        return counting(pairs, self.newest.benchmark_id)

    def verdicts(self) -> QuerySet[Verdict]:
        """The verdicts that count, with those of every replicate."""
        rows = Verdict.objects.filter(run__in=self.run_ids)
        if len(self.runs) == 1:
            return rows
        newest = rows.order_by("response_id", "criterion_id", "replicate", "-run__finished_at", "-run_id")
        return Verdict.objects.filter(pk__in=newest.distinct("response_id", "criterion_id", "replicate").values("pk"))

    def _counts(self) -> str:
        """Query of the valid verdicts of each pair, by outcome."""
        of_run = "SELECT * FROM scoring_verdict WHERE run_id = %(run)s"
        return _COUNTS.format(current=of_run if len(self.runs) == 1 else _CURRENT)

    @property
    def _parameters(self) -> dict[str, Any]:
        return {"run": self.newest.pk, "runs": self.run_ids}


# The newest verdict of each replicate; the runs come with the newest first.
_CURRENT = """
    SELECT DISTINCT ON (v.response_id, v.criterion_id, v.replicate) v.response_id, v.criterion_id, v.outcome
    FROM scoring_verdict v JOIN unnest(%(runs)s::bigint[]) WITH ORDINALITY AS o (run, place) ON o.run = v.run_id
    ORDER BY v.response_id, v.criterion_id, v.replicate, o.place
"""
_COUNTS = """
    SELECT response_id, criterion_id, count(*) FILTER (WHERE outcome = 'met') AS met,
           count(*) FILTER (WHERE outcome = 'not_met') AS not_met
    FROM ({current}) AS current GROUP BY response_id, criterion_id
"""
_DUE = f"""
    SELECT DISTINCT i.response_id, r.criterion_id, {Outcome.UNDECIDED:d}
    FROM scoring_judgerunitem i JOIN rubrics_rubricitem r ON r.rubric_id = i.rubric_id
    WHERE i.run_id {{runs}} AND (i.criteria IS NULL OR r.criterion_id = ANY(i.criteria))
"""


# Names --------------------------------------------------------------------------------------------------------------


def newest_run(benchmark: Benchmark, judge_name: str) -> JudgeRun | None:
    """The newest finished run of a judge on the benchmark; only of those that grade."""
    runs = JudgeRun.objects.graded().filter(benchmark=benchmark, judge__name=judge_name)
    return runs.select_related("judge").first()


def run_set(benchmark: Benchmark, judge_name: str) -> RunSet | None:
    """The finished runs that speak for a judge on the benchmark; None where it has none."""
    return run_sets(benchmark, [judge_name]).get(judge_name)


def run_sets(benchmark: Benchmark, judge_names: Collection[str] | None = None) -> dict[str, RunSet]:
    """The finished runs that speak for each judge, by its name: of all judges with a finished run, or of some."""
    runs = JudgeRun.objects.graded().filter(benchmark=benchmark).select_related("judge")
    runs = runs.defer("snapshot") if judge_names is None else runs.filter(judge__name__in=judge_names)
    by_name: dict[str, list[JudgeRun]] = {}
    for run in runs:
        by_name.setdefault(run.judge.name, []).append(run)
    return {
        name: RunSet(tuple(run for run in of_judge if run.imported) if of_judge[0].imported else (of_judge[0],), True)
        for name, of_judge in sorted(by_name.items())
    }


def run_date(run: JudgeRun) -> str:
    """By which day a run is known, in the reader's zone: 21 Nov 2026."""
    return date_format(timezone.localtime(run.created_at), "DATE_FORMAT")


# What a name leaves out ---------------------------------------------------------------------------------------------

_COVERAGE = """
    SELECT held.name, count(*) FILTER (WHERE held.current),
           count(*) FILTER (WHERE NOT held.current AND c.excluded_at IS NULL),
           max(held.newest_at) FILTER (WHERE NOT held.current AND c.excluded_at IS NULL)
    FROM (
        SELECT k.name, i.response_id, bool_or(u.id = ANY(%(runs)s)) AS current, max(u.created_at) AS newest_at
        FROM scoring_judgerun u
        JOIN scoring_judge k ON k.id = u.judge_id AND k.name = ANY(%(names)s)
        JOIN scoring_judgerunitem i ON i.run_id = u.id
        WHERE u.benchmark_id = %(benchmark)s AND u.status = 'finished' AND u.purpose = 'grade'
        GROUP BY k.name, i.response_id
    ) AS held
    JOIN rubrics_response r ON r.id = held.response_id
    JOIN rubrics_case c ON c.id = r.case_id
    GROUP BY held.name
"""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many responses the runs that speak for a judge cover, and how many more its older runs do.

    ``newest_at``: when the newest of those older runs was made; None where there is none.
    """

    judge: str
    n_responses: int
    n_in_older: int
    newest_at: datetime | None

    @property
    def note(self) -> str:
        """What the older runs hold, in English as files have it (`consilium.lib.remarks`); empty where nothing."""
        if not self.n_in_older or self.newest_at is None:
            return ""
        day = timezone.localtime(self.newest_at).date().isoformat()
        more = f"{self.n_in_older} more response{'' if self.n_in_older == 1 else 's'}"
        return f"an older run of {self.judge} (of {day}) holds {more} than its newest"


def coverage(benchmark: Benchmark, sets: Iterable[RunSet]) -> dict[str, Coverage]:
    """What the runs that speak for each judge cover, by the judge's name. One query."""
    judges = list(sets)
    if not judges:
        return {}
    parameters: dict[str, Any] = {
        "benchmark": benchmark.pk,
        "names": [each.judge_name for each in judges],
        "runs": [pk for each in judges for pk in each.run_ids],
    }
    with connection.cursor() as cursor:
        cursor.execute(_COVERAGE, parameters)
        known = {row[0]: Coverage(*row) for row in cursor.fetchall()}
    return {judge.judge_name: known.get(judge.judge_name, Coverage(judge.judge_name, 0, 0, None)) for judge in judges}


def coverage_notes(sets: Iterable[RunSet]) -> list[str]:
    """What older runs hold beyond those that the judges' names stand for.

    Runs that were asked for by their id stand for themselves: of them nothing is said.
    """
    named = [each for each in sets if each.by_name]
    if not named:
        return []
    covered = coverage(named[0].newest.benchmark, named)
    return list(dict.fromkeys(covered[each.judge_name].note for each in named if covered[each.judge_name].note))
