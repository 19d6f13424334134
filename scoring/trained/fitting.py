"""Fitting a trained judge: physicians' decisions in, a model and its card out.

The split is by candidate: the judge is fitted on some, its threshold is picked on another, and what the card reports
comes from candidates that it has never seen. All of it follows from the decisions and the seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import structlog
from django.db import DatabaseError, transaction
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from annotation.models import ExpertGroup
from annotation.ratings import group_ratings
from consilium.lib.errors import DomainError
from consilium.lib.ratings import Outcome
from consilium.lib.spoken import speaking_to
from rubrics.models import Benchmark, Criterion, Response, RubricItem
from scoring.judge_config import TrainedConfig, trained_config
from scoring.models import TrainedModel
from scoring.trained.card import agreement_card, best_threshold, by_candidate, calibration_card
from scoring.trained.features import FEATURES, FeatureMaker, Rarity, Texts, word_overlap
from scoring.trained.model import FittedJudge, Forest
from scoring.work.locks import training_is_free, training_lock

log = structlog.get_logger(__name__)

STAGE = "checked"
FEWEST_DECISIONS = 100
# 255 nodes a tree at most, so that a judge stays below 1 MB whatever it learned from.
TREES, LEAVES = 200, 128
RING_AGAIN = timedelta(seconds=60)
Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Decided pairs in a natural order (case, candidate, sample, criterion), so that ids play no part."""

    pairs: list[Texts]
    met: NDArray[np.int64]
    candidate: NDArray[np.str_]
    case: NDArray[np.str_]
    left_out: int  # cannot assess, undecided or faulty


@dataclass(frozen=True, slots=True)
class Split:
    """Candidates by what they are used for."""

    train: tuple[str, ...]
    dev: tuple[str, ...]
    held_out: tuple[str, ...]


def prompt_text(conversation: Sequence[dict[str, str]]) -> str:
    """What was asked: everything that the other side said."""
    return "\n".join(turn.get("content", "") for turn in conversation if turn.get("role") != "assistant")


def read_decisions(benchmark: Benchmark, group: str) -> Decisions:
    """The decisions of a group at stage `STAGE`, or of all groups of the benchmark one after the other."""
    groups = ExpertGroup.objects.filter(benchmark=benchmark, **({"name": group} if group else {})).order_by("name")
    rated = [(row.name, group_ratings(row, STAGE)) for row in groups]
    response_ids = np.unique(np.concatenate([ratings.response for _, ratings in rated] or [np.array([], int)]))
    criterion_ids = np.unique(np.concatenate([ratings.criterion for _, ratings in rated] or [np.array([], int)]))
    responses = {
        row.pk: row for row in Response.objects.filter(pk__in=response_ids.tolist()).select_related("case", "candidate")
    }
    criteria = dict(Criterion.objects.filter(pk__in=criterion_ids.tolist()).values_list("pk", "text"))
    items = RubricItem.objects.filter(criterion__in=criterion_ids.tolist(), rubric__track="gold").order_by("rubric")
    # Of several versions of a rubric the newest tells position and points.
    places = {pk: (position, points) for pk, position, points in items.values_list("criterion", "position", "points")}
    rows: list[tuple[tuple[Any, ...], Texts, int, str, str]] = []
    left_out = 0
    for name, ratings in rated:
        for response_id, criterion_id, outcome in zip(
            ratings.response.tolist(), ratings.criterion.tolist(), ratings.outcome.tolist(), strict=True
        ):
            if outcome not in (Outcome.MET, Outcome.NOT_MET):
                left_out += 1
                continue
            response, text = responses[response_id], criteria[criterion_id]
            position, points = places.get(criterion_id, (0, 1))
            pair = Texts(response.text, text, prompt_text(response.case.conversation), points)
            order = (
                response.case.key,
                response.candidate.name,
                response.setting,
                response.sample,
                position,
                text,
                name,
            )
            rows.append((order, pair, outcome, response.candidate.name, response.case.key))
    rows.sort(key=lambda row: row[0])
    return Decisions(
        pairs=[row[1] for row in rows],
        met=np.array([row[2] for row in rows], dtype=np.int64),
        candidate=np.array([row[3] for row in rows], dtype=np.str_),
        case=np.array([row[4] for row in rows], dtype=np.str_),
        left_out=left_out,
    )


