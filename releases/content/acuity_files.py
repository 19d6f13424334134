"""The files of acuity in a release: columns, JSON Schema of rows, cells. Writing, checking and importing share it.

A cell of a text column is `inert`, so that `bare` gives the text back character by character. An empty cell of a
column of numbers is null to the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.models import FIRST_ROUND, LAST_ROUND, AcuityRuling, LabelAnswer, ReferenceItem
from consilium.core.csvfile import bare, inert
from consilium.core.limits import (
    MAX_DATASET_LENGTH,
    MAX_GROUP_NAME_LENGTH,
    MAX_JUDGE_NAME_LENGTH,
    MAX_KEY_LENGTH,
    MAX_LICENCE_LENGTH,
    MAX_MODEL_NAME_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_QUESTION_NAME_LENGTH,
    MAX_RELEASE_NAME_LENGTH,
    MAX_SCALE_NAME_LENGTH,
)
from rubrics.acuity.schemes import How
from rubrics.models import Response
from rubrics.parsing.acuity_files import FORMATS, SHAPES
from scoring.models import AcuityReading, EndpointKind, PipelineRun
from scoring.models.classification import CLASSIFY

FOLDER = "acuity/"
SCALE, CASES = f"{FOLDER}scale.json", f"{FOLDER}cases.jsonl"
SCHEMES, DATASETS, IMPORTS = f"{FOLDER}schemes.csv", f"{FOLDER}datasets.csv", f"{FOLDER}imports.csv"
LABELS, FLOW, READINGS = f"{FOLDER}source_labels.csv", f"{FOLDER}flow.csv", f"{FOLDER}readings.csv"
SETS, REFERENCE = f"{FOLDER}sets.csv", f"{FOLDER}reference.csv"
VOTES, RULINGS, PHYSICIANS = f"{FOLDER}votes.csv", f"{FOLDER}rulings.csv", f"{FOLDER}physicians.csv"
RUNS, RESPONSES, PROMPTS = f"{FOLDER}runs.csv", f"{FOLDER}responses.jsonl", f"{FOLDER}prompts/"
ADVICE, ADVICE_BATCHES = f"{FOLDER}advice.csv", f"{FOLDER}advice_batches.csv"
FLAGS = {True: "true", False: "false", None: ""}
OF_PHYSICIANS = (PHYSICIANS, VOTES, RULINGS)
# What physicians read in responses stands beside their votes and the responses.
OF_READERS = (RESPONSES, ADVICE, ADVICE_BATCHES)
# In every release with acuity; those of physicians' votes and of responses only where they were asked for.
ALWAYS = (SCALE, CASES, SCHEMES, DATASETS, IMPORTS, LABELS, FLOW, RUNS, READINGS, SETS, REFERENCE)

# Kinds of runs: forced choices, a judge's readings of responses, and those of changed responses.
JUDGED, EDITED = "acuity", "acuity-edited"
KINDS = (CLASSIFY, JUDGED, EDITED)
ENDED = tuple(status for status in PipelineRun.Status.values if status not in PipelineRun.LIVE)
# Where the readings of a run of each kind come from.
SOURCES = {
    CLASSIFY: (AcuityReading.Source.PARSED.value, AcuityReading.Source.LOGPROBS.value),
    JUDGED: (AcuityReading.Source.JUDGE.value,),
    EDITED: (AcuityReading.Source.EDITED.value,),
}

Schema = dict[str, Any]
_MAX_COUNT = 2**31 - 1  # that the database stores
_MAX_SAMPLE = _MAX_VOTES = 2**15 - 1
_TEXT: Schema = {"type": "string"}
_FILLED: Schema = {"type": "string", "minLength": 1}
_KEY: Schema = {**_FILLED, "maxLength": MAX_KEY_LENGTH}
_DATASET: Schema = {**_FILLED, "maxLength": MAX_DATASET_LENGTH}
_NAME: Schema = {**_FILLED, "maxLength": MAX_SCALE_NAME_LENGTH}
_QUESTION_NAME: Schema = {**_FILLED, "maxLength": MAX_QUESTION_NAME_LENGTH}
_NOTE: Schema = {**_TEXT, "maxLength": MAX_NOTE_LENGTH}
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": _MAX_COUNT}
_NUMBER: Schema = {"type": "integer", "minimum": 1, "maximum": _MAX_COUNT}
_SHARE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_CERTAINTY: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 100}
_HOW: Schema = {"enum": [how.value for how in How]}
_ON_SCALE = {"scale": _NAME, "scale_version": _NUMBER}
_BY_SCHEME = {**_ON_SCALE, "scheme": _NAME, "version": _NUMBER}
_LEVELS = {"low": _TEXT, "high": _TEXT}
_ROUND: Schema = {"enum": [FIRST_ROUND, LAST_ROUND]}
# The first set that was signed when a vote had been handed in; null after all of them.
_FIRST_SET: Schema = {"type": ["integer", "null"], "minimum": 1, "maximum": _MAX_COUNT}
_PSEUDONYM: Schema = {**_FILLED, "maxLength": MAX_KEY_LENGTH}
# Whether the data call the case ambiguous; empty where they do not say.
_FLAG: Schema = {"enum": [*FLAGS.values()]}
_FROM = {"import": _NUMBER, "line": _COUNT}
# The id of a run where it was made.
_RUN: Schema = {**_TEXT, "maxLength": 16}
_MAYBE_COUNT: Schema = {**_COUNT, "type": ["integer", "null"]}
_DIGEST: Schema = {**_TEXT, "maxLength": 64}

# Columns of each table with the schema of a cell, in their order.
TABLES: Mapping[str, Mapping[str, Schema]] = {
    SCHEMES: {**_BY_SCHEME, "source_label": _KEY, "how": _HOW, **_LEVELS},
    DATASETS: {
        "dataset": _DATASET,
        "licence": {**_TEXT, "maxLength": MAX_LICENCE_LENGTH},
        "may_redistribute": {"enum": ["true", "false"]},
    },
    IMPORTS: {
        "import": _NUMBER,
        "file": {**_TEXT, "maxLength": 255},
        "digest": {**_FILLED, "maxLength": 64},
        "shape": {"enum": [*SHAPES]},
        "dataset": _DATASET,
        **_BY_SCHEME,
        "candidate": _TEXT,
        "reading_format": {"enum": ["", *FORMATS]},
        "imported_at": _FILLED,
    },
    LABELS: {
        "case": _KEY,
        "dataset": _DATASET,
        "source_id": _KEY,
        "label": {**_TEXT, "maxLength": MAX_KEY_LENGTH},
        **_BY_SCHEME,
        "how": _HOW,
    }
    | {**_LEVELS, **_FROM, "ambiguous": _FLAG},
    FLOW: {"dataset": _DATASET, **_BY_SCHEME, "cases": _COUNT, **{how.value: _COUNT for how in How}},
    # The first six are those that `import_acuity` and `export_readings` know.
    READINGS: {
        "case": _KEY,
        "candidate": _KEY,
        "format": {"enum": [*FORMATS]},
        "sample": {**_COUNT, "maximum": _MAX_SAMPLE},
        "level": _TEXT,
        "confidence": _SHARE,
        "state": {"enum": [*AcuityReading.State.values]},
        **_ON_SCALE,
        "source": {"enum": [*AcuityReading.Source.values]},
        # Of a file: the file and the line. Of a run: the run, and all that follows the text.
        "import": {**_NUMBER, "type": ["integer", "null"]},
        "line": _MAYBE_COUNT,
        "text": _TEXT,
        "run": _RUN,
        "replicate": {**_MAYBE_COUNT, "maximum": _MAX_SAMPLE},
        "descending": _FLAG,
        "distribution": _TEXT,
        "escalation": _TEXT,
        "condition": _TEXT,
        "quote": _TEXT,
        "quote_start": _MAYBE_COUNT,
        "quote_end": _MAYBE_COUNT,
        "explanation": _TEXT,
    },
    RUNS: {
        "run": {**_RUN, "minLength": 1},
        "kind": {"enum": [*KINDS]},
        "candidate": {**_TEXT, "maxLength": MAX_KEY_LENGTH},
        "judge": {**_TEXT, "maxLength": MAX_JUDGE_NAME_LENGTH},
        "judge_version": {**_NUMBER, "type": ["integer", "null"]},
        **_ON_SCALE,
        "status": {"enum": [*ENDED]},
        # Of each case; of a judge the replicates of each response.
        "samples": {**_NUMBER, "maximum": _MAX_SAMPLE},
        "model": {**_TEXT, "maxLength": MAX_MODEL_NAME_LENGTH},
        "settings": _FILLED,
        "prompt": _DIGEST,
        "prompt_hash": _DIGEST,
        "suite": _DIGEST,
        "created_at": _FILLED,
        "finished_at": _TEXT,
        "imported_from": {**_TEXT, "maxLength": MAX_RELEASE_NAME_LENGTH},
        # What answered, a language model or rules; of a judge empty where no rules did.
        "endpoint_kind": {"enum": ["", *EndpointKind.values]},
    },
    ADVICE: {
        "batch": _NUMBER,
        "case": _KEY,
        "candidate": _KEY,
        "sample": {**_COUNT, "maximum": _MAX_SAMPLE},
        "physician": _PSEUDONYM,
        "level": _FILLED,
        "escalation": _TEXT,
        "evidence": _TEXT,
        "note": _NOTE,
    },
    ADVICE_BATCHES: {
        "batch": _NUMBER,
        "group": {**_FILLED, "maxLength": MAX_GROUP_NAME_LENGTH},
        "run": _RUN,
        **_ON_SCALE,
        "readers": {**_NUMBER, "maximum": _MAX_VOTES},
        "strata": _FILLED,
    },
    # The first six are those that `import_votes` reads.
    VOTES: {
        "case": _KEY,
        "physician": _PSEUDONYM,
        "round": _ROUND,
        "level": _FILLED,
        "certainty": {"type": ["integer", "null"], "minimum": 0, "maximum": 100},
        "note": _NOTE,
        "reason": {"enum": ["", *LabelAnswer.Reason.values]},
        "question": _QUESTION_NAME,
        "first_set": _FIRST_SET,
    },
    RULINGS: {
        "case": _KEY,
        "question": _QUESTION_NAME,
        "adjudicator": _PSEUDONYM,
        **_LEVELS,
        "reason": {"enum": [*AcuityRuling.Reason.values]},
        "note": _NOTE,
        "first_set": _FIRST_SET,
    },
    PHYSICIANS: {"physician": _PSEUDONYM, "group": {**_FILLED, "maxLength": MAX_GROUP_NAME_LENGTH}},
    SETS: {
        "set": _NUMBER,
        **_ON_SCALE,
        "datasets": _TEXT,
        "ambiguous_rule": _FILLED,
        "ambiguous_threshold": {"type": "number", "minimum": 0},
        "minimum_votes": {**_NUMBER, "maximum": _MAX_VOTES},
        "round": _ROUND,
        "signed_by": {**_TEXT, "maxLength": MAX_PERSON_NAME_LENGTH},
        "signed_at": _FILLED,
        "digest": {**_FILLED, "maxLength": 64},
        "note": _NOTE,
        "imported_from": {**_TEXT, "maxLength": MAX_RELEASE_NAME_LENGTH},
    },
    REFERENCE: {
        "set": _NUMBER,
        "case": _KEY,
        "status": {"enum": [*ReferenceItem.Status.values]},
        "source": {"enum": [*ReferenceItem.Source.values]},
        **_LEVELS,
        "m": _COUNT,
        "n_cannot_tell": {**_COUNT, "maximum": _MAX_VOTES},
        "certainty": _CERTAINTY,
        "votes": _TEXT,
        "later_votes": _TEXT,
        "dispersion": {"type": ["number", "null"], "minimum": 0},
        "entropy": _SHARE,
        "q": _TEXT,
    },
}

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _object(properties: Mapping[str, Schema], required: Sequence[str] = (), **more: Any) -> Schema:
    return {"type": "object", "properties": dict(properties), "required": [*(required or properties)], **more}


def _list(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


_LEVEL = _object(
    dict.fromkeys(("value", "label_en", "label_zh", "definition_en", "definition_zh"), _TEXT),
    additionalProperties=False,
)
_QUESTION = _object(
    {
        "name": _QUESTION_NAME,
        **_ON_SCALE,
        "text": _TEXT,
        "minimum_answers": {**_NUMBER, "maximum": _MAX_VOTES},
        "threshold": {"type": "number", "minimum": 0.5, "maximum": 1},
    },
    additionalProperties=False,
)
SCALE_SCHEMA: Schema = {
    "$schema": _DIALECT,
    "title": "Scales of acuity, the least urgent level first, and the questions that physicians voted on",
    **_object(
        {
            "scales": _list(
                _object({"name": _NAME, "version": _NUMBER, "levels": _list(_LEVEL, minItems=2)},
                        additionalProperties=False)
            ),
            "questions": _list(_QUESTION),
        },
        additionalProperties=False,
    ),
}  # fmt: skip
CASE_SCHEMA: Schema = {
    "$schema": _DIALECT,
    "title": "A case with labels, readings, votes or a reference",
    **_object(
        {
            "case": _KEY,
            # Where the case came from, empty where it came from elsewhere than a file about acuity.
            "dataset": _TEXT,
            # SHA-256 of its text, of several turns with a blank line between two; empty without a text.
            "digest": _TEXT,
            # With its rubric in cases/.
            "released": {"enum": ["true", "false"]},
            # Why it counts nowhere; empty where it counts.
            "excluded": _TEXT,
            # Sets that were signed while it was excluded, though it had votes or labels.
            "not_in_sets": _list(_NUMBER),
            "prompt": _list(_object({"role": _FILLED, "content": _TEXT}), minItems=1),
        },
        ["case", "dataset", "digest", "released", "excluded", "not_in_sets"],
        additionalProperties=False,
    ),
}


RESPONSE_SCHEMA: Schema = {
    "$schema": _DIALECT,
    "title": "A response as to a patient that a judge or a physician read",
    **_object(
        {
            "case": _KEY,
            "candidate": _KEY,
            "sample": {**_COUNT, "maximum": _MAX_SAMPLE},
            "response": _TEXT,
            "writing_mode": {"enum": [*Response.WritingMode.values]},
        },
        ["case", "candidate", "sample", "response"],
        additionalProperties=False,
    ),
}
PROMPT_SCHEMA: Schema = {
    "$schema": _DIALECT,
    "title": "What all requests of a run share; the digest is the SHA-256 of the three texts",
    **_object(
        {
            "digest": _FILLED,
            "asks": {"enum": ["candidate", "judge"]},
            "system": _FILLED,
            # The most urgent level first; empty where no order is drawn.
            "system_descending": _TEXT,
            "user": _FILLED,
        },
        additionalProperties=False,
    ),
}
_SHARE_OR_NULL: Schema = {"type": ["number", "null"]}
# Cells that hold JSON: settings of a run, and the strata that a batch was drawn from.
SETTINGS_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "ask": {"enum": ["letter", "schema", "reasons"]},
        "confidence": {"type": "boolean"},
        "logprobs": {"type": "boolean"},
        "temperature": _SHARE_OR_NULL,
        "top_p": _SHARE_OR_NULL,
        "max_tokens": {"type": "integer", "minimum": 1},
        "seed": {"type": ["integer", "null"]},
        "order_seed": {"type": "integer"},
        "response_format": _TEXT,
    },
    "additionalProperties": False,
}
STRATA_SCHEMA: Schema = _list(
    _object(
        {"level": _FILLED, "candidate": _KEY, "responses": _NUMBER, "drawn": _COUNT},
        additionalProperties=False,
    )
)


def _row_schema(path: str) -> Schema:
    return {
        "$schema": _DIALECT,
        "title": f"A row of {path}; cells of numbers as numbers, null where they are empty",
        **_object(TABLES[path], additionalProperties=False),
    }


def schema_name(path: str) -> str:
    """The name of a file's schema; empty where the file is none of these."""
    if path.startswith(PROMPTS):
        return "acuity_prompt"
    if path not in (SCALE, CASES, RESPONSES, *TABLES):
        return ""
    return f"acuity_{path.removeprefix(FOLDER).rpartition('.')[0]}"


