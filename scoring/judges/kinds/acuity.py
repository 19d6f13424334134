"""Judges that read out of a response which level of care it advises; they ask a language model as chat judges do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.phrases import Phrase
from consilium.llm.acuity import judge_prompt_hash
from rubrics.models import Benchmark
from scoring.acuity.judge_forms import AcuityJudgeForm
from scoring.judges.config import AcuityConfig, acuity_config
from scoring.judges.endpoint_check import check_endpoint
from scoring.judges.kinds.chat import ChatJudge
from scoring.judges.kinds.kind import Row
from scoring.judges.level_previews import level_preview_of
from scoring.judges.services import create_acuity_judge
from scoring.keys.grants import require_keys
from scoring.models import Judge, JudgeRun
from scoring.susceptibility.level_forms import LevelMeasurementForm
from scoring.susceptibility.level_shifts import newest_measurement
from scoring.work.levels import ask_about_levels, options_of
from scoring.work.slice_turn import SliceTurn


class AcuityJudge(ChatJudge):
    """Levels of a scale, an endpoint and its limits."""

    task = Judge.Task.ACUITY
    is_measurable = False  # criteria cannot be; levels have a measurement of their own
    hash_name = Phrase("prompt and levels")
    ready = Q(kind=Judge.Kind.CHAT, task=Judge.Task.ACUITY)
    new_label = _("New judge of levels")
    new_template = "scoring/judges/new_acuity.html"

    def make_form(
        self, benchmark: Benchmark, data: Any = None, initial: dict[str, Any] | None = None
    ) -> AcuityJudgeForm:
        """The form with the scales of the benchmark."""
        return AcuityJudgeForm(data, benchmark=benchmark, initial=initial)

    def initial(self, judge: Judge) -> dict[str, Any]:
        """Its settings and its scale."""
        return {**super().initial(judge), "scale": judge.scale.name if judge.scale else ""}

    def request_mode(self, config: Mapping[str, Any]) -> str:
        """It is not asked about criteria."""
        return ""

    def snapshot(self, judge: Judge, benchmark: Benchmark) -> tuple[dict[str, Any], str]:
        """The levels."""
        if not judge.config.get("endpoint"):
            raise DomainError(
                gettext(
                    "“%(name)s” was imported with a release and has no endpoint. Create a new version that has one."
                )
                % {"name": judge.name}
            )
        config = acuity_config(judge.config)  # the operator's lists may have changed since
        require_keys(benchmark, {"": config.for_client()})
        scale = judge.scale
        assert scale is not None
        kept = {"scale": scale.name, "scale_version": scale.version, "levels": scale.levels}
        return kept, judge_prompt_hash(options_of(scale.levels))

    def has_prices(self, judge: Judge) -> bool:
        """Whether prices are set."""
        return bool(judge.config.get("endpoint")) and acuity_config(judge.config).priced

    def check_benchmark(self, judge: Judge, benchmark: Benchmark) -> None:
        """Its scale is that of one benchmark."""
        if judge.benchmark_id != benchmark.pk:
            raise DomainError(
                gettext("“%(name)s” reads levels on a scale of another benchmark. Create a judge in this benchmark.")
                % {"name": judge.name}
            )

    def check_resumption(self, run: JudgeRun) -> None:
        """Check the settings again."""
        require_keys(run.benchmark, {"": acuity_config(run.snapshot["config"]).for_client()})

    def reads_points(self, run: JudgeRun) -> bool:
        """It sees no criteria."""
        return False

    def unchanged(self, run: JudgeRun, old: Sequence[Row], new: Sequence[Row]) -> list[int]:
        """It decides no criteria."""
        return []

    def work(self, turn: SliceTurn, until: float) -> bool:
        """Send the requests, within the limits of the judge and the budget of the run."""
        return ask_about_levels(turn, until)

    def create(
        self, *, benchmark: Benchmark, name: str, config: Mapping[str, Any], by: User | None, at: datetime
    ) -> Judge:
        """The next version; ``config`` names the scale too."""
        values = dict(config)
        scale = str(values.pop("scale", ""))
        return create_acuity_judge(benchmark=benchmark, name=name, scale=scale, config=values, by=by, at=at)

    def check_endpoint(self, benchmark: Benchmark, config: Mapping[str, Any], *, seconds: float) -> None:
        """One short request."""
        checked = acuity_config({name: value for name, value in config.items() if name != "scale"})
        check_endpoint(benchmark, checked, seconds=seconds)

    def page_context(self, judge: Judge, benchmark: Benchmark, item: int) -> dict[str, Any]:
        """Its settings in full, its levels, and a request."""
        defaults = {name: field.default for name, field in AcuityConfig.model_fields.items()}
        return {
            "config": defaults | judge.config,
            "measurement": newest_measurement(judge),
            "measure_form": LevelMeasurementForm(),
            "preview": level_preview_of(judge.scale.levels if judge.scale else [], benchmark, item),
        }


KIND = AcuityJudge()
