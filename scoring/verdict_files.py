"""Verdicts of judges made elsewhere, as they stand in files. Reads and checks; knows no table.

Shape (a): a row a verdict, JSONL or CSV (`rubrics.parsing.decisions`). Shape (b): a row a response with its rubric and
one grade for each of its criteria, as HealthBench's runs write them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from consilium.lib.phrases import Phrase
from rubrics.parsing.cases import CaseRecord, CriterionRecord, healthbench_case
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import KEY_LENGTH, Fields
from rubrics.parsing.reader import Limits, RecordReader
from rubrics.parsing.responses import LARGEST_SAMPLE

OUTCOMES = ("met", "not_met", "invalid")
MARKS = (b'"responses"', b'"prompt_response"')
LOOKED_AT = 1 << 20


@dataclass(frozen=True, slots=True)
class Grade:
    """What a judge said of one criterion; an answer that is no boolean is ``invalid``."""

    outcome: str
    explanation: str


@dataclass(frozen=True, slots=True)
class GradedResponse:
    """A row of shape (b). ``case`` is there to be made if the benchmark has none; ``grades`` follow ``criteria``."""

    line: int
    key: str
    candidate: str
    sample: int | None  # None: by the order of the file
    text: str
    text_field: str
    criteria: tuple[CriterionRecord, ...]
    grades: tuple[Grade, ...]
    case: CaseRecord | None


def is_graded_responses(file: BinaryIO) -> bool:
    """Whether a seekable file holds rows of shape (b), by its first line; the file is left at its start."""
    first = file.readline(LOOKED_AT)
    file.seek(0)
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return any(mark in first for mark in MARKS)
    return isinstance(record, dict) and ("responses" in record or "prompt_response" in record)


def read_graded_responses(
    file: BinaryIO,
    faults: Faults,
    *,
    candidate: str = "",
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[GradedResponse]:
    """The sound rows of ``file``; everything else is in ``faults`` when the iterator ends."""
    for line, record in RecordReader(file, faults, limits=limits, progress=progress):
        fields = Fields(line, record, faults)
        made = _graded_response(fields, candidate)
        if made is not None and fields.sound:
            yield made


def _graded_response(fields: Fields, candidate: str) -> GradedResponse | None:
    fields.take("prompt_id")
    name = fields.text(fields.name_of("candidate", "model"), required=not candidate, longest=KEY_LENGTH)
    sample: int | None = None
    if fields.record.get("sample") is not None:
        sample = fields.integer("sample", low=0, high=LARGEST_SAMPLE)
    conversation, text, text_field = _completion(fields)
    case = _case(fields, conversation)
    criteria = case.criteria
    grades = _grades(fields, criteria)
    if not fields.sound:
        return None
    return GradedResponse(
        line=fields.line,
        key=case.key,
        candidate=candidate or name,
        sample=sample,
        text=text,
        text_field=text_field,
        criteria=criteria,
        grades=grades,
        case=case if conversation is not None else None,
    )


def _completion(fields: Fields) -> tuple[list[Any] | None, str, str]:
    """The conversation before the response, where the row has it, and the response with the name of its field."""
    turns = fields.take("prompt_response")
    if turns is None:
        prompt = fields.take("prompt")
        return prompt if isinstance(prompt, list) else None, fields.text("completion"), "completion"
    if isinstance(turns, str):
        prompt = fields.take("prompt")
        return prompt if isinstance(prompt, list) else None, turns, "prompt_response"
    last = turns[-1] if isinstance(turns, list) and turns else None
    if not isinstance(last, dict) or last.get("role") != "assistant" or not isinstance(last.get("content"), str):
        fields.fault("prompt_response", Phrase("This must be a list of turns that ends with the assistant's reply."))
        return None, "", "prompt_response"
    return turns[:-1], str(last["content"]), f"prompt_response[{len(turns) - 1}].content"


def _case(fields: Fields, conversation: list[Any] | None) -> CaseRecord:
    """The row's case, checked as a HealthBench example is; one without its prompt gets a stand-in that is not kept."""
    record = {
        "prompt_id": fields.record.get("prompt_id"),
        "prompt": conversation if conversation else [{"role": "user", "content": "-"}],
        "rubrics": fields.take("rubrics"),
        "example_tags": fields.take("example_tags"),
    }
    if isinstance(fields.record.get("canary"), str):
        record["canary"] = fields.take("canary")
    inner = Fields(fields.line, record, fields.faults, fields.place)
    case = healthbench_case(inner)
    fields.absorb(inner)
    return case


def _grades(fields: Fields, criteria: tuple[CriterionRecord, ...]) -> tuple[Grade, ...]:
    given = fields.objects("responses", what=Phrase("grade"))
    if not fields.sound:
        return ()
    if len(given) != len(criteria):
        fields.fault(
            "responses",
            Phrase("There are %(grades)s grades for %(criteria)s criteria.", grades=len(given), criteria=len(criteria)),
        )
        return ()
    grades = []
    for index, (element, criterion) in enumerate(zip(given, criteria, strict=True)):
        inner = fields.within(f"responses[{index}]", element)
        if inner is None:
            fields.sound = False
            continue
        points = inner.take("points")
        if points is not None and points != criterion.points:
            inner.fault(
                "points",
                Phrase(
                    "The criterion has %(points)s points in rubrics[%(index)s].", points=criterion.points, index=index
                ),
            )
        answer = inner.mapping("response_dict") if "response_dict" in inner.record else inner.record
        grades.append(_grade(answer))
        fields.absorb(inner)
    return tuple(grades)


def _grade(answer: dict[str, Any]) -> Grade:
    met, explanation = answer.get("criteria_met"), answer.get("explanation")
    said = explanation if isinstance(explanation, str) else ""
    if met is True or met is False:
        return Grade("met" if met else "not_met", said)
    return Grade("invalid", said or f"criteria_met: {json.dumps(met, ensure_ascii=False)[:500]}")
