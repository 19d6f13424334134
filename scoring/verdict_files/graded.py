"""Rows that hold a response with its rubric and a grade for each criterion: shapes (b) and (d)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, BinaryIO

from consilium.core.limits import MAX_KEY_LENGTH
from consilium.core.phrases import Phrase
from consilium.statistics.outcomes import Outcome
from rubrics.parsing.cases import CaseRecord, CriterionRecord, healthbench_case
from rubrics.parsing.decisions import replicate_of
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, size_of
from rubrics.parsing.reader import Limits
from rubrics.parsing.responses import LARGEST_SAMPLE
from scoring.verdict_files.elements import PlacedFaults
from scoring.verdict_files.records import Layout, Shape, read_records

# Instructions that a tool gave the candidate before the conversation. They are not part of the case, and physicians
# must not read them.
INSTRUCTIONS = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Grade:
    """A judge's grade of one criterion; an answer that is no boolean is ``invalid``."""

    outcome: str
    explanation: str


@dataclass(frozen=True, slots=True)
class GradedResponse:
    """A response and its grades, in the order of ``criteria``. ``case`` is created if the benchmark lacks it.

    ``stored_score`` is the row's own score, if it has one. Fields are named as the file has them, with their place.
    """

    line: int
    key: str
    candidate: str
    sample: int | None  # None: by the order of the file
    replicate: int
    text: str
    criteria: tuple[CriterionRecord, ...]
    grades: tuple[Grade, ...]
    case: CaseRecord | None
    key_field: str = "prompt_id"
    text_field: str = "completion"
    rubric_field: str = "rubrics"
    stored_score: float | None = None
    external_id: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    def weight(self) -> int:
        """About how many characters it holds."""
        explanation_size = sum(len(grade.explanation) for grade in self.grades)
        criteria = sum(len(criterion.text) for criterion in self.criteria)
        return (
            len(self.text)
            + explanation_size
            + criteria
            + size_of(self.metadata)
            + (self.case.weight() if self.case else 0)
        )

    def score(self) -> float | None:
        """The rubric score of the grades: points of what is met by the positive points; None where none are positive.

        An invalid grade counts against the candidate, as it does in the scores by default.
        """
        points = [criterion.points for criterion in self.criteria]
        best = sum(each for each in points if each > 0)
        if not best:
            return None
        reached = sum(
            each
            for each, grade in zip(points, self.grades, strict=True)
            if grade.outcome == Outcome.MET.word or (grade.outcome == Outcome.INVALID.word and each < 0)
        )
        return reached / best


