"""JSON Schema (2020-12) of each file of lines, and of the files of acuity; `verify_release` reads the same."""

from __future__ import annotations

from typing import Any

from releases.content.acuity_files import ACUITY_SCHEMAS, schema_name
from releases.content.code_files import BOOK
from rubrics.codes.code import (
    MAX_CODE_KEY_LENGTH,
    MAX_CODE_TEXT_LENGTH,
    MAX_CODE_TITLE_LENGTH,
    NONE_OF_THESE,
    SEVERITIES,
    TEXTS,
    TITLES,
)
from rubrics.codes.reading import COLUMNS, REQUIRED

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string"}
_FILLED = {"type": "string", "minLength": 1}
_KEY = {"type": ["string", "integer"], "minLength": 1}
_TEXTS = {"type": "array", "items": _TEXT}
_TEXTS_OR_NULL = {"type": ["array", "null"], "items": _TEXT}
_POINTS = {"type": "number", "minimum": -10, "maximum": 10, "not": {"const": 0}}


def _object(properties: dict[str, Any], required: list[str], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, **more}


_TURN = _object({"role": _FILLED, "content": _TEXT}, ["role", "content"])
# ``traceability`` is ours if it is an object of texts; a field of that name in a source file may be anything.
_CRITERION = _object(
    {"criterion": _FILLED, "points": _POINTS, "tags": _TEXTS_OR_NULL, "traceability": {}}, ["criterion", "points"]
)
_COMPLETIONS = {
    "type": ["object", "null"],
    "properties": {
        "ideal_completion": {"type": ["string", "null"]},
        "ideal_completions_group": {"type": ["string", "null"]},
        "ideal_completions_ref_completions": _TEXTS_OR_NULL,
    },
}

HEALTHBENCH = {
    "$schema": _DIALECT,
    "title": "A case in HealthBench's form",
    **_object(
        {
            "example_tags": _TEXTS_OR_NULL,
            "ideal_completions_data": _COMPLETIONS,
            "prompt": {"type": "array", "items": _TURN, "minItems": 1},
            "prompt_id": _KEY,
            "rubrics": {"type": "array", "items": _CRITERION, "minItems": 1},
            "canary": {},
        },
        ["prompt", "prompt_id", "rubrics"],
    ),
}

_LABEL = {"type": ["string", "null"]}
PROFESSIONAL = {
    "$schema": _DIALECT,
    "title": "A case in the form of HealthBench Professional",
    **_object(
        {
            "id": _KEY,
            "conversation": _object({"messages": {"type": "array", "items": _TURN, "minItems": 1}}, ["messages"]),
            "rubric_items": {
                "type": "array",
                "minItems": 1,
                "items": _object({"criterion_text": _FILLED, "points": _POINTS}, ["criterion_text", "points"]),
            },
            "use_case": _LABEL,
            "type": _LABEL,
            "difficulty": _LABEL,
            "specialty": _LABEL,
            "physician_response": _LABEL,
            "canary_string": {},
        },
        ["id", "conversation", "rubric_items"],
    ),
}

CLINCONSENSUS = {
    "$schema": _DIALECT,
    "title": "A case in ClinConsensus' form",
    **_object(
        {
            "case_id": _KEY,
            "difficulty": {"enum": ["low", "medium", "high", ""]},
            "task": {"type": ["string", "null"]},
            "task_labels": _TEXTS_OR_NULL,
            "subject": {"type": ["string", "null"]},
            "subject_labels": _TEXTS_OR_NULL,
            "user_role": {"type": ["string", "null"]},
            "clinical_context": _TEXT,
            "user_request": _FILLED,
            "rubrics": {
                "type": "array",
                "minItems": 1,
                "items": {"anyOf": [_FILLED, {"type": "object", "minProperties": 1}]},
            },
            "reference_answer": _TEXT,
        },
        [
            *("case_id", "difficulty", "task", "task_labels", "subject", "subject_labels", "user_role"),
            *("clinical_context", "user_request", "rubrics"),
        ],
    ),
}

SPLIT = {
    "$schema": _DIALECT,
    "title": "A case and the part it is in",
    **_object({"case": _FILLED, "split": _FILLED}, ["case", "split"], additionalProperties=False),
}

RESPONSE = {
    "$schema": _DIALECT,
    "title": "A response of a candidate",
    **_object(
        {
            "case": _FILLED,
            "candidate": _FILLED,
            "sample": {"type": "integer", "minimum": 0},
            "response": _TEXT,
            "setting": _FILLED,
            "writing_mode": {"enum": ["unaided", "aided"]},
        },
        ["case", "candidate", "sample", "response"],
        additionalProperties=False,
    ),
}

_CODE_KEY = {**_FILLED, "maxLength": MAX_CODE_KEY_LENGTH, "not": {"const": NONE_OF_THESE}}
_CODE_TITLE = {**_TEXT, "maxLength": MAX_CODE_TITLE_LENGTH}
_CODE_TEXT = {**_TEXT, "maxLength": MAX_CODE_TEXT_LENGTH}
CODE = {
    "$schema": _DIALECT,
    "title": "A code of a code book",
    **_object(
        {
            **{name: {"type": "array", "items": _CODE_TEXT} for name in COLUMNS},
            **dict.fromkeys(TITLES, _CODE_TITLE),
            **dict.fromkeys(TEXTS, _CODE_TEXT),
            "key": _CODE_KEY,
            "title_en": {**_CODE_TITLE, "minLength": 1},
            "definition_en": {**_CODE_TEXT, "minLength": 1},
            "severity": {"enum": [*SEVERITIES]},
        },
        [*REQUIRED],
        additionalProperties=False,
    ),
}

SCHEMAS: dict[str, dict[str, Any]] = {
    "healthbench": HEALTHBENCH,
    "healthbench_professional": PROFESSIONAL,
    "clinconsensus": CLINCONSENSUS,
    "split": SPLIT,
    "response": RESPONSE,
    "code": CODE,
    **ACUITY_SCHEMAS,
}


def schema_of(path: str) -> str:
    """The name of the schema of a file; empty where it has none."""
    if path.startswith("splits/") and path.endswith(".jsonl"):
        return "split"
    if BOOK.fullmatch(path):
        return "code"
    forms = ("healthbench", "healthbench_professional", "clinconsensus")
    known = {f"cases/{form}.jsonl": form for form in forms}
    return {**known, "responses.jsonl": "response"}.get(path, "") or schema_name(path)
