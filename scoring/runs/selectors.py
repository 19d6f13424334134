"""The runs that count for a judge, and the verdicts of these runs.

For a judge that ran here, only its newest finished run counts. Verdicts made elsewhere often come in several files, one
for each candidate, say: all imported runs count, with the newest verdict of each response, criterion and replicate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from numpy.typing import NDArray

from annotation.models.outcomes import outcome_code_sql
from consilium.core.clock import day
from consilium.core.ratings import Ratings, Span, copy_columns, fetch_ratings
from consilium.core.reasons import Reason
from consilium.statistics.outcomes import Outcome
from rubrics.models import AcuityScale, Benchmark
from rubrics.selectors.exclusion import counting, marked
from scoring.models import JudgeRun, Verdict


@dataclass(frozen=True, eq=False)
class Shares:
    """The share of met among a run's valid replicates, for each pair that has any; sorted as `Ratings` are."""

    keys: NDArray[np.int64]
    share: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RunSet:
    """Finished runs of one judge that count together, the newest first: one run, or all that were imported.

    ``by_name``: the user named the judge and not this run; only then is coverage by older runs of interest.
    """

    runs: tuple[JudgeRun, ...]
    by_name: bool = False
    aggregate: str | None = None  # how replicates are combined, if it was read already

    @property
    def newest(self) -> JudgeRun:
        """The run that finished last."""
        return self.runs[0]

    @property
    def judge_name(self) -> str:
        return self.newest.judge.name

    @property
    def takes_mean(self) -> bool:
        """Whether the rubric score takes the mean of the replicates: the judge's setting when its run began."""
        if self.newest.replicates == 1:
            return False
        if self.aggregate is not None:
            return self.aggregate == "mean"
        return (self.newest.snapshot.get("config") or {}).get("aggregate") == "mean"

    @property
    def run_ids(self) -> list[int]:
        """Primary keys of the runs, in their order."""
        return [run.pk for run in self.runs]

    def ratings(self, within: Span | None = None) -> Ratings:
        """Their verdicts; of several replicates the majority of the valid ones, INVALID if none is valid."""
        if len(self.runs) == 1 and self.newest.replicates == 1:
            code = outcome_code_sql("outcome")
            query = f"SELECT response_id, criterion_id, {code} FROM scoring_verdict WHERE run_id = %(run)s"
        else:
            query = f"""
                SELECT response_id, criterion_id,
                       CASE WHEN met > not_met THEN {Outcome.MET:d} WHEN not_met > met THEN {Outcome.NOT_MET:d}
                            WHEN met = 0 THEN {Outcome.INVALID:d} ELSE {Outcome.UNDECIDED:d} END
                FROM ({self._counts()}) AS counts
            """
        return counting(fetch_ratings(query, self._parameters, within=within), self.newest.benchmark_id)

    def replicate_ratings(self, replicate: int) -> Ratings:
        """The verdicts of one replicate alone, as they are."""
        query = _OF_REPLICATE.format(code=outcome_code_sql("v.outcome"))
        verdicts = fetch_ratings(query, {**self._parameters, "replicate": replicate})
        return counting(verdicts, self.newest.benchmark_id)

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
# Of one replicate; of imported runs that count together the newest verdict.
_OF_REPLICATE = """
    SELECT DISTINCT ON (v.response_id, v.criterion_id) v.response_id, v.criterion_id, {code}
    FROM scoring_verdict v JOIN unnest(%(runs)s::bigint[]) WITH ORDINALITY AS o (run, place) ON o.run = v.run_id
    WHERE v.replicate = %(replicate)s
    ORDER BY v.response_id, v.criterion_id, o.place
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


def run_set(benchmark: Benchmark, judge_name: str) -> RunSet | None:
    """The finished runs that count for a judge on the benchmark; None where it has none."""
    return run_sets(benchmark, [judge_name]).get(judge_name)


def run_sets(benchmark: Benchmark, judge_names: Collection[str] | None = None) -> dict[str, RunSet]:
    """The finished runs that count for each judge, by its name: of all judges with a finished run, or of some."""
    runs = JudgeRun.objects.graded().filter(benchmark=benchmark).select_related("judge")
    runs = runs.defer("snapshot") if judge_names is None else runs.filter(judge__name__in=judge_names)
    by_name: dict[str, list[JudgeRun]] = {}
    for run in runs:
        by_name.setdefault(run.judge.name, []).append(run)
    sampled = [of_judge[0].pk for of_judge in by_name.values() if of_judge[0].replicates > 1]
    # A snapshot holds whole prompts; only this one setting is read.
    rows = JudgeRun.objects.filter(pk__in=sampled).order_by().values_list("pk", "snapshot__config__aggregate")
    aggregates = dict(rows) if sampled else {}
    return {
        name: RunSet(
            tuple(run for run in of_judge if run.imported) if of_judge[0].imported else (of_judge[0],),
            True,
            str(aggregates.get(of_judge[0].pk) or ""),
        )
        for name, of_judge in sorted(by_name.items())
    }


def level_runs(scale: AcuityScale) -> list[JudgeRun]:
    """The run that counts for each judge of levels on a scale: its newest finished one. The last to finish is first.

    A run that came with a release counts like any other; runs on changed responses do not count.
    """
    runs: dict[str, JudgeRun] = {}
    for run in JudgeRun.objects.finished(JudgeRun.Purpose.ACUITY).filter(judge__scale=scale).select_related("judge"):
        runs.setdefault(run.judge.name, run)
    return list(runs.values())


def run_date(run: JudgeRun) -> str:
    """The day by which a page identifies a run, in the reader's time zone: 21 Nov 2026."""
    return day(run.created_at)


