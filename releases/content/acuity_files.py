"""The files of acuity in a release: columns, JSON Schema of rows, cells. Writing, checking and importing share it.

A cell of a text column is `shielded`, so that `bare` gives the text back character by character. An empty cell of a
column of numbers is null to the schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.models import FIRST_ROUND, LAST_ROUND, AcuityRuling, LabelAnswer, ReferenceItem
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
OF_PHYSICIANS = (PHYSICIANS, VOTES, RULINGS)
# In every release with acuity; those of physicians' votes are there only where they were asked for.
ALWAYS = (SCALE, CASES, SCHEMES, DATASETS, IMPORTS, LABELS, FLOW, READINGS, SETS, REFERENCE)

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_FILLED: Schema = {"type": "string", "minLength": 1}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "integer", "minimum": 1}
_SHARE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_CERTAINTY: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 100}
_HOW: Schema = {"enum": [how.value for how in How]}
_ON_SCALE = {"scale": _FILLED, "scale_version": _NUMBER}
_BY_SCHEME = {**_ON_SCALE, "scheme": _FILLED, "version": _NUMBER}
_LEVELS = {"low": _TEXT, "high": _TEXT}
_ROUND: Schema = {"enum": [FIRST_ROUND, LAST_ROUND]}
# The first set that was signed when a vote had been handed in; null after all of them.
_FIRST_SET: Schema = {"type": ["integer", "null"], "minimum": 1}
_FROM = {"import": _NUMBER, "line": _COUNT}

# Columns of each table with the schema of a cell, in their order.
TABLES: Mapping[str, Mapping[str, Schema]] = {
    SCHEMES: {**_BY_SCHEME, "source_label": _FILLED, "how": _HOW, **_LEVELS},
    DATASETS: {"dataset": _FILLED, "licence": _TEXT, "may_redistribute": {"enum": ["true", "false"]}},
    IMPORTS: {
        "import": _NUMBER,
        "file": _TEXT,
        "digest": _FILLED,
        "shape": {"enum": [*SHAPES]},
        "dataset": _FILLED,
        **_BY_SCHEME,
        "candidate": _TEXT,
        "reading_format": {"enum": ["", *FORMATS]},
        "imported_at": _FILLED,
    },
    LABELS: {"case": _FILLED, "dataset": _FILLED, "source_id": _FILLED, "label": _TEXT, **_BY_SCHEME, "how": _HOW}
    | {**_LEVELS, **_FROM},
    FLOW: {"dataset": _FILLED, **_BY_SCHEME, "cases": _COUNT, **{how.value: _COUNT for how in How}},
    # The first six are those that `import_acuity` and `export_readings` know.
    READINGS: {
        "case": _FILLED,
        "candidate": _FILLED,
        "format": {"enum": [*FORMATS]},
        "sample": _COUNT,
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
        "case": _FILLED,
        "physician": _FILLED,
        "round": _ROUND,
        "level": _FILLED,
        "certainty": {"type": ["integer", "null"], "minimum": 0, "maximum": 100},
        "note": _TEXT,
        "reason": {"enum": ["", *LabelAnswer.Reason.values]},
        "question": _FILLED,
        "first_set": _FIRST_SET,
    },
    RULINGS: {
        "case": _FILLED,
        "question": _FILLED,
        "adjudicator": _FILLED,
        **_LEVELS,
        "reason": {"enum": [*AcuityRuling.Reason.values]},
        "note": _TEXT,
        "first_set": _FIRST_SET,
    },
    PHYSICIANS: {"physician": _FILLED, "group": _FILLED},
    SETS: {
        "set": _NUMBER,
        **_ON_SCALE,
        "datasets": _TEXT,
        "ambiguous_rule": _FILLED,
        "ambiguous_threshold": {"type": "number", "minimum": 0},
        "minimum_votes": _NUMBER,
        "round": _ROUND,
        "signed_by": _TEXT,
        "signed_at": _FILLED,
        "digest": _FILLED,
        "note": _TEXT,
        "imported_from": _TEXT,
    },
    REFERENCE: {
        "set": _NUMBER,
        "case": _FILLED,
        "status": {"enum": [*ReferenceItem.Status.values]},
        "source": {"enum": [*ReferenceItem.Source.values]},
        **_LEVELS,
        "m": _COUNT,
        "n_cannot_tell": _COUNT,
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
        "name": _FILLED,
        **_ON_SCALE,
        "text": _TEXT,
        "minimum_answers": _NUMBER,
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
                _object({"name": _FILLED, "version": _NUMBER, "levels": _list(_LEVEL, minItems=2)},
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
            "case": _FILLED,
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
