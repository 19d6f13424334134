"""Stored answers: those that answer the same request again, and those that a replay takes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields

from django.db.models import QuerySet

from consilium.core.among import Among
from scoring.models import EndpointCall, PipelineRun, PipelineStep
from scoring.pipelines.kind import Answer

# Level 1 takes a third of the time of level 6 and makes texts a tenth larger.
LEVEL = 1
RequestKey = tuple[str, str]  # the hash of a request, which the model is part of, and the address of its endpoint
_FIELDS = tuple(field.name for field in fields(Answer))


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The call that an answer came from, and the answer."""

    call: int
    answer: Answer


def packed_answer(answer: Answer) -> bytes:
    """An answer as a call stores it."""
    return zlib.compress(answer_json(answer).encode(), LEVEL)


def answer_json(answer: Answer) -> str:
    """An answer as JSON."""
    values = {name: getattr(answer, name) for name in _FIELDS}  # `dataclasses.asdict` takes ten times as long
    return json.dumps(values, ensure_ascii=True)


def answer_of_json(text: str | bytes) -> Answer:
    """An answer from its JSON; `ValueError` or `TypeError` where it is none."""
    values = json.loads(text)
    return Answer(**{**values, "left_out": tuple(values.get("left_out", ()))})


def answer_of(call: EndpointCall) -> Answer | None:
    """The stored answer of a call; None where none came."""
    return None if call.answer is None else answer_of_json(zlib.decompress(bytes(call.answer)))


def request_of(call: EndpointCall) -> bytes:
    """The body of a call as it was sent."""
    return zlib.decompress(bytes(call.request))


def good_answers(run: PipelineRun, requests: Collection[RequestKey]) -> dict[RequestKey, StoredAnswer]:
    """The first good answer to each of the requests in this benchmark.

    Answers of runs that were made elsewhere do not count: nobody here saw who gave them.
    """
    calls = _calls(run, requests).filter(error_kind="", run__imported=False)
    return _first(calls.order_by("pk"), requests)


def answers_to_replay(run: PipelineRun, requests: Collection[RequestKey]) -> dict[RequestKey, StoredAnswer]:
    """The answers that a replay takes: those on the record of the replayed run, and no other run's.

    First come those that its steps ended with, which it may have taken from the store, then its good ones, then its
    last faulty answer: where the model gave no usable answer, the replay has to find the same.
    """
    hashes = {request_hash for request_hash, _endpoint in requests}
    taken = PipelineStep.objects.filter(run=run.replay_of_id, request_hash__in=hashes).exclude(call=None)
    ended = [step.call for step in taken.order_by("-pk").select_related("call") if step.call]
    own = _calls(run, requests).filter(run=run.replay_of_id)
    good = own.filter(error_kind="").order_by("pk")
    faulty = own.exclude(error_kind="").exclude(answer=None).order_by("-pk")
    return _first([*ended, *good, *faulty], requests)


def _calls(run: PipelineRun, requests: Collection[RequestKey]) -> QuerySet[EndpointCall]:
    hashes = {request_hash for request_hash, _endpoint in requests}
    return EndpointCall.objects.filter(Among("request_hash", hashes), benchmark=run.benchmark_id).defer("request")


def _first(calls: Iterable[EndpointCall], requests: Collection[RequestKey]) -> dict[RequestKey, StoredAnswer]:
    """The first of the calls for each request."""
    answers: dict[RequestKey, StoredAnswer] = {}
    for call in calls:
        key = (call.request_hash, call.endpoint)
        if key in requests and key not in answers and (answer := answer_of(call)) is not None:
            answers[key] = StoredAnswer(call.pk, answer)
    return answers
