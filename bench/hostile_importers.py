"""Every importer, with rows that it accepts; `hostile_files` makes hostile files of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast


@dataclass(frozen=True)
class Importer:
    """A kind of file: its rows (sound, and different for each number) and the paths of their values.

    With ``columns`` the file is a table, whose cells are texts. A path names a place in the row, such as ``("rubrics",
    0, "points")``.
    """

    name: str
    kind: str
    row: Callable[[int], dict[str, Any]]
    key: tuple[Any, ...]  # path of a value that must not occur twice
    text: tuple[Any, ...]  # path of a free text
    number: tuple[Any, ...]  # a number; an unknown field where there is none
    criteria: tuple[Any, ...] = ()  # path of a list that may not be empty
    texts: tuple[tuple[Any, ...], ...] = ()  # paths of all other texts
    options: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    once: bool = True  # an id may occur once; graded responses of a case are its samples, rows of a case its criteria
    strict: bool = False  # refuses unknown fields


def placed(row: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The row with ``value`` at ``path``."""
    copy = json.loads(json.dumps(row))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return cast("dict[str, Any]", copy)


def encoded(importer: Importer, row: dict[str, Any], end: str = "\n") -> bytes:
    """A row as a line; in a table without its header."""
    if not importer.columns:
        return (json.dumps(row, ensure_ascii=False) + end).encode("utf-8", "surrogatepass")
    buffer = io.StringIO()
    names = (*importer.columns, *_others(importer, row))
    csv.writer(buffer, lineterminator=end).writerow([row.get(name, "") for name in names])
    return buffer.getvalue().encode("utf-8", "surrogatepass")


def _others(importer: Importer, row: dict[str, Any]) -> list[str]:
    return [name for name in row if name not in importer.columns]


def header(importer: Importer, row: dict[str, Any] | None = None, end: str = "\n") -> bytes:
    """The first line of a table; nothing for JSONL."""
    return (",".join((*importer.columns, *_others(importer, row or {}))) + end).encode() if importer.columns else b""


def plain(importer: Importer, *rows: dict[str, Any], end: str = "\n") -> bytes:
    """Rows as a whole file."""
    return header(importer, rows[0], end) + b"".join(encoded(importer, row, end) for row in rows)


CONVERSATION = [{"role": "user", "content": "How long may a cough last?"}]


def _example(number: int) -> dict[str, Any]:
    return {
        "prompt_id": f"h-{number}",
        "prompt": CONVERSATION,
        "rubrics": [{"criterion": "Asks about smoking.", "points": 5, "tags": ["axis:accuracy"]}],
        "example_tags": ["theme:hedging"],
        "ideal_completions_data": None,
        "canary": "made up",
    }


def _professional(number: int) -> dict[str, Any]:
    return {
        "id": f"q{number}",
        "conversation": {"messages": [{"role": "user", "content": f"Case {number}: what next?"}]},
        "rubric_items": [{"criterion_text": "Asks since when.", "points": 5}],
        "use_case": "consult",
        "specialty": "cardiology",
        "physician_response": "See a doctor.",
    }


def _clinconsensus(number: int) -> dict[str, Any]:
    return {
        "case_id": f"cc-{number}", "difficulty": "low", "task": "t", "task_labels": ["t"], "subject": "s",
        "subject_labels": ["s"], "user_role": "u", "clinical_context": "Cough.", "user_request": "Why?",
        "rubrics": ["Asks about smoking."], "reference_answer": "It depends.",
    }  # fmt: skip


def _response(number: int) -> dict[str, Any]:
    return {"case": "base-0", "candidate": "other", "sample": number, "response": "Rest.", "external_id": f"x{number}"}


def _decision(number: int) -> dict[str, Any]:
    place, rater = number % 30, number // 30
    return {
        "case": "base-0", "candidate": "m", "sample": place % 10, "criterion": 1 + place // 10, "rater": f"r-{rater}",
        "outcome": "met", "note": "Seen.",
    }  # fmt: skip


def _verdict(number: int) -> dict[str, Any]:
    row = {**_decision(number % 30), "explanation": "Said so."}
    del row["rater"], row["note"]
    return row


def _graded(number: int) -> dict[str, Any]:
    return {
        "prompt_id": f"g-{number}",
        "prompt": CONVERSATION,
        "rubrics": [{"criterion": "Asks about smoking.", "points": 5, "tags": []}],
        "completion": "Rest.",
        "responses": [{"response_dict": {"explanation": "Said so.", "criteria_met": True}, "points": 5, "tags": []}],
    }


