"""Judges that ask a language model behind a chat endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from consilium.llm.prompts import (
    TEMPLATES,
    JudgeItem,
    Template,
    messages_for,
    messages_for_all,
    nonce_for,
    prompt_hash,
    request_hash,
)
from rubrics.models import Benchmark
from scoring.forms import ChatJudgeForm, JudgeForm
from scoring.judges.config import ChatConfig, chat_config
from scoring.judges.endpoint_check import check_endpoint
from scoring.judges.example import example_item, messages_about
from scoring.judges.kinds.kind import JudgeKind, Row
from scoring.judges.prompt_previews import preview_of
from scoring.judges.services import create_chat_judge
from scoring.keys.grants import require_keys
from scoring.models import Judge, JudgeRun
from scoring.work.chat import ask_endpoint, nonce_key, template_of
from scoring.work.slice_turn import SliceTurn


class ChatJudge(JudgeKind):
    """A prompt, an endpoint and its limits."""

    value = Judge.Kind.CHAT
    asks_endpoint = True
    is_measurable = True
    ready = Q(kind=Judge.Kind.CHAT, task=Judge.Task.RUBRIC)
    form = ChatJudgeForm
    new_label = _("New chat judge")
    new_template = "scoring/judges/new_chat.html"
    settings_template = "scoring/judges/_chat_settings.html"

    def is_ready(self, judge: Judge) -> bool:
        """Always; whether its endpoint is allowed is checked when it runs."""
        return True

    def make_form(self, benchmark: Benchmark, data: Any = None, initial: dict[str, Any] | None = None) -> JudgeForm:
        """The form with the keys that the benchmark may use."""
        form = ChatJudgeForm(data, initial=initial)
        form.offer_keys(benchmark)
        return form

    def may_waver(self, config: Mapping[str, Any]) -> bool:
        """Whether the temperature is above 0, or left to the endpoint."""
        temperature = config.get("temperature", 0.0)
        return temperature is None or temperature > 0

    def request_mode(self, config: Mapping[str, Any]) -> str:
        """The judge's setting; a judge older than the setting asks about one criterion at a time."""
        return str(config.get("criteria_per_request", "one"))

    def snapshot(self, judge: Judge, benchmark: Benchmark) -> tuple[dict[str, Any], str]:
        """The prompt and the rule sheet."""
        config = chat_config(judge.config)  # the operator's lists may have changed since
        require_keys(benchmark, {"": config.for_client()})
        template = config.template()
        kept = {
            "rule_sheet": benchmark.rule_sheet,
            "template": {"name": template.name, "system": template.system, "user": template.user},
        }
        return kept, prompt_hash(template, benchmark.rule_sheet, together=config.together)

    def slices(self, judge: Judge) -> int:
        """The number in its settings."""
        return int(judge.config.get("slices", 1))

    def has_prices(self, judge: Judge) -> bool:
        """Whether prices are set."""
        return chat_config(judge.config).priced

    def check_resumption(self, run: JudgeRun) -> None:
        """Check the settings again: the operator's lists and grants may have changed since the run began."""
        require_keys(run.benchmark, {"": chat_config(run.snapshot["config"]).for_client()})

    def reads_points(self, run: JudgeRun) -> bool:
        """Whether its prompt shows the points."""
        return template_of(run.snapshot).shows_points

    def unchanged(self, run: JudgeRun, old: Sequence[Row], new: Sequence[Row]) -> list[int]:
        """Criteria whose requests are the same, byte for byte."""
        template, rules = template_of(run.snapshot), str(run.snapshot.get("rule_sheet", ""))
        if chat_config(run.snapshot["config"]).together:
            same = bool(old and new) and _hash_of_all(template, rules, old) == _hash_of_all(template, rules, new)
            return [row[0] for row in new] if same else []
        points = {criterion: value for criterion, _text, value in old}
        return [
            row[0]
            for row in new
            if row[0] in points
            and (
                row[2] == points[row[0]]
                or _hash_of(template, rules, row) == _hash_of(template, rules, (row[0], row[1], points[row[0]]))
            )
        ]

    def work(self, turn: SliceTurn, until: float) -> bool:
        """Send the requests, within the limits of the judge and the budget of the run."""
        return ask_endpoint(turn, until)

    def create(
        self, *, benchmark: Benchmark, name: str, config: Mapping[str, Any], by: User | None, at: datetime
    ) -> Judge:
        """The next version."""
        return create_chat_judge(benchmark=benchmark, name=name, config=config, by=by)

    def check_endpoint(self, benchmark: Benchmark, config: Mapping[str, Any], *, seconds: float) -> None:
        """One request with the judge's own prompt, about a made-up example."""
        checked = chat_config(dict(config))
        item = example_item(rule_sheet="")
        # An endpoint that follows rules answers no other requests.
        messages = messages_about(item, checked, nonce=nonce_for(item, nonce_key()))
        check_endpoint(benchmark, checked, messages, seconds=seconds)

    def page_context(self, judge: Judge, benchmark: Benchmark, item: int) -> dict[str, Any]:
        """Its settings in full, its prompt, and a request; settings newer than the judge have their defaults."""
        config = {name: field.default for name, field in ChatConfig.model_fields.items()} | judge.config
        return {
            "config": config,
            "template": TEMPLATES.get(str(config.get("prompt"))),
            "preview": preview_of(judge, benchmark, item),
        }


def _item(row: Row, rules: str) -> JudgeItem:
    # Conversation, response and parameters are the same in both requests, so any values serve to compare the requests.
    return JudgeItem(conversation=[], response="", criterion=row[1], points=row[2], rule_sheet=rules)


def _hash_of(template: Template, rules: str, row: Row) -> str:
    return request_hash(messages_for(template, _item(row, rules), nonce="0"), "0", {})


def _hash_of_all(template: Template, rules: str, rows: Sequence[Row]) -> str:
    return request_hash(messages_for_all(template, [_item(row, rules) for row in rows], nonce="0"), "0", {})


KIND = ChatJudge()
