"""Previews a chat judge's request about a real response of the benchmark, split into parts for a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import OuterRef, Subquery

from consilium.llm.prompts import JudgeItem, Messages, Template, messages_for, messages_for_all, nonce_for
from rubrics.models import Benchmark, Response, RubricItem
from scoring.judges.config import ChatConfig, InvalidConfig, chat_config
from scoring.models import Judge

# Names of the fences around the candidate's text.
_CANDIDATES = ("REPLY", "RESPONSE", "TRANSCRIPT")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a message: text of the prompt itself, or with ``label`` the text between the lines of a fence."""

    text: str
    label: str = ""
    from_candidate: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """A request as it would be sent, with its messages split at their fences."""

    response: Response
    position: int  # of the criterion; 0 where one request covers all criteria, or none is asked about
    criteria: int
    nonce: str
    messages: tuple[tuple[str, tuple[Passage, ...]], ...] = ()
    number: int = 0  # of the item, from 0
    following: int = 0  # the number of the next item; 0 where there is no other

    @property
    def language(self) -> str:
        """The language of the texts from outside."""
        return self.response.case.language


def preview_of(judge: Judge, benchmark: Benchmark, number: int = 0) -> Preview | None:
    """The request of a chat judge; None if there is no response to judge, or its prompt is no longer known."""
    try:
        config = chat_config(judge.config)
    except InvalidConfig as error:
        # The operator may have removed the host from the list since; the prompt is the same.
        if set(error.fields) != {"endpoint"}:
            return None
        config = ChatConfig.model_construct(**judge.config)
    return preview_prompt(config.template(), benchmark, number, together=config.together)


def preview_prompt(
    template: Template, benchmark: Benchmark, number: int = 0, *, together: bool = False
) -> Preview | None:
    """A request about one criterion of one response, or with ``together`` about all of them.

    Items are numbered by response; each shows a different criterion, so that paging shows many criteria.
    """
    rubric = RubricItem.objects.filter(
        rubric__case=OuterRef("case"), rubric__status="published", rubric__track="gold"
    ).order_by("rubric_id")
    responses = (
        Response.objects.filter(case__benchmark=benchmark, case__excluded_at=None)
        .annotate(rubric_id=Subquery(rubric.values("rubric_id")[:1]))
        .filter(rubric_id__isnull=False)
        .select_related("case", "candidate")
        .order_by("pk")
    )
    total = responses.count()
    if not total:
        return None
    number %= total
    response = responses[number]
    rows = list(RubricItem.objects.filter(rubric=response.rubric_id).select_related("criterion").order_by("position"))
    chosen = rows if together else [rows[number % len(rows)]]
    messages, nonce = request_about(template, response, chosen, benchmark.rule_sheet, together=together)
    return Preview(
        response=response,
        position=0 if together else chosen[0].position,
        criteria=len(chosen),
        nonce=nonce,
        messages=passages_of(messages, nonce),
        number=number,
        following=(number + 1) % total,
    )


def request_about(
    template: Template, response: Response, rows: list[RubricItem], rule_sheet: str, *, together: bool
) -> tuple[Messages, str]:
    """A request about the criteria of ``rows`` (the first alone, unless ``together``): its messages and its nonce."""
    from scoring.work.chat import nonce_key

    items = [
        JudgeItem(
            conversation=response.case.conversation,
            response=response.text,
            criterion=row.criterion.text,
            points=row.points,
            rule_sheet=rule_sheet,
        )
        for row in rows
    ]
    nonce = nonce_for(items[0], nonce_key())
    if together:
        return messages_for_all(template, items, nonce=nonce), nonce
    return messages_for(template, items[0], nonce=nonce), nonce


def passages_of(messages: Messages, nonce: str) -> tuple[tuple[str, tuple[Passage, ...]], ...]:
    """The messages of a request with their roles, split at their fences."""
    return tuple((message["role"], tuple(_passages(message["content"], nonce))) for message in messages)


def _passages(content: str, nonce: str) -> Iterator[Passage]:
    """A message, split at the lines that carry the nonce; no author of an enclosed text can know the nonce."""
    text: list[str] = []
    label = ""
    for line in content.split("\n"):
        opens, closes = line.startswith("<<<"), line.startswith(">>>")
        if (opens or closes) and line.endswith(f" {nonce}"):
            if joined := "\n".join(text).strip("\n"):
                yield Passage(joined, label, label in _CANDIDATES)
            text = []
            label = line[3:].removesuffix(f" {nonce}") if opens else ""
        else:
            text.append(line)
    if joined := "\n".join(text).strip("\n"):
        yield Passage(joined, label)