ACUITY_SCHEMAS: dict[str, Schema] = {
    schema_name(SCALE): SCALE_SCHEMA,
    schema_name(CASES): CASE_SCHEMA,
    schema_name(RESPONSES): RESPONSE_SCHEMA,
    schema_name(PROMPTS): PROMPT_SCHEMA,
    **{schema_name(path): _row_schema(path) for path in TABLES},
}

# Cells ----------------------------------------------------------------------------------------------------------------


def is_number(schema: Schema) -> bool:
    """Whether cells of a column are numbers."""
    kinds = schema.get("type", "")
    return bool({"integer", "number"} & {*([kinds] if isinstance(kinds, str) else kinds)}) or any(
        isinstance(value, int) for value in schema.get("enum", ())
    )


def row_of(path: str, values: Iterable[Any]) -> list[Any]:
    """The cells of a row as `stream_csv` takes them."""
    return [
        value if is_number(schema) or value is None else inert(str(value))
        for schema, value in zip(TABLES[path].values(), values, strict=True)
    ]


def value_of(schema: Schema, cell: str) -> Any:
    """A cell as its schema sees it; a cell of numbers that is none stays text."""
    if not is_number(schema):
        return bare(cell)
    if not cell:
        return None
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        return float(cell)
    except ValueError:
        return cell


def numbers(values: Iterable[int | float]) -> str:
    """Numbers in one cell, each in its shortest exact form."""
    return " ".join(repr(value) for value in values)


def spans(passages: Iterable[tuple[int, int]]) -> str:
    """Passages of a text in one cell, each from its first character to behind its last."""
    return " ".join(f"{start}-{end}" for start, end in passages)


def json_cell(value: Any) -> str:
    """A value as a cell."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def prompt_path(digest: str) -> str:
    """The file of a prompt."""
    return f"{PROMPTS}{digest[:16]}.json"
