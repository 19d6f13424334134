"""Judges that are fitted on physicians' decisions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.phrases import Phrase
from rubrics.models import Benchmark
from scoring.forms import TrainedJudgeForm
from scoring.judges.config import InvalidConfig, TrainedConfig, trained_config
from scoring.judges.kinds.kind import JudgeKind, Row
from scoring.judges.services import create_trained_judge
from scoring.models import Judge, JudgeRun, TrainedModel
from scoring.work.missing import missing_questions
from scoring.work.slice_turn import SliceTurn


class TrainedJudge(JudgeKind):
    """A model that is fitted here; it needs no network and always gives the same verdict on the same input."""

    value = Judge.Kind.TRAINED
    learns = True
    is_measurable = True
    hash_name = Phrase("fitted model")
    ready = Q(kind=Judge.Kind.TRAINED, trained_model__status="done")
    form = TrainedJudgeForm
    new_label = _("New trained judge")
    new_template = "scoring/judges/new_trained.html"
    settings_template = "scoring/judges/_trained_settings.html"
    idle_template = "scoring/judges/_trained_not_run.html"
    no_runs = _("It can run once its training is finished.")

    def is_ready(self, judge: Judge) -> bool:
        """Whether it is fitted."""
        model = getattr(judge, "trained_model", None)
        return model is not None and model.status == "done"

    def snapshot(self, judge: Judge, benchmark: Benchmark) -> tuple[dict[str, Any], str]:
        """The hash of the fitted model."""
        model = TrainedModel.objects.defer("artifact").filter(judge=judge).first()
        if model is not None and model.status == "failed":
            message = gettext("The training of “%(name)s” failed, so it cannot run: %(reason)s")
            raise DomainError(message % {"name": judge.name, "reason": model.error}, field="judge")
        if model is None or model.status != "done":
            raise DomainError(
                gettext("“%(name)s” is not trained yet. Wait until its training is finished.") % {"name": judge.name},
                field="judge",
            )
        return {"model_sha256": model.sha256}, model.sha256

    def check_replicates(self, replicates: int) -> None:
        """Refuse more than one replicate: all would be the same."""
        if replicates > 1:
            raise DomainError(gettext("A trained judge always gives the same verdicts, so replicates are not needed."))

    def check_continuation(self, run: JudgeRun) -> None:
        """Raise `DomainError` unless the fitted model is the one that gave the verdicts."""
        sha256 = TrainedModel.objects.filter(judge=run.judge).values_list("sha256", flat=True).first()
        if sha256 != run.snapshot.get("model_sha256"):
            raise DomainError(gettext("The fitted model of this judge has changed, so the run cannot continue."))

    def reads_points(self, run: JudgeRun) -> bool:
        """Always: the points are one of its features."""
        return True

    def unchanged(self, run: JudgeRun, old: Sequence[Row], new: Sequence[Row]) -> list[int]:
        """Criteria with the same text and points."""
        points = {criterion: value for criterion, _text, value in old}
        return [criterion for criterion, _text, value in new if points.get(criterion) == value]

    def work(self, turn: SliceTurn, until: float) -> bool:
        """Predict the verdicts with the model, chunk by chunk."""
        from scoring.work.trained import load_model, predict  # importing scikit-learn would delay every start

        model = load_model(turn.run)
        for chunk in missing_questions(turn.run, turn.row.number, turn.run.slices.count()):
            turn.take(predict(model, chunk), now=True)
            if turn.cancelled:
                return False
            if time.monotonic() > until:
                return True
        return False

    def make_form(
        self, benchmark: Benchmark, data: Any = None, initial: dict[str, Any] | None = None
    ) -> TrainedJudgeForm:
        """The form with the groups and candidates of the benchmark."""
        return TrainedJudgeForm(data, benchmark=benchmark, initial=initial)

    def create(
        self, *, benchmark: Benchmark, name: str, config: Mapping[str, Any], by: User | None, at: datetime
    ) -> Judge:
        """The next version, which a worker fits."""
        unknown = sorted(set(config) - set(TrainedConfig.model_fields))
        if unknown:
            raise InvalidConfig({setting: gettext("This field cannot be set here.") for setting in unknown})
        checked = trained_config(dict(config))
        return create_trained_judge(
            benchmark=benchmark,
            name=name,
            group=checked.group,
            seed=checked.seed,
            held_out=checked.held_out,
            by=by,
            at=at,
        )


KIND = TrainedJudge()
