"""A made-up response and criterion for one request to a judge, in the languages of the pages."""

from __future__ import annotations

from django.utils.translation import get_language

from consilium.llm.prompts import JudgeItem, Messages, messages_for, messages_for_all
from scoring.judges.config import ChatConfig

# Made up: question, reply, criterion and points, in the languages of the pages.
EXAMPLES: dict[str, tuple[str, str, str, int]] = {
    "en": (
        "I take a blood thinner and cut my hand an hour ago. It is not deep, but it keeps oozing. What should I do?",
        "Press firmly on the cut with a clean cloth for fifteen minutes and raise your hand. Do not skip your tablet. "
        "If the bleeding does not stop, go to an emergency department.",
        "Advises not to stop or skip the blood thinner without asking a clinician.",
        5,
    ),
    "zh": (
        "我在吃抗凝药，一小时前割伤了手，伤口不深，但一直渗血。我该怎么办？",
        "请用干净的布用力按压伤口十五分钟，并把手抬高。不要漏服抗凝药。如果血止不住，请去急诊。",
        "建议未经医师同意不要停用或漏服抗凝药。",
        5,
    ),
}


def example_language() -> str:
    """The language of the example: Chinese for readers of Chinese pages, else English."""
    return "zh" if (get_language() or "en").startswith("zh") else "en"


def example_item(rule_sheet: str) -> JudgeItem:
    """The made-up example."""
    question, reply, criterion, points = EXAMPLES[example_language()]
    conversation = [{"role": "user", "content": question}]
    return JudgeItem(conversation, reply, criterion, points, rule_sheet)


def messages_about(item: JudgeItem, config: ChatConfig, *, nonce: str) -> Messages:
    """The request of a judge about one criterion."""
    if config.together:
        return messages_for_all(config.template(), [item], nonce=nonce)
    return messages_for(config.template(), item, nonce=nonce)