def _pair(number: int) -> dict[str, Any]:
    return {
        "prompt_id": f"e-{number}", "prompt": CONVERSATION, "completion_id": f"c-{number}", "completion": "Rest.",
        "rubric": "Is clear.", "category": "cluster:clear", "binary_labels": [True, False],
        "anonymized_physician_ids": ["D1", "D2"],
    }  # fmt: skip


def _bank(number: int) -> dict[str, Any]:
    return {"key": f"k-{number}", "section": "evidence", "text_en": "Names the drug.", "points": 5}


def _rubric_row(number: int) -> dict[str, Any]:
    return {
        "case": "base-1", "position": number + 1, "criterion": f"Names the drug {number}.", "points": 5, "tags": "x",
        "source": "", "element": "", "expectation": "", "bank": "",
    }  # fmt: skip


def _case_row(number: int) -> dict[str, Any]:
    return {
        "case": f"t-{number}", "question": "How long may a cough last?", "criterion": "Asks about smoking.",
        "points": 5, "tags": "axis:accuracy", "reference answer": "It depends.",
    }  # fmt: skip


def _set_line(number: int) -> dict[str, Any]:
    return {
        "case": f"base-{number}",
        "generated_rubrics": [{"criterion": "Asks about smoking.", "points": 5, "axis": "accuracy"}],
    }


def _set_row(number: int) -> dict[str, Any]:
    return {
        "case": "base-1", "position": number + 1, "criterion": f"Names the drug {number}.", "points": 5,
        "axis": "accuracy",
    }  # fmt: skip


def _result(number: int) -> dict[str, Any]:
    return {"case_id": f"a-{number}", "true_urgency": "em", "llm_output": "ne", "run_id": 1}


def _vignette(number: int) -> dict[str, Any]:
    return {"urgency_level": "em", "case_description": f"Cough for {number} days.", "correct_diagnosis": "Cold."}


def _reading(number: int) -> dict[str, Any]:
    return {
        "case": f"a-{number}", "candidate": "m", "format": "qa", "sample": 0, "level": "emergency", "confidence": 50,
        "reference": "emergency",
    }  # fmt: skip


READING_COLUMNS = ("case", "candidate", "format", "sample", "level", "confidence", "reference")
DECISION_COLUMNS = ("case", "candidate", "sample", "criterion", "rater", "outcome", "note")
BANK_COLUMNS = ("key", "section", "text_en", "points")
SET_COLUMNS = ("case", "position", "criterion", "points", "axis")
RUBRIC_COLUMNS = ("case", "position", "criterion", "points", "tags", "source", "element", "expectation", "bank")
CASE_COLUMNS = ("case", "question", "criterion", "points", "tags", "reference answer")
RESPONSE_COLUMNS = ("case", "candidate", "sample", "response", "external_id")


def _document(number: int) -> dict[str, Any]:
    return {
        "key": f"document-{number}", "title": f"Document {number}", "publisher": "Nobody", "tier": 1,
        "headings": ["Dose"], "text": f"Give {number} mg.",
    }  # fmt: skip


