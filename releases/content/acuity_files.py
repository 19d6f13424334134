"""The files of acuity in a release: columns, JSON Schema of rows, cells. Writing, checking and importing share it.

A cell of a text column is `shielded`, so that `bare` gives the text back character by character. An empty cell of a
column of numbers is null to the schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.models import FIRST_ROUND, LAST_ROUND, AcuityRuling, LabelAnswer, ReferenceItem
from consilium.core.limits import (
    MAX_DATASET_LENGTH,
    MAX_GROUP_NAME_LENGTH,
    MAX_KEY_LENGTH,
    MAX_LICENCE_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_PERSON_NAME_LENGTH,
    MAX_QUESTION_NAME_LENGTH,
    MAX_RELEASE_NAME_LENGTH,
    MAX_SCALE_NAME_LENGTH,
)
from rubrics.acuity.schemes import How
from rubrics.parsing.acuity_files import FORMATS, SHAPES
from rubrics.tables.columns import bare, shielded
from scoring.models import AcuityReading

FOLDER = "acuity/"
SCALE, CASES = f"{FOLDER}scale.json", f"{FOLDER}cases.jsonl"
SCHEMES, DATASETS, IMPORTS = f"{FOLDER}schemes.csv", f"{FOLDER}datasets.csv", f"{FOLDER}imports.csv"
LABELS, FLOW, READINGS = f"{FOLDER}source_labels.csv", f"{FOLDER}flow.csv", f"{FOLDER}readings.csv"
SETS, REFERENCE = f"{FOLDER}sets.csv", f"{FOLDER}reference.csv"
VOTES, RULINGS, PHYSICIANS = f"{FOLDER}votes.csv", f"{FOLDER}rulings.csv", f"{FOLDER}physicians.csv"
FLAGS = {True: "true", False: "false", None: ""}
OF_PHYSICIANS = (PHYSICIANS, VOTES, RULINGS)
# In every release with acuity; those of physicians' votes are there only where they were asked for.
ALWAYS = (SCALE, CASES, SCHEMES, DATASETS, IMPORTS, LABELS, FLOW, READINGS, SETS, REFERENCE)

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
        **_FROM,
        "text": _TEXT,
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


def _row_schema(path: str) -> Schema:
    return {
        "$schema": _DIALECT,
        "title": f"A row of {path}; cells of numbers as numbers, null where they are empty",
        **_object(TABLES[path], additionalProperties=False),
    }


def schema_name(path: str) -> str:
    """The name of a file's schema; empty where the file is none of these."""
    if path not in (SCALE, CASES, *TABLES):
        return ""
    return f"acuity_{path.removeprefix(FOLDER).rpartition('.')[0]}"


ACUITY_SCHEMAS: dict[str, Schema] = {
    schema_name(SCALE): SCALE_SCHEMA,
    schema_name(CASES): CASE_SCHEMA,
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
        value if is_number(schema) or value is None else shielded(str(value))
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
