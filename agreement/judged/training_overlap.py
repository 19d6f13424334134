"""What a trained judge learned from: a figure on those candidates flatters it, so every table and page says so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rubrics.models import Benchmark
from scoring.models import JudgeRun
from scoring.raters import Rater

REMARK = "{who} learned from decisions on this candidate"
REMARK_WHOLE = "{who} learned from decisions on {names}: only the other candidates measure it"


def learned_candidates(benchmark: Benchmark, runs: Iterable[str]) -> list[str]:
    """Names of the candidates of ``benchmark`` by which the judges of ``runs`` (public ids) were fitted, or their
    thresholds chosen. None where a judge was trained elsewhere, or not at all.
    """
    cards = JudgeRun.objects.filter(
        benchmark=benchmark, public_id__in=list(runs), judge__benchmark=benchmark, judge__kind="trained"
    ).values_list("judge__trained_model__card", flat=True)
    splits = [(card or {}).get("split", {}) for card in cards]
    return sorted({name for split in splits for part in ("train", "dev") for name in split[part]["candidates"]})


def learners(benchmark: Benchmark, *raters: Rater) -> list[str]:
    """Names of the members of juries among ``raters`` that learned from decisions here; none where a judge alone did,
    which needs no naming.
    """
    names = {
        run.judge.name
        for rater in raters
        if rater.members
        for run in rater.runs
        if learned_candidates(benchmark, [run.public_id])
    }
    return sorted(names)


def _who(learned_by: Iterable[str]) -> str:
    members = list(learned_by)
    return f"{', '.join(members)} in the jury" if members else "the judge"


def remark_on_candidate(learned_by: Iterable[str] = ()) -> str:
    """What is said of a candidate that was learned from, and of each of its responses."""
    return REMARK.format(who=_who(learned_by))


def remark(rows: Iterable[dict[str, Any]], learned: Iterable[str], learned_by: Iterable[str] = ()) -> None:
    """Add the remark to the ``note`` of the whole, and of each candidate or response that was learned from.

    ``learned_by`` names the members of a jury that learned.
    """
    who, names = _who(learned_by), list(learned)
    if not names:
        return
    own = {f"candidate:{name}" for name in names}
    responses = tuple(f"response:{name}/" for name in names)
    for row in rows:
        if row["slice"] == "all":
            text = REMARK_WHOLE.format(who=who, names=", ".join(names))
        elif row["slice"] in own or row["slice"].startswith(responses):
            text = REMARK.format(who=who)
        else:
            continue
        row["note"] = "; ".join(filter(None, [row.get("note") or "", text]))
