"""Previews the request of a judge that reads levels about a real response of the benchmark."""

from __future__ import annotations

from typing import Any

from rubrics.models import Benchmark, Response
from scoring.judges.prompt_previews import Preview, passages_of
from scoring.runs.services import RunFrame, frame_responses
from scoring.work.levels import options_of, request_of


def level_preview_of(levels: list[dict[str, Any]], benchmark: Benchmark, number: int = 0) -> Preview | None:
    """The request about the response of this number; None if there is no response or no level."""
    ids = frame_responses(benchmark=benchmark, frame=RunFrame())
    if not ids or not levels:
        return None
    number %= len(ids)
    response = Response.objects.select_related("case", "candidate").get(pk=ids[number])
    messages, nonce = request_of(response.case.conversation, response.text, options_of(levels))
    return Preview(
        response=response,
        position=0,
        criteria=0,
        nonce=nonce,
        messages=passages_of(messages, nonce),
        number=number,
        following=(number + 1) % len(ids),
    )