def read_graded_responses(
    file: BinaryIO,
    faults: Faults,
    layout: Layout,
    *,
    candidate: str = "",
    replicate: int | None = None,
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[GradedResponse]:
    """The sound rows of ``file``; everything else is in ``faults`` when the iterator ends."""
    records = read_records(file, faults, layout.container, limits=limits, progress=progress)
    yield from graded_responses(records, faults, layout.shape, candidate=candidate, replicate=replicate)


def graded_responses(
    records: Iterable[tuple[int, str, dict[str, Any]]],
    faults: Faults,
    shape: Shape,
    *,
    candidate: str = "",
    replicate: int | None = None,
) -> Iterator[GradedResponse]:
    """The sound rows among ``records``: (line, place, object). ``replicate``: that of the file, where it is one."""
    read = _example if shape is Shape.EXAMPLES else _result_row
    for line, place, record in records:
        fields = Fields(line, record, faults, f"{place}." if place else "")
        row = read(fields, candidate, replicate)
        if row is not None and fields.sound:
            yield row


def grade_of(answer: dict[str, Any]) -> Grade:
    """The grade in ``{"criteria_met", "explanation"}``; nothing but a boolean is a verdict."""
    met, explanation = answer.get("criteria_met"), answer.get("explanation")
    text = explanation if isinstance(explanation, str) else ""
    if met is True or met is False:
        return Grade((Outcome.MET if met else Outcome.NOT_MET).word, text)
    return Grade(Outcome.INVALID.word, text or f"criteria_met: {json.dumps(met, ensure_ascii=False)[:500]}")


def candidate_of(fields: Fields, given: str) -> str:
    """Whose response a record is about: ``given``, or with none the name in the record."""
    name = fields.text(fields.name_of("candidate", "model"), required=False, longest=MAX_KEY_LENGTH)
    if not given and not name.strip():
        fields.fault("candidate", Phrase("The response has no candidate. Specify the candidate."))
    return given or name


def sample_of(fields: Fields) -> int | None:
    """The sample that a row names, None where it names none."""
    if fields.record.get("sample") is None:
        return None
    return fields.integer("sample", low=0, high=LARGEST_SAMPLE)


def _result_row(fields: Fields, candidate: str, replicate: int | None) -> GradedResponse | None:
    """Shape (b): the grades stand beside the rubric, in its order."""
    name = candidate_of(fields, candidate)
    sample, of_replicate = sample_of(fields), replicate_of(fields, replicate)
    conversation, text, text_field = _completion(fields)
    case = _case(fields, fields.take("rubrics"), conversation)
    grades = _grades(fields, case.criteria)
    if not fields.sound:
        return None
    return GradedResponse(
        line=fields.line,
        key=case.key,
        candidate=name,
        sample=sample,
        replicate=of_replicate,
        text=text,
        criteria=case.criteria,
        grades=grades,
        case=case if conversation else None,
        key_field=f"{fields.place}prompt_id",
        text_field=f"{fields.place}{text_field}",
        rubric_field=f"{fields.place}rubrics",
        stored_score=_stored_score(fields),
    )


def _example(fields: Fields, candidate: str, replicate: int | None) -> GradedResponse | None:
    """Shape (d): each criterion of ``rubric_items`` holds its own grade."""
    name = candidate_of(fields, candidate)
    sample, of_replicate = sample_of(fields), replicate_of(fields, replicate)
    instructions, conversation = _without_instructions(fields.take("prompt"))
    text = _reply(fields, "completion")
    items = fields.objects("rubric_items", what=Phrase("criterion"))
    names = ("criterion", "points", "tags")
    rubric = [{name: item.get(name) for name in names} if isinstance(item, dict) else item for item in items]
    renamed = (f"{fields.place}rubrics", f"{fields.place}rubric_items")
    case = _case(fields, rubric, conversation, renamed) if items else None
    external_id = fields.text("completion_id", required=False, longest=MAX_KEY_LENGTH)
    if case is None or not fields.sound:
        return None
    return GradedResponse(
        line=fields.line,
        key=case.key,
        candidate=name,
        sample=sample,
        replicate=of_replicate,
        text=text,
        criteria=case.criteria,
        grades=tuple(grade_of(item) for item in items),
        case=case if conversation else None,
        key_field=f"{fields.place}prompt_id",
        text_field=f"{fields.place}completion",
        rubric_field=f"{fields.place}rubric_items",
        stored_score=_stored_score(fields),
        external_id=external_id,
        metadata={"instructions": instructions} if instructions else {},
    )


def _stored_score(fields: Fields) -> float | None:
    value = fields.take("score")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _completion(fields: Fields) -> tuple[list[Any] | None, str, str]:
    """The conversation before the response, where the row has it, and the response with the name of its field."""
    prompt = _prompt(fields)
    turns = fields.take("prompt_response")
    if turns is None:
        return prompt, fields.text("completion"), "completion"
    if isinstance(turns, str):
        return prompt, turns, "prompt_response"
    last = turns[-1] if isinstance(turns, list) and turns else None
    if not isinstance(last, dict) or last.get("role") != "assistant" or not isinstance(last.get("content"), str):
        fields.fault("prompt_response", Phrase("This must be a list of turns that ends with the assistant’s reply."))
        return None, "", "prompt_response"
    before = turns[:-1]
    if prompt and before:
        _compare_conversations(fields, prompt, before)
    return prompt or before, str(last["content"]), f"prompt_response[{len(turns) - 1}].content"


def _prompt(fields: Fields) -> list[Any] | None:
    """The conversation in ``prompt``; a text is the user's one turn, an empty one none."""
    value = fields.take("prompt")
    if isinstance(value, str):
        return [{"role": "user", "content": value}] if value.strip() else None
    if value is None or isinstance(value, list):
        return value
    fields.fault("prompt", Phrase("This must be a list of turns."))
    return None


def _compare_conversations(fields: Fields, prompt: list[Any], before: list[Any]) -> None:
    """A fault at the first turn before the reply that differs from ``prompt``. Instructions are not compared.
    No fault if no other turn comes before the reply.
    """
    (_system, expected), (instructions, given) = _without_instructions(prompt), _without_instructions(before)
    if not given:
        return  # only instructions come before the reply
    for place, (turn, own) in enumerate(zip_longest(expected or [], given or [])):
        if _words_of(turn) != _words_of(own):
            index = len(instructions) + place
            name = f"prompt_response[{index}]" if own is not None else "prompt_response"
            fields.fault(name, Phrase("The text before the reply does not match the conversation in “prompt”."))
            return


def _words_of(turn: Any) -> Any:
    return (turn.get("role"), turn.get("content")) if isinstance(turn, dict) else turn


def _reply(fields: Fields, name: str) -> str:
    """A reply, as a text or as a list of one turn; it may be empty."""
    value = fields.take(name)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0].get("content")
    if not isinstance(value, str):
        message = Phrase("This must be a text, or a list of one turn with a text as its content.")
        fields.fault(name, Phrase("This field is missing.") if name not in fields.record else message)
        return ""
    return value


def _without_instructions(prompt: Any) -> tuple[list[Any], list[Any] | None]:
    """The messages before the conversation, and the conversation; None where the row has none."""
    if not isinstance(prompt, list):
        return [], None
    first = 0
    while first < len(prompt) and isinstance(prompt[first], dict) and prompt[first].get("role") in INSTRUCTIONS:
        first += 1
    return prompt[:first], prompt[first:]


def _case(
    fields: Fields, rubric: Any, conversation: list[Any] | None, renamed: tuple[str, str] | None = None
) -> CaseRecord:
    """The row's case, checked as a HealthBench example is; one without its prompt gets a stand-in that is not kept."""
    record = {
        "prompt_id": fields.take("prompt_id"),
        "prompt": conversation if conversation else [{"role": "user", "content": "-"}],
        "rubrics": rubric,
        "example_tags": fields.take("example_tags"),
    }
    if isinstance(fields.record.get("canary"), str):
        record["canary"] = fields.take("canary")
    inner = Fields(fields.line, record, PlacedFaults(fields.faults, renamed=renamed), fields.place)
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
        grades.append(grade_of(answer))
        fields.absorb(inner)
    return tuple(grades)
