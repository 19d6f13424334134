"""Agreement of two judge runs on the pairs that both decided, above all of one judge in its two modes.

A chat judge may be asked about one criterion per request or about all criteria of a response at once. The second mode
is cheaper. Its agreement with the first, on the same responses by the same model and prompt, shows what it loses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT
from numpy.typing import NDArray

from consilium.core.ratings import Ratings, copy_columns, shared
from consilium.core.version import VERSION
from consilium.statistics.confusion import confusion_counts
from consilium.statistics.estimate import Figure, notes_of
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.outcomes import Outcome
from consilium.statistics.two_raters import TwoRaterAgreement, two_rater_agreement
from rubrics.models import Benchmark
from rubrics.selectors.exclusion import state_of
from scoring.models import JudgeRun
from scoring.selectors.raters import run_ratings

ONE_BY_ONE, ALL_AT_ONCE = "one", "all"
FIGURES = ("mf1", "raw", "kappa")
CACHED_SECONDS = 7 * 24 * 3600
# How many runs, the newest ones, a page offers to choose from.
LISTED = 50
COLUMNS = (
    *("rater_a", "rater_b", "n_shared", "n_pairs", "n_cases"),
    *(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")),
    *("met_a", "met_b", "prompt_hash_a", "prompt_hash_b", "note"),
)
TEXT_COLUMNS = ("rater_a", "rater_b", "note")

Row = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """Two raters side by side. ``n_shared``: pairs that both have.

    ``agreement`` is over the ``agreement.n_pairs`` pairs to which both gave met or not met.
    """

    name_a: str
    name_b: str
    n_shared: int
    agreement: TwoRaterAgreement
    run_a: JudgeRun | None = None
    run_b: JudgeRun | None = None

    @property
    def left_out(self) -> int:
        """How many shared pairs lack a verdict of met or not met from at least one of the two."""
        return self.n_shared - self.agreement.n_pairs

    @property
    def as_rows(self) -> list[Comparison]:
        """The comparison as a table of one row."""
        return [self]

    def row(self) -> Row:
        """A row of the CSV file (`COLUMNS`)."""
        agreement = self.agreement
        row: Row = {
            "rater_a": self.name_a,
            "rater_b": self.name_b,
            "n_shared": self.n_shared,
            "n_pairs": agreement.n_pairs,
            "n_cases": agreement.n_cases,
        }
        shown: dict[str, Figure] = {name: getattr(agreement, name) for name in FIGURES}
        for name, figure in shown.items():
            row[name], row[f"{name}_low"], row[f"{name}_high"] = figure.value, figure.low, figure.high
        row["met_a"], row["met_b"] = agreement.prevalence_a.value, agreement.prevalence_b.value
        row["prompt_hash_a"], row["prompt_hash_b"] = (
            "" if run is None else run.prompt_hash for run in (self.run_a, self.run_b)
        )
        row["note"] = notes_of(shown)
        return row


@dataclass(frozen=True, eq=False)
class _Cases:
    """The case of each response of a benchmark."""

    response: NDArray[np.int64]
    case: NDArray[np.int64]

    @classmethod
    def of(cls, benchmark: Benchmark) -> _Cases:
        query = """
            SELECT r.id, r.case_id FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id
            WHERE c.benchmark_id = %(benchmark)s ORDER BY r.id
        """
        columns = copy_columns(query, {"benchmark": benchmark.pk}, types={"response": "int8", "case": "int8"})
        return cls(columns["response"], columns["case"])


def agreement_of(a: Ratings, b: Ratings, cases: _Cases) -> tuple[int, TwoRaterAgreement]:
    """How many pairs both have, and the agreement on those to which both gave met or not met.

    Neither rater is the reference, so an invalid verdict is left out here. Intervals are over cases.
    """
    in_a, in_b = shared(a, b)
    outcomes_a, outcomes_b = a.outcome[in_a], b.outcome[in_b]
    valid = (outcomes_a <= Outcome.MET) & (outcomes_b <= Outcome.MET)
    case = cases.case[np.searchsorted(cases.response, a.response[in_a][valid])]
    known, place = np.unique(case, return_inverse=True)
    counts = confusion_counts(outcomes_a[valid], outcomes_b[valid], case=place, n_cases=len(known))
    return len(in_a), two_rater_agreement(counts, rule=DEFAULT_RULE, intervals_for=FIGURES)[0]


def cache_key(name: str, runs: Sequence[JudgeRun]) -> str:
    """The cache key of a result that was computed from finished ``runs``."""
    identity = " ".join(f"{run.public_id} {run.finished_at}" for run in runs)
    return f"{name}:{hashlib.sha256(identity.encode()).hexdigest()}:{VERSION}"


def compare_runs(a: JudgeRun, b: JudgeRun) -> Comparison:
    """Compare two finished runs over one benchmark; cached while the same cases count, as finished runs are final."""
    key = cache_key(f"comparison-{DEFAULT_RULE.key}-{state_of(a.benchmark_id)}", (a, b))
    kept: tuple[int, TwoRaterAgreement] | None = cache.get(key)
    if kept is None:
        kept = agreement_of(run_ratings(a), run_ratings(b), _Cases.of(a.benchmark))
        cache.set(key, kept, CACHED_SECONDS)
    n_shared, agreement = kept
    return Comparison(f"run:{a.public_id}", f"run:{b.public_id}", n_shared, agreement, a, b)


def compare_all(benchmark: Benchmark, named: Sequence[tuple[str, Ratings, JudgeRun | None]]) -> list[Comparison]:
    """Compare every two of several named raters of a benchmark."""
    cases = _Cases.of(benchmark)
    comparisons = []
    for (name_a, a, run_a), (name_b, b, run_b) in combinations(named, 2):
        n_shared, agreement = agreement_of(a, b, cases)
        comparisons.append(Comparison(name_a, name_b, n_shared, agreement, run_a, run_b))
    return comparisons


# Which runs ---------------------------------------------------------------------------------------------------------


def mode_of(run: JudgeRun) -> str:
    """Whether a run asked about ``one`` criterion per request or about ``all``; empty where it made no requests."""
    return run.snapshot_kind.request_mode(run.snapshot.get("config", {}))


def comparable_runs(run: JudgeRun) -> QuerySet[JudgeRun]:
    """The other finished runs that grade over the same benchmark, the newest first."""
    runs = JudgeRun.objects.graded().filter(benchmark=run.benchmark_id).exclude(pk=run.pk)
    return runs.select_related("judge", "benchmark")


def runs_to_choose(run: JudgeRun, chosen: JudgeRun | None = None) -> list[JudgeRun]:
    """The newest of the comparable runs, and ``chosen``; of their snapshots only the ``judge_version``."""
    light = comparable_runs(run).defer("snapshot", "judge__config", "benchmark__rule_sheet")
    light = light.annotate(judge_version=KT("snapshot__version"))
    runs: list[JudgeRun] = list(light[:LISTED])
    if chosen is not None and chosen not in runs:
        runs += light.filter(pk=chosen.pk)
    return runs


def in_other_mode(run: JudgeRun) -> JudgeRun | None:
    """The newest run with the same model, prompt and rules in the other mode; None if there is none."""
    mode = mode_of(run)
    if not mode:
        return None
    # The endpoint and the content of requests; the other settings concern how requests are sent.
    config = run.snapshot.get("config", {})
    lookups = {f"config__{name}": config.get(name) for name in ("endpoint", "model", "prompt")}
    lookups |= {name: run.snapshot.get(name) for name in ("template", "rule_sheet")}
    same = {
        f"snapshot__{name}__isnull" if value is None else f"snapshot__{name}": True if value is None else value
        for name, value in lookups.items()
    }
    all_at_once = Q(snapshot__config__criteria_per_request=ALL_AT_ONCE)
    one_by_one = Q(snapshot__config__criteria_per_request=ONE_BY_ONE)
    one_by_one |= Q(snapshot__config__criteria_per_request__isnull=True)
    others = comparable_runs(run).filter(snapshot__kind=run.snapshot["kind"], **same)
    return others.filter(all_at_once if mode == ONE_BY_ONE else one_by_one).first()


def compare_modes(run: JudgeRun, other: JudgeRun) -> Comparison:
    """Compare a run with one in the other mode; the run with one criterion per request comes first."""
    return compare_runs(run, other) if mode_of(run) == ONE_BY_ONE else compare_runs(other, run)


def is_settled(run: JudgeRun) -> bool:
    """Whether a run can be compared: it grades, and has ended with all of its verdicts."""
    return run.status == JudgeRun.Status.FINISHED and run.purpose == JudgeRun.Purpose.GRADE
