"""Writes to judges: a change creates a new version; runs keep the version they used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max, ProtectedError, QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import ExpertGroup
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import register
from consilium.core.locked_jobs import LockedKind
from consilium.core.locks import WorkerLock
from consilium.core.transitions import transition
from rubrics.acuity.services import get_or_make_scale
from rubrics.models import AcuityScale, Benchmark, Candidate
from scoring.judges.config import acuity_config, chat_config, check_judge_name, trained_config
from scoring.judges.kinds.kind import juries, kinds_where
from scoring.keys.grants import require_keys
from scoring.models import Judge, TrainedModel


def new_version(
    *,
    benchmark: Benchmark,
    name: str,
    kind: str,
    config: Mapping[str, Any],
    by: User | None,
    scale: AcuityScale | None = None,
) -> Judge:
    """Create the next version of the judge called ``name``; the caller has checked its settings.

    With a ``scale`` its task is to read levels of care.
    """
    check_judge_name(name)
    task = Judge.Task.RUBRIC if scale is None else Judge.Task.ACUITY
    known = Judge.objects.filter(benchmark=benchmark, name=name)
    other = known.exclude(kind=kind, task=task).first()
    if other is not None:
        raise DomainError(
            _("“%(name)s” is already the name of another kind of judge here (%(kind)s). Choose another name.")
            % {
                "name": name,
                "kind": other.get_kind_display() if other.kind != kind else other.get_task_display(),
            }
        )
    newest = known.aggregate(newest=Max("version"))["newest"] or 0
    try:
        with transaction.atomic():
            return Judge.objects.create(
                benchmark=benchmark,
                name=name,
                version=newest + 1,
                kind=kind,
                task=task,
                scale=scale,
                config=dict(config),
                created_by=by,
            )
    except IntegrityError:
        raise Conflict(
            _("Someone else has just created a new version of “%(name)s”. Review it, then try again.") % {"name": name}
        ) from None


@transaction.atomic
def create_chat_judge(*, benchmark: Benchmark, name: str, config: Mapping[str, Any], by: User | None) -> Judge:
    """Create a judge that asks a chat endpoint; `InvalidConfig` if a setting cannot be used."""
    checked = chat_config(dict(config))
    require_keys(benchmark, {"": checked.for_client()})
    return new_version(
        benchmark=benchmark, name=name, kind=Judge.Kind.CHAT, config=checked.model_dump(mode="json"), by=by
    )


@transaction.atomic
def create_acuity_judge(
    *, benchmark: Benchmark, name: str, scale: str, config: Mapping[str, Any], by: User | None, at: datetime
) -> Judge:
    """Create a judge that reads levels of the scale called ``scale``; a starter scale is made if it is not there."""
    checked = acuity_config(dict(config))
    require_keys(benchmark, {"": checked.for_client()})
    row = get_or_make_scale(benchmark=benchmark, name=scale, by=by, at=at)
    values = checked.model_dump(mode="json")
    return new_version(benchmark=benchmark, name=name, kind=Judge.Kind.CHAT, config=values, by=by, scale=row)


def restore_judge(
    *,
    benchmark: Benchmark,
    name: str,
    version: int,
    scale: AcuityScale,
    config: Mapping[str, Any],
    by: User | None,
) -> Judge:
    """The version of a judge that reads levels as it was elsewhere; it has no endpoint and cannot run.

    `DomainError` where this version is another judge here. ``config``: its model, and how it was asked.
    """
    stored = Judge.objects.filter(benchmark=benchmark, name=name, version=version).first()
    if stored is None:
        check_judge_name(name)
        if Judge.objects.filter(benchmark=benchmark, name=name).exclude(task=Judge.Task.ACUITY).exists():
            raise DomainError(_("“%(name)s” is already the name of another kind of judge here.") % {"name": name})
        return Judge.objects.create(
            benchmark=benchmark,
            name=name,
            version=version,
            kind=Judge.Kind.CHAT,
            task=Judge.Task.ACUITY,
            scale=scale,
            config={"endpoint": "", **config},
            created_by=by,
        )
    own = {setting: stored.config.get(setting) for setting in config}
    if (stored.task, stored.scale_id, own) != (Judge.Task.ACUITY, scale.pk, dict(config)):
        raise DomainError(
            _("Version %(version)s of the judge “%(name)s” is different here.") % {"name": name, "version": version}
        )
    return stored


@transaction.atomic
def create_trained_judge(
    *,
    benchmark: Benchmark,
    name: str,
    group: str = "",
    seed: int = 0,
    held_out: Sequence[str] = (),
    by: User | None,
    at: datetime,
    enqueue: bool = True,
) -> Judge:
    """Create a judge to be fitted on physicians' decisions: those of one expert group, or of all in the benchmark.

    A Celery task fits it; with ``enqueue`` False the caller fits it instead.
    """
    config = trained_config({"group": group, "seed": seed, "held_out": sorted(set(held_out))})
    if config.group and not ExpertGroup.objects.filter(benchmark=benchmark, name=config.group).exists():
        raise DomainError(
            _("There is no expert group “%(group)s” in this benchmark.") % {"group": config.group}, field="config.group"
        )
    existing = set(
        Candidate.objects.filter(benchmark=benchmark, name__in=config.held_out).values_list("name", flat=True)
    )
    missing = [candidate for candidate in config.held_out if candidate not in existing]
    if missing:
        raise DomainError(
            _("The candidate “%(name)s” does not exist in this benchmark.") % {"name": missing[0]},
            field="config.held_out",
        )
    judge = new_version(
        benchmark=benchmark, name=name, kind=Judge.Kind.TRAINED, config=config.model_dump(mode="json"), by=by
    )
    model = TrainedModel.objects.create(judge=judge, heartbeat_at=at)
    if enqueue:
        TRAININGS.enqueue([model], at=at)
    return judge


@transaction.atomic
def train_again(*, judge: Judge, at: datetime) -> None:
    """Fit a judge again after its fitting failed; `Conflict` if it has not failed."""
    model = TrainedModel.objects.get(judge=judge)
    transition(model, source=["failed"], target="pending", error="", heartbeat_at=at)
    TRAININGS.enqueue([model], at=at)


@transaction.atomic
def delete_failed_judge(*, judge: Judge) -> None:
    """Delete a version of a judge whose training failed; `Conflict` if it has not, or something uses the judge."""
    model = TrainedModel.objects.select_for_update().filter(judge=judge).first()
    if model is None or model.status != "failed":
        raise Conflict(_("Only a judge whose training failed can be deleted."))
    if (
        judge.runs.exists()
        or Judge.objects.filter(
            benchmark=judge.benchmark_id, kind__in=juries(), config__members__contains=judge.name
        ).exists()
    ):
        raise Conflict(_("This judge has runs or is a member of a jury, so it cannot be deleted."))
    try:
        judge.delete()  # its model goes with it
    except ProtectedError:  # a run that was created just now
        raise Conflict(_("This judge has runs or is a member of a jury, so it cannot be deleted.")) from None


class TrainingJobs(LockedKind[TrainedModel]):
    """Trained judges to be fitted."""

    model = TrainedModel
    task = "scoring.tasks.train_judge"
    sweep_task = "scoring.tasks.sweep_runs"
    lock = WorkerLock.TRAINING
    waiting = ("pending",)
    running = ("running",)

    def rows(self) -> QuerySet[TrainedModel]:
        """Without the fitted models, which are large."""
        return TrainedModel.objects.defer("artifact")


TRAININGS = register(TrainingJobs())


def imported_judge(*, benchmark: Benchmark, name: str, by: User | None) -> Judge:
    """The judge of verdicts made elsewhere; created if it does not exist."""
    known = Judge.objects.filter(benchmark=benchmark, name=name, kind=Judge.Kind.IMPORTED).first()
    return known or new_version(benchmark=benchmark, name=name, kind=Judge.Kind.IMPORTED, config={}, by=by)


def no_run_of_a_jury(jury: Judge) -> str:
    """The message that a jury cannot run, and which judges can."""
    return _("“%(name)s” is a jury and cannot run itself. Run its members instead (%(members)s).") % {
        "name": jury.name,
        "members": ", ".join(jury.config["members"]),
    }


def find_judge(*, benchmark: Benchmark, name: str, task: str = Judge.Task.RUBRIC) -> Judge:
    """The newest version of the judge ``name`` that can run: of the benchmark itself, else of any other.

    A judge of acuity is on a scale of its benchmark, so that it runs there alone.
    """
    jury = Judge.objects.filter(benchmark=benchmark, name=name, kind__in=juries()).order_by("-version").first()
    if jury is not None:
        raise DomainError(no_run_of_a_jury(jury))
    able = Judge.objects.filter(kind__in=kinds_where(lambda kind: kind.makes_runs), task=task)
    if task == Judge.Task.ACUITY:
        able = able.filter(benchmark=benchmark)
    judges = able.filter(name=name).order_by("-version", "-pk")
    judge = judges.filter(benchmark=benchmark).first() or judges.first()
    if judge is None:
        known = sorted(set(able.values_list("name", flat=True)))
        raise DomainError(
            _("There is no judge “%(name)s” that can run. Judges: %(known)s.")
            % {"name": name, "known": ", ".join(known) or _("none")}
        )
    return judge
