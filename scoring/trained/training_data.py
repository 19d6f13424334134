"""Training data of a trained judge: physicians' decisions with their texts, in an order independent of ids."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from annotation.models import ExpertGroup
from annotation.selectors.ratings import faulty_pairs, group_ratings, with_faulty
from consilium.core.errors import DomainError
from consilium.core.ratings import Ratings
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, Criterion, Response, RubricItem
from scoring.trained.features import Texts

STAGE = "checked"
DEV_SHARE = 0.2
MIN_CANDIDATES = 3  # one to learn from, one to choose the threshold, one to report on
MIN_DECISIONS = 100  # to learn from
# Why a pair teaches nothing, as cards and manifests name it.
LEFT_OUT = {
    Outcome.CANNOT_ASSESS: Outcome.CANNOT_ASSESS.word,
    Outcome.UNDECIDED: "tie",
    Outcome.FAULTY: Outcome.FAULTY.word,
}


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Decided pairs in a natural order (case, candidate, sample, criterion), so that ids play no part."""

    pairs: list[Texts]
    met: NDArray[np.int64]
    candidate: NDArray[np.str_]
    case: NDArray[np.str_]
    group: NDArray[np.str_]
    left_out: Counter[str] = field(default_factory=Counter)  # by reason: `LEFT_OUT`
    # SHA-256 of the rows (group, public id of the response, id of the criterion, outcome) in this order.
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """Candidates by what they are used for."""

    train: tuple[str, ...]
    dev: tuple[str, ...]
    held_out: tuple[str, ...]


def prompt_text(conversation: Sequence[dict[str, str]]) -> str:
    """The prompt: all turns of the other side."""
    return "\n".join(turn.get("content", "") for turn in conversation if turn.get("role") != "assistant")


def checked_ratings(group: ExpertGroup, faulty: Ratings) -> Ratings:
    """What ``group`` decided at stage `STAGE`; pairs in ``faulty`` carry that outcome instead of their own."""
    return with_faulty(group_ratings(group, STAGE), faulty)


@dataclass(frozen=True, slots=True)
class TrainingNumbers:
    """How much there is to learn from."""

    decisions: int
    candidates: int


def training_numbers(benchmark: Benchmark, group: str = "") -> TrainingNumbers:
    """How many decisions of one group, or of all, would teach a judge, and about how many candidates."""
    faulty = faulty_pairs(benchmark)
    decisions, responses = 0, set[int]()
    for row in ExpertGroup.objects.filter(benchmark=benchmark, **({"name": group} if group else {})):
        ratings = checked_ratings(row, faulty)
        usable = ~np.isin(ratings.outcome, list(LEFT_OUT))
        decisions += int(usable.sum())
        responses.update(ratings.response[usable].tolist())
    candidates = Response.objects.filter(pk__in=responses).values("candidate").distinct().count()
    return TrainingNumbers(decisions, candidates)


def read_decisions(benchmark: Benchmark, group: str) -> Decisions:
    """The decisions of a group at stage `STAGE`, or of all groups of the benchmark one after the other."""
    groups = ExpertGroup.objects.filter(benchmark=benchmark, **({"name": group} if group else {})).order_by("name")
    faulty = faulty_pairs(benchmark)
    rated = [(row.name, checked_ratings(row, faulty)) for row in groups]
    response_ids = np.unique(np.concatenate([ratings.response for _, ratings in rated] or [np.array([], int)]))
    criterion_ids = np.unique(np.concatenate([ratings.criterion for _, ratings in rated] or [np.array([], int)]))
    responses = {
        row.pk: row for row in Response.objects.filter(pk__in=response_ids.tolist()).select_related("case", "candidate")
    }
    prompts = {row.case_id: prompt_text(row.case.conversation) for row in responses.values()}
    criteria = dict(Criterion.objects.filter(pk__in=criterion_ids.tolist()).values_list("pk", "text"))
    items = RubricItem.objects.filter(criterion__in=criterion_ids.tolist(), rubric__track="gold").order_by("rubric")
    # Of several versions of a rubric the newest tells position and points.
    places = {pk: (position, points) for pk, position, points in items.values_list("criterion", "position", "points")}
    rows: list[tuple[tuple[Any, ...], Texts, int, Response, int]] = []
    left_out: Counter[str] = Counter()
    for name, ratings in rated:
        for response_id, criterion_id, outcome in zip(
            ratings.response.tolist(), ratings.criterion.tolist(), ratings.outcome.tolist(), strict=True
        ):
            if outcome in LEFT_OUT:
                left_out[LEFT_OUT[outcome]] += 1
                continue
            response, text = responses[response_id], criteria[criterion_id]
            position, points = places.get(criterion_id, (0, 1))
            pair = Texts(response.text, text, prompts[response.case_id], points)
            order = (
                response.case.key,
                response.candidate.name,
                response.setting,
                response.sample,
                position,
                text,
                name,
            )
            rows.append((order, pair, outcome, response, criterion_id))
    rows.sort(key=lambda row: row[0])
    digest = hashlib.sha256()
    for order, _pair, outcome, response, criterion_id in rows:
        digest.update(f"{order[-1]}\t{response.public_id}\t{criterion_id}\t{outcome}\n".encode())
    return Decisions(
        pairs=[row[1] for row in rows],
        met=np.array([row[2] for row in rows], dtype=np.int64),
        candidate=np.array([row[3].candidate.name for row in rows], dtype=np.str_),
        case=np.array([row[3].case.key for row in rows], dtype=np.str_),
        group=np.array([row[0][-1] for row in rows], dtype=np.str_),
        left_out=left_out,
        sha256=digest.hexdigest(),
    )


def split_candidates(
    candidates: Sequence[str], held_out: Sequence[str], seed: int, *, dev_share: float = DEV_SHARE
) -> Split:
    """Held-out candidates as named, or a quarter of them by the seed; ``dev_share`` of the others for dev, at least one
    and never all.
    """
    names = sorted(set(candidates))
    rng = np.random.Generator(np.random.PCG64(seed))
    shuffled = [names[i] for i in rng.permutation(len(names))]
    chosen = sorted(set(held_out)) or sorted(shuffled[: max(1, round(len(names) / 4))])
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise DomainError(
            _("“%(unknown)s” is selected to be held out, but has no decisions of these physicians.")
            % {"unknown": unknown[0]}
        )
    rest = [name for name in shuffled if name not in chosen]
    if len(rest) < 2:
        raise DomainError(
            _(
                "The split is by candidate and needs at least three with decisions: one to learn from, "
                "one to choose the threshold and one to report on. There are only %(n)s."
            )
            % {"n": len(names)}
        )
    n_dev = min(max(1, round(len(rest) * dev_share)), len(rest) - 1)
    return Split(train=tuple(sorted(rest[n_dev:])), dev=tuple(sorted(rest[:n_dev])), held_out=tuple(chosen))
