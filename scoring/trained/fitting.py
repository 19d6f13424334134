"""The job that fits a trained judge: decisions in, a stored model and its card out."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import datetime
from typing import Any

import structlog
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.core.i18n import language_of
from consilium.core.jobs import Clock
from rubrics.models import Benchmark
from scoring.judges.config import TrainedConfig, trained_config
from scoring.judges.services import TRAININGS
from scoring.models import TrainedModel
from scoring.run_notices import notify_of_training
from scoring.trained.learning import fit_judge
from scoring.trained.training_data import read_decisions, split_candidates

log = structlog.get_logger(__name__)


def train(benchmark: Benchmark, config: TrainedConfig) -> tuple[bytes, dict[str, Any]]:
    """The model's bytes and its card; `DomainError` with the reason if the decisions do not suffice for a model."""
    decisions = read_decisions(benchmark, config.group)
    if not decisions.pairs:
        if config.group:
            message = _("“%(group)s” has no accepted decisions yet, so there is nothing to learn from.")
            raise DomainError(message % {"group": config.group})
        raise DomainError(_("The expert groups have no accepted decisions yet, so there is nothing to learn from."))
    split = split_candidates(decisions.candidate.tolist(), config.held_out, config.seed)
    judge, card = fit_judge(decisions, split, config.seed)
    by_group = Counter(decisions.group.tolist())
    card["data"] = {
        "benchmark": benchmark.slug,
        "groups": sorted(by_group),
        "by_group": dict(sorted(by_group.items())),
        "decisions": len(decisions.pairs),
        "cases": len(set(decisions.case.tolist())),
        "sha256": decisions.sha256,
    }
    return judge.to_bytes(), card


def fit(trained_model_id: int, *, clock: Clock) -> None:
    """Fit a pending or abandoned model; does nothing if another worker is fitting it or it is done."""
    with TRAININGS.hold(trained_model_id) as held:
        if not held:
            return
        open_models = TrainedModel.objects.filter(pk=trained_model_id, status__in=["pending", "running"])
        if not open_models.update(status="running", heartbeat_at=clock()):
            return
        judge = (
            TrainedModel.objects.select_related("judge__benchmark", "judge__created_by").get(pk=trained_model_id).judge
        )
        try:
            with language_of(judge.created_by):
                artifact, card = train(judge.benchmark, trained_config(judge.config))
        except DomainError as refused:
            _end(open_models, "failed", at=clock(), error=str(refused))
        except DatabaseError:
            raise  # nothing can be recorded; the sweep enqueues it again
        except Exception as error:
            log.exception("training_failed", judge=judge.public_id)
            with language_of(judge.created_by):
                message = _("The training failed (%(error)s). See the worker’s log for details.")
            reason = message % {"error": type(error).__name__}
            _end(open_models, "failed", at=clock(), error=reason)
        else:
            at = clock()
            _end(
                open_models,
                "done",
                at=at,
                error="",
                artifact=artifact,
                sha256=hashlib.sha256(artifact).hexdigest(),
                card=card,
                trained_at=at,
            )


@transaction.atomic
def _end(open_models: QuerySet[TrainedModel], status: str, *, at: datetime, **values: Any) -> None:
    """Write how the training ended, and notify, unless it has ended already."""
    model = open_models.select_related("judge__benchmark").defer("artifact").first()
    if open_models.update(status=status, heartbeat_at=at, **values) and model is not None:
        notify_of_training(model, end=status, at=at)
