"""The candidates that a judge was trained on; tables and pages mark figures about them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from rubrics.models import Benchmark
from scoring.judges.kinds.kind import kinds_where
from scoring.models import JudgeRun
from scoring.selectors.raters import Rater


def learned_candidates(benchmark: Benchmark, runs: Iterable[str]) -> list[str]:
    """Names of the candidates of ``benchmark`` by which the judges of ``runs`` (public ids) were fitted, or their
    thresholds chosen; of imported runs, those that the import named. None where a judge was trained elsewhere, or not
    at all.
    """
    of_runs = JudgeRun.objects.filter(benchmark=benchmark, public_id__in=list(runs))
    imported = of_runs.filter(imported=True, snapshot__has_key="learned").values_list("snapshot__learned", flat=True)
    cards = of_runs.filter(
        judge__benchmark=benchmark,
        judge__kind__in=kinds_where(lambda kind: kind.learns),
    ).values_list("judge__trained_model__card", flat=True)
    splits = [(card or {}).get("split", {}) for card in cards]
    trained = {name for split in splits for part in ("train", "dev") for name in split[part]["candidates"]}
    return sorted(trained.union(*imported))


def learners(benchmark: Benchmark, *raters: Rater) -> list[str]:
    """Names of the members of juries among ``raters`` that learned from decisions here; none for a single judge, which
    need not be named.
    """
    names = {
        run.judge.name
        for rater in raters
        if rater.members
        for run in rater.runs
        if learned_candidates(benchmark, [run.public_id])
    }
    return sorted(names)


def remark_on_candidate(learned_by: Iterable[str] = ()) -> str:
    """The remark on a candidate that was learned from, and on each of its responses."""
    members = ", ".join(learned_by)
    return Reason.MEMBERS_LEARNED_CANDIDATE(members=members) if members else Reason.JUDGE_LEARNED_CANDIDATE()


def _remark_on_whole(learned: Iterable[str], learned_by: Iterable[str]) -> str:
    """The remark on the whole, with the names of the candidates that were learned from."""
    names, members = ", ".join(learned), ", ".join(learned_by)
    if members:
        return Reason.MEMBERS_LEARNED_CANDIDATES(members=members, names=names)
    return Reason.JUDGE_LEARNED_CANDIDATES(names=names)


def remark(rows: Iterable[dict[str, Any]], learned: Iterable[str], learned_by: Iterable[str] = ()) -> None:
    """Add the remark to the ``note`` of the whole, and of each candidate or response that was learned from.

    ``learned_by`` names the members of a jury that learned.
    """
    names, members = list(learned), list(learned_by)
    if not names:
        return
    own = {f"candidate:{name}" for name in names}
    responses = tuple(f"response:{name}/" for name in names)
    for row in rows:
        if row["slice"] == "all":
            text = _remark_on_whole(names, members)
        elif row["slice"] in own or row["slice"].startswith(responses):
            text = remark_on_candidate(members)
        else:
            continue
        row["note"] = joined(row.get("note") or "", text)
