"""Raters by name: anything that decides (response, criterion) pairs, as written in commands, the API and reports.

``group:NAME[@first|checked|final]``, ``physician:PSEUDONYM[@first|last]``, ``consensus``, ``run:ID``, ``jury:A+B+C``,
or the name of a judge, which stands for its newest finished run on the benchmark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.models import ExpertGroup, Physician
from annotation.ratings import STAGES, consensus_ratings, group_ratings, physician_ratings
from consilium.lib.errors import DomainError
from consilium.lib.ratings import OUTCOME_SQL, Outcome, Ratings, fetch_ratings
from rubrics.models import Benchmark
from scoring.models import JudgeRun


class UnknownRater(DomainError):
    """The text names no rater of the benchmark."""


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater of a benchmark: ``label`` as it stands in files, and how to read its decisions.

    ``runs`` are the judge runs behind it: what they were to judge tells a missing verdict from one never asked for.
    """

    label: str
    is_judge: bool
    ratings: Callable[[], Ratings]
    runs: tuple[JudgeRun, ...] = ()


def run_ratings(run: JudgeRun) -> Ratings:
    """The verdicts of a run; of several replicates the majority, invalid ones aside, and INVALID if none is left."""
    if run.replicates == 1:
        outcome = OUTCOME_SQL.format(column="outcome")
        query = f"SELECT response_id, criterion_id, {outcome} FROM scoring_verdict WHERE run_id = %(run)s"
    else:
        query = """
            SELECT response_id, criterion_id,
                   CASE WHEN met > not_met THEN 1 WHEN not_met > met THEN 0 WHEN met = 0 THEN 3 ELSE 4 END
            FROM (
                SELECT response_id, criterion_id, count(*) FILTER (WHERE outcome = 'met') AS met,
                       count(*) FILTER (WHERE outcome = 'not_met') AS not_met
                FROM scoring_verdict WHERE run_id = %(run)s GROUP BY response_id, criterion_id
            ) AS counts
        """
    return fetch_ratings(query, {"run": run.pk})


def jury_ratings(members: list[Ratings]) -> Ratings:
    """The majority of several raters on the pairs that all of them have; a tie is UNDECIDED, no valid vote INVALID."""
    keys = members[0].keys()
    for member in members[1:]:
        keys = np.intersect1d(keys, member.keys(), assume_unique=True)
    votes = np.stack([member.outcome[np.searchsorted(member.keys(), keys)] for member in members])
    met, not_met = (votes == Outcome.MET).sum(axis=0), (votes == Outcome.NOT_MET).sum(axis=0)
    outcome = np.select(
        [met > not_met, not_met > met, met + not_met == 0],
        [Outcome.MET, Outcome.NOT_MET, Outcome.INVALID],
        default=Outcome.UNDECIDED,
    )
    return Ratings(keys >> 31, keys & (2**31 - 1), outcome.astype(np.int8))


def newest_run(benchmark: Benchmark, judge_name: str) -> JudgeRun | None:
    """The newest finished run of a judge on the benchmark."""
    runs = JudgeRun.objects.filter(benchmark=benchmark, judge__name=judge_name, status=JudgeRun.Status.FINISHED)
    return runs.select_related("judge").order_by("-finished_at", "-pk").first()


def resolve_rater(benchmark: Benchmark, text: str) -> Rater:
    """Find the rater that ``text`` names; `UnknownRater`, with what there is, if none is."""
    text = text.strip()
    kind, _, name = text.partition(":")
    if text == "consensus":
        return _consensus(benchmark)
    if kind == "group" and name:
        return _group(benchmark, name)
    if kind == "physician" and name:
        return _physician(benchmark, name)
    if kind == "run" and name:
        run = JudgeRun.objects.filter(benchmark=benchmark, public_id=name).first()
        if run is None:
            raise UnknownRater(f"There is no run “{name}” on this benchmark.")
        return Rater(f"run:{name}", True, lambda: run_ratings(run), (run,))
    if kind == "jury" and name:
        members = [resolve_rater(benchmark, part) for part in name.split("+")]
        return Rater(
            text,
            all(member.is_judge for member in members),
            lambda: jury_ratings([member.ratings() for member in members]),
            tuple(run for member in members for run in member.runs),
        )
    newest = newest_run(benchmark, text)
    if newest is None:
        raise UnknownRater(f"“{text}” is neither a rater nor a judge with a finished run on this benchmark.")
    return Rater(text, True, lambda: run_ratings(newest), (newest,))


def _group(benchmark: Benchmark, name: str) -> Rater:
    groups = {group.name: group for group in ExpertGroup.objects.filter(benchmark=benchmark)}
    base, _, stage = name.rpartition("@")
    if name in groups or stage not in STAGES:  # a group's own name may hold an @
        base, stage = name, "checked"
    if base not in groups:
        known = ", ".join(sorted(groups)) or "none"
        raise UnknownRater(f"There is no expert group “{base}” in this benchmark. Groups: {known}.")
    group = groups[base]
    return Rater(f"group:{base}@{stage}", False, lambda: group_ratings(group, stage))


def _physician(benchmark: Benchmark, name: str) -> Rater:
    base, at, which = name.rpartition("@")
    if not at or which not in ("first", "last"):
        base, which = name, "first"
    if not Physician.objects.filter(benchmark=benchmark, pseudonym=base).exists():
        raise UnknownRater(f"There is no physician “{base}” in this benchmark.")
    return Rater(
        f"physician:{base}@{which}",
        False,
        lambda: physician_ratings(benchmark, base, last_round=which == "last"),
    )


def _consensus(benchmark: Benchmark) -> Rater:
    groups = list(ExpertGroup.objects.filter(benchmark=benchmark, batches__isnull=False).distinct())
    if len(groups) != 2:
        raise UnknownRater(f"A consensus is between two groups with batches; this benchmark has {len(groups)}.")
    return Rater("consensus", False, lambda: consensus_ratings(groups[0], groups[1]))