IMPORTERS = [
    Importer(
        "healthbench", "cases", _example, ("prompt_id",), ("prompt", 0, "content"), ("rubrics", 0, "points"),
        ("rubrics",), (("prompt_id",), ("rubrics", 0, "criterion"), ("rubrics", 0, "tags", 0), ("example_tags", 0)),
        options={"format": "healthbench"},
    ),
    Importer(
        "healthbench professional", "cases", _professional, ("id",), ("conversation", "messages", 0, "content"),
        ("rubric_items", 0, "points"), ("rubric_items",),
        (("id",), ("rubric_items", 0, "criterion_text"), ("use_case",), ("specialty",)),
        options={"format": "healthbench_professional"},
    ),
    Importer(
        "clinconsensus", "cases", _clinconsensus, ("case_id",), ("user_request",), ("weight",), ("rubrics",),
        (("case_id",), ("rubrics", 0), ("task_labels", 0), ("subject_labels", 0), ("reference_answer",)),
        options={"format": "clinconsensus"},
    ),
    Importer(
        "responses", "responses", _response, ("candidate",), ("response",), ("sample",), ("case",), (("candidate",),)
    ),
    Importer(
        "decisions", "decisions", _decision, ("rater",), ("note",), ("sample",), ("criterion",), (("rater",),),
        options={"group": "G"},
    ),
    Importer(
        "decisions (CSV)", "decisions", _decision, ("rater",), ("note",), ("sample",), ("criterion",), (("rater",),),
        options={"group": "G"}, columns=DECISION_COLUMNS,
    ),
    Importer(
        "verdicts", "verdicts", _verdict, (), ("explanation",), ("sample",), ("criterion",), (),
        options={"judge": "elsewhere"},
    ),
    Importer(
        "verdicts (graded)", "verdicts", _graded, ("prompt_id",), ("completion",), ("rubrics", 0, "points"),
        ("rubrics",), (("prompt_id",), ("rubrics", 0, "criterion")),
        options={"judge": "elsewhere", "candidate": "graded"}, once=False,
    ),
    Importer(
        "meta-evaluation", "meta_eval", _pair, ("prompt_id",), ("completion",), ("weight",), ("rubric",),
        (("rubric",), ("category",), ("anonymized_physician_ids", 0)), options={"group": "G"},
    ),
    Importer(
        "bank", "bank", _bank, ("key",), ("text_en",), ("points",), ("text_en",), (("section",),),
        options={"bank": "ours"}, strict=True,
    ),
    Importer(
        "bank (CSV)", "bank", _bank, ("key",), ("text_en",), ("points",), ("text_en",), (("section",),),
        options={"bank": "ours"}, columns=BANK_COLUMNS, strict=True,
    ),
    Importer(
        "rubrics (CSV)", "rubrics", _rubric_row, (), ("criterion",), ("points",), ("case",),
        (("tags",), ("source",), ("element",), ("expectation",)), columns=RUBRIC_COLUMNS, once=False,
    ),
    Importer(
        "cases (CSV)", "cases", _case_row, (), ("criterion",), ("points",), ("criterion",),
        (("question",), ("tags",), ("reference answer",)), columns=CASE_COLUMNS, once=False,
    ),
    Importer(
        "responses (CSV)", "responses", _response, (), ("response",), ("sample",), ("response",), (),
        columns=RESPONSE_COLUMNS,
    ),
    Importer(
        "rubric set", "rubric_set", _set_line, ("case",), ("generated_rubrics", 0, "criterion"),
        ("generated_rubrics", 0, "points"), ("generated_rubrics",), (), options={"name": "theirs"},
    ),
    Importer(
        "rubric set (CSV)", "rubric_set", _set_row, (), ("criterion",), ("points",), ("case",), (),
        options={"name": "theirs"}, columns=SET_COLUMNS, once=False,
    ),
    Importer(
        "acuity (results)", "acuity", _result, ("case_id",), ("llm_output",), ("run_id",), ("true_urgency",),
        (("case_id",),), options={"dataset": "d", "scheme": "em-ne-sc", "candidate": "m"},
    ),
    Importer(
        "acuity (vignettes)", "acuity", _vignette, (), ("case_description",), ("weight",), ("urgency_level",),
        (("correct_diagnosis",),), options={"dataset": "d", "scheme": "em-ne-sc"}, once=False,
    ),
    Importer(
        "acuity (CSV)", "acuity", _reading, ("case",), ("level",), ("sample",), ("case",), (("candidate",),),
        options={"dataset": "d"}, columns=READING_COLUMNS,
    ),
    Importer(
        "documents", "documents", _document, ("key",), ("text",), ("tier",), ("text",),
        (("title",), ("publisher",), ("headings", 0)),
        options={"collection": "Guidelines", "create_collection": "1", "format": "jsonl"}, once=False, strict=True,
    ),
]  # fmt: skip


def base() -> bytes:
    """Cases that the other importers refer to: two, with three criteria each."""
    rows = []
    for number in range(2):
        criteria = [{"criterion": f"Asks {n}.", "points": 5, "tags": []} for n in range(3)]
        rows.append({**_example(number), "prompt_id": f"base-{number}", "rubrics": criteria})
    return b"".join((json.dumps(row) + "\n").encode() for row in rows)


def base_responses() -> bytes:
    """Ten responses to the first case."""
    rows = [{"case": "base-0", "candidate": "m", "sample": n, "response": f"Rest {n}."} for n in range(10)]
    return b"".join((json.dumps(row) + "\n").encode() for row in rows)
