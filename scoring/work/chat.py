"""Questions to a chat endpoint."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from consilium.llm.client import ChatClient
from consilium.llm.judging import judge
from consilium.llm.prompts import JudgeItem, Template, messages_for, nonce_for, request_hash
from scoring.judge_config import ChatConfig, chat_config
from scoring.models import JudgeRun, Verdict
from scoring.work.dispatcher import Dispatcher
from scoring.work.missing import Question
from scoring.work.store import Finding


def nonce_key() -> bytes:
    """The server's key for the codes that fence a candidate's text."""
    return salted_hmac("consilium.judge.nonce", b"", algorithm="sha256").digest()


def template_of(snapshot: dict[str, Any]) -> Template:
    """The prompt as it was when the run began."""
    kept = snapshot["template"]
    return Template(name=kept["name"], title=kept["name"], system=kept["system"], user=kept["user"])


def item_of(question: Question, rule_sheet: str) -> JudgeItem:
    """A question as the prompts take it."""
    return JudgeItem(
        conversation=question.conversation,
        response=question.response,
        criterion=question.criterion,
        points=question.points,
        rule_sheet=rule_sheet,
    )


def chat_dispatcher(run: JudgeRun) -> Dispatcher:
    """A dispatcher that asks as the run's snapshot says."""
    config: ChatConfig = chat_config(run.snapshot["config"])
    endpoint = config.for_client()
    template = template_of(run.snapshot)
    rule_sheet = str(run.snapshot.get("rule_sheet", ""))
    key = nonce_key()

    async def ask(client: ChatClient, question: Question) -> Finding:
        item = item_of(question, rule_sheet)
        messages = messages_for(template, item, nonce=nonce_for(item, key))
        made = await judge(client, messages, replicate=question.replicate)
        if made.verdict is not None:
            outcome = Verdict.Outcome.MET if made.verdict.criteria_met else Verdict.Outcome.NOT_MET
        else:
            outcome = Verdict.Outcome.INVALID if made.invalid else ""  # type: ignore[assignment]  # empty: missing
        return Finding(
            question=question,
            outcome=str(outcome),
            explanation=made.verdict.explanation if made.verdict else "",
            calls=made.calls,
            request_hash=request_hash(template, item, endpoint.parameters(replicate=question.replicate)),
        )

    return Dispatcher(endpoint, ask, allowed_hosts=settings.JUDGE_ALLOWED_HOSTS)
