"""Stored answers: those that answer the same request again, and those that a replay takes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields

from django.db.models import QuerySet

from scoring.models import EndpointCall, PipelineRun, PipelineStep
from scoring.pipelines.kind import Answer

# Level 1 takes a third of the time of level 6 and makes texts a tenth larger.
LEVEL = 1
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


def good_answers(run: PipelineRun, hashes: Mapping[str, str]) -> dict[str, StoredAnswer]:
    """The first good answer to each request in this benchmark, by its hash; ``hashes`` gives each one's endpoint.

    Answers of runs that were made elsewhere do not count: nobody here saw who gave them.
    """
    calls = _calls(run, hashes).filter(error_kind="", run__imported=False)
    return _first(call for call in calls.order_by("pk") if call.endpoint == hashes[call.request_hash])


def answers_to_replay(run: PipelineRun, hashes: Collection[str]) -> dict[str, StoredAnswer]:
    """The answers that a replay takes, by the hash of the request.

    First come those that the replayed run took itself, then good ones of any run, then its last faulty answer: where
    the model gave no usable answer, the replay has to find the same.
    """
    taken = PipelineStep.objects.filter(run=run.replay_of_id, request_hash__in=hashes).exclude(call=None)
    own = {step.request_hash: step.call for step in taken.order_by("-pk").select_related("call") if step.call}
    good = _calls(run, hashes).filter(error_kind="").order_by("pk")
    faulty = _calls(run, hashes).exclude(error_kind="").exclude(answer=None).order_by("-pk")
    calls = [*own.values(), *good, *(call for call in faulty if call.run_id == run.replay_of_id)]
    return _first(calls)


def _calls(run: PipelineRun, hashes: Collection[str]) -> QuerySet[EndpointCall]:
    return EndpointCall.objects.filter(benchmark=run.benchmark_id, request_hash__in=list(hashes)).defer("request")


def _first(calls: Iterable[EndpointCall]) -> dict[str, StoredAnswer]:
    """The first of the calls for each hash."""
    answers: dict[str, StoredAnswer] = {}
    for call in calls:
        if call.request_hash not in answers and (answer := answer_of(call)) is not None:
            answers[call.request_hash] = StoredAnswer(call.pk, answer)
    return answers