# What a name leaves out ---------------------------------------------------------------------------------------------

_RESPONSES = """
    SELECT c.name, count(DISTINCT i.response_id)
    FROM unnest(%(names)s::text[], %(runs)s::bigint[]) AS c (name, run)
    JOIN scoring_judgerunitem i ON i.run_id = c.run
    GROUP BY c.name
"""
# Pairs that other runs of the judge were to judge and the runs that count were not. Criteria that are no longer in a
# published rubric are left out: they count nowhere, so that no run is needed for them.
_IN_OLDER = """
    WITH counting AS (
        SELECT * FROM unnest(%(names)s::text[], %(runs)s::bigint[]) AS c (name, run)
    )
    SELECT name, count(*), max(newest_at)
    FROM (
        SELECT k.name, i.response_id, r.criterion_id, max(u.created_at) AS newest_at
        FROM scoring_judgerun u
        JOIN scoring_judge k ON k.id = u.judge_id AND k.name = ANY(%(names)s)
        JOIN scoring_judgerunitem i ON i.run_id = u.id
        JOIN rubrics_response a ON a.id = i.response_id
        JOIN rubrics_case c ON c.id = a.case_id AND c.excluded_at IS NULL
        JOIN rubrics_rubricitem r ON r.rubric_id = i.rubric_id
        WHERE u.benchmark_id = %(benchmark)s AND u.status = 'finished' AND u.purpose = 'grade'
          AND u.id <> ALL(%(runs)s) AND (i.criteria IS NULL OR r.criterion_id = ANY(i.criteria))
          -- Most older items are covered as a whole: they need no look at their criteria.
          AND NOT EXISTS (
              SELECT 1 FROM counting JOIN scoring_judgerunitem n ON n.run_id = counting.run
              WHERE counting.name = k.name AND n.response_id = i.response_id AND n.rubric_id = i.rubric_id
                AND n.criteria IS NULL
          )
          AND EXISTS (
              SELECT 1 FROM rubrics_rubric p JOIN rubrics_rubricitem q ON q.rubric_id = p.id
              WHERE p.case_id = c.id AND p.status = 'published' AND q.criterion_id = r.criterion_id
          )
          AND NOT EXISTS (
              SELECT 1
              FROM counting
              JOIN scoring_judgerunitem n ON n.run_id = counting.run
              JOIN rubrics_rubricitem s ON s.rubric_id = n.rubric_id
              WHERE counting.name = k.name AND n.response_id = i.response_id AND s.criterion_id = r.criterion_id
                AND (n.criteria IS NULL OR s.criterion_id = ANY(n.criteria))
          )
        GROUP BY k.name, i.response_id, r.criterion_id
    ) AS pairs
    GROUP BY name
"""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many responses the runs that count for a judge cover, and how many more pairs all its older runs cover.

    ``newest_at``: when the newest of those older runs was made; None where there is none.
    """

    judge: str
    n_responses: int = 0
    n_pairs_in_older: int = 0
    newest_at: datetime | None = None

    @property
    def note(self) -> str:
        """What the older runs add, in English as in files, with its code; empty if they add nothing."""
        if not self.n_pairs_in_older or self.newest_at is None:
            return ""
        date = self.newest_at.astimezone(UTC).date().isoformat()  # UTC, so that a file is the same for every reader
        return Reason.OLDER_RUNS(judge=self.judge, n=self.n_pairs_in_older, date=date)


def coverage(benchmark: Benchmark, sets: Iterable[RunSet]) -> dict[str, Coverage]:
    """The coverage of the runs that count, by the judge's name. Two queries, three if older runs exist."""
    judges = list(sets)
    if not judges:
        return {}
    pairs = [(each.judge_name, pk) for each in judges for pk in each.run_ids]
    parameters: dict[str, Any] = {
        "benchmark": benchmark.pk,
        "names": [name for name, _pk in pairs],
        "runs": [pk for _name, pk in pairs],
    }
    runs = JudgeRun.objects.graded().filter(benchmark=benchmark, judge__name__in=parameters["names"])
    older: dict[str, tuple[int, datetime | None]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_RESPONSES, parameters)
        responses: dict[str, int] = dict(cursor.fetchall())
        if runs.exclude(pk__in=parameters["runs"]).exists():
            cursor.execute(_IN_OLDER, parameters)
            older = {name: (n, newest_at) for name, n, newest_at in cursor.fetchall()}
    return {
        judge.judge_name: Coverage(
            judge.judge_name, responses.get(judge.judge_name, 0), *older.get(judge.judge_name, (0, None))
        )
        for judge in judges
    }


def coverage_notes(sets: Iterable[RunSet]) -> list[str]:
    """What older runs cover beyond those that count for the judges.

    A run that was named by its id has no note: the user wanted that run alone.
    """
    named = [each for each in sets if each.by_name]
    if not named:
        return []
    covered = coverage(named[0].newest.benchmark, named)
    return list(dict.fromkeys(covered[each.judge_name].note for each in named if covered[each.judge_name].note))