def split_candidates(candidates: Sequence[str], held_out: Sequence[str], seed: int) -> Split:
    """Held-out candidates as named, or a quarter of them by the seed; one in five of the others for the threshold."""
    names = sorted(set(candidates))
    rng = np.random.Generator(np.random.PCG64(seed))
    shuffled = [names[i] for i in rng.permutation(len(names))]
    chosen = sorted(set(held_out)) or sorted(shuffled[: max(1, round(len(names) / 4))])
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise DomainError(
            _("“%(unknown)s” is to be held out, but has no decisions of these physicians.") % {"unknown": unknown[0]}
        )
    rest = [name for name in shuffled if name not in chosen]
    if len(rest) < 2:
        raise DomainError(
            _(
                "The split is by candidate and needs at least three with decisions; there are %(n)s: one to learn "
                "from, one to pick the threshold on, one to report on."
            )
            % {"n": len(names)}
        )
    n_dev = max(1, round(len(rest) / 5))
    return Split(train=tuple(sorted(rest[n_dev:])), dev=tuple(sorted(rest[:n_dev])), held_out=tuple(chosen))


def fit_judge(decisions: Decisions, split: Split, seed: int) -> tuple[FittedJudge, dict[str, Any]]:
    """Fit on the train candidates, pick the threshold on dev, report on the held-out ones. Deterministic."""
    import sklearn
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    parts = {name: np.isin(decisions.candidate, getattr(split, name)) for name in ("train", "dev", "held_out")}
    for name, inside in parts.items():
        if len(set(decisions.met[inside].tolist())) < 2:
            raise DomainError(
                _(
                    "The decisions on the candidates of one part (%(part)s) are of one kind only, met or not met. "
                    "Choose others, or another seed."
                )
                % {"part": {"train": _("Learned from"), "dev": _("Threshold chosen on")}.get(name, _("Held out"))}
            )
    if int(parts["train"].sum()) < FEWEST_DECISIONS:
        raise DomainError(
            _("There are %(n)s decisions to learn from; at least %(least)s are needed.")
            % {"n": int(parts["train"].sum()), "least": FEWEST_DECISIONS}
        )
    learned = [decisions.pairs[i] for i in np.flatnonzero(parts["train"])]
    rarity = Rarity.of([text for pair in learned for text in (pair.response, pair.criterion)])
    rows = FeatureMaker(rarity).rows(decisions.pairs)
    x, y = rows[parts["train"]], decisions.met[parts["train"]]
    scaler, regression = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000)).fit(x, y)
    trees = ExtraTreesClassifier(TREES, min_samples_leaf=5, max_leaf_nodes=LEAVES, random_state=seed).fit(x, y)
    judge = FittedJudge(
        rarity=rarity,
        mean=np.round(scaler.mean_, 6),
        scale=np.round(scaler.scale_, 6),
        coefficients=np.round(regression.coef_[0], 5),
        intercept=round(float(regression.intercept_[0]), 5),
        forest=Forest.of([tree.tree_ for tree in trees.estimators_]),
        threshold=0.5,
    )
    probability = judge.probabilities(rows)
    dev, held = parts["dev"], parts["held_out"]
    threshold = best_threshold(decisions.met[dev], probability[dev])
    judge = replace(judge, threshold=threshold)
    verdicts = (probability >= threshold).astype(np.int64)

    overlap = word_overlap(decisions.pairs)
    overlap_threshold = best_threshold(decisions.met[dev], overlap[dev])
    majority = int(decisions.met[parts["train"]].mean() >= 0.5)
    met, case = decisions.met[held], decisions.case[held]
    card = {
        "seed": seed,
        "stage": STAGE,
        "split": {
            name: {
                "candidates": list(getattr(split, name)),
                "decisions": int(inside.sum()),
                "cases": len(set(decisions.case[inside].tolist())),
                "met": float(decisions.met[inside].mean()),
            }
            for name, inside in parts.items()
        },
        "left_out": decisions.left_out,
        "threshold": threshold,
        "coefficients": dict(zip(FEATURES, judge.coefficients.tolist(), strict=True)),
        "importances": dict(zip(FEATURES, np.round(trees.feature_importances_, 4).tolist(), strict=True)),
        "dev": agreement_card(decisions.met[dev], verdicts[dev], decisions.case[dev], seed=seed),
        "held_out": agreement_card(met, verdicts[held], case, seed=seed),
        "baselines": {
            "majority": {
                "says": "met" if majority else "not_met",
                **agreement_card(met, np.full(len(met), majority), case, seed=seed),
            },
            "word_overlap": {
                "threshold": overlap_threshold,
                **agreement_card(met, (overlap[held] >= overlap_threshold).astype(np.int64), case, seed=seed),
            },
        },
        "by_candidate": by_candidate(met, verdicts[held], decisions.candidate[held].tolist(), case, seed=seed),
        "calibration": calibration_card(met, probability[held]),
        "versions": {"scikit-learn": sklearn.__version__, "numpy": np.__version__},
    }
    return judge, card


def train(benchmark: Benchmark, config: TrainedConfig) -> tuple[bytes, dict[str, Any]]:
    """The model's bytes and its card; `DomainError` with the reason where the decisions do not carry one."""
    decisions = read_decisions(benchmark, config.group)
    if not decisions.pairs:
        if config.group:
            message = _("“%(group)s” has no accepted decisions yet; there is nothing to learn from.")
            raise DomainError(message % {"group": config.group})
        raise DomainError(_("The expert groups have no accepted decisions yet; there is nothing to learn from."))
    split = split_candidates(decisions.candidate.tolist(), config.held_out, config.seed)
    judge, card = fit_judge(decisions, split, config.seed)
    groups = ExpertGroup.objects.filter(benchmark=benchmark, **({"name": config.group} if config.group else {}))
    card["data"] = {
        "benchmark": benchmark.slug,
        "groups": sorted(groups.values_list("name", flat=True)),
        "decisions": len(decisions.pairs),
        "cases": len(set(decisions.case.tolist())),
    }
    return judge.to_bytes(), card


def fit(trained_model_id: int, *, clock: Clock) -> None:
    """Fit what is pending, or was left behind; does nothing where another worker is at it or it is done."""
    with training_lock(trained_model_id) as held:
        if not held:
            return
        open_models = TrainedModel.objects.filter(pk=trained_model_id, status__in=["pending", "running"])
        if not open_models.update(status="running", heartbeat_at=clock()):
            return
        judge = (
            TrainedModel.objects.select_related("judge__benchmark", "judge__created_by").get(pk=trained_model_id).judge
        )
        try:
            with speaking_to(judge.created_by):
                artifact, card = train(judge.benchmark, trained_config(judge.config))
        except DomainError as refused:
            open_models.update(status="failed", error=str(refused), heartbeat_at=clock())
        except DatabaseError:
            raise  # nothing can be written down; the sweep rings again
        except Exception as error:
            log.exception("training_failed", judge=judge.public_id)
            with speaking_to(judge.created_by):
                said = _("The training failed (%(error)s); the worker’s log says more.")
            reason = said % {"error": type(error).__name__}
            open_models.update(status="failed", error=reason, heartbeat_at=clock())
        else:
            at = clock()
            open_models.update(
                status="done",
                error="",
                artifact=artifact,
                sha256=hashlib.sha256(artifact).hexdigest(),
                card=card,
                trained_at=at,
                heartbeat_at=at,
            )


def sweep_training(*, at: datetime) -> int:
    """Ring again for trainings that no worker holds; how many bells were rung."""
    from scoring.tasks import train_judge

    rung = 0
    for model in TrainedModel.objects.filter(status__in=["pending", "running"]).defer("artifact"):
        if model.status == "pending" and model.heartbeat_at and model.heartbeat_at > at - RING_AGAIN:
            continue
        with transaction.atomic():
            if training_is_free(model.pk):
                TrainedModel.objects.filter(pk=model.pk).update(heartbeat_at=at)
                train_judge.delay_on_commit(model.pk)
                rung += 1
    return rung
