"""Physicians' and judges' labels in files: HealthBench's meta-evaluation rows. Pure: a file in, arrays out, no
database.

A label row (JSONL) is `{"item_id", "binary_labels": [bool...], "anonymized_physician_ids": [str...], "category",
"prompt_id", "completion_id"}`; rows of the published file have the texts (`prompt`, `completion`, `rubric`) and no
`item_id`, and are then known by prompt, completion, category and rubric. A judge row is `{"item_id", "criteria_met":
bool}`, or the same four fields in place of `item_id`. Anything that is not exactly so is refused, with its line and
field, up to 50 faults.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from consilium.core.errors import ImportRefused, LineError

MAXIMUM_ERRORS = 50
MAXIMUM_LINE_BYTES = 16 * 1024 * 1024
ItemKey = tuple[str, ...]
PARTS_OF_KEY = ("prompt_id", "completion_id", "category", "rubric")


class Refusal(Exception):
    """One fault of one row."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


@dataclass(frozen=True, eq=False)
class LabelFile:
    """One entry per label in `item`, `physician` and `met`; one per item in the others. Names are sorted, so that the
    order of the rows in the file changes nothing. `case` numbers the prompts (an item without one is its own case).
    """

    item: NDArray[np.int64]
    physician: NDArray[np.int64]
    met: NDArray[np.bool_]
    keys: list[ItemKey]
    physicians: list[str]
    categories: list[str]
    category: NDArray[np.int64]
    case: NDArray[np.int64]
    response: NDArray[np.int64]
    n_cases: int


@dataclass(frozen=True, eq=False)
class JudgeFile:
    """`verdict` per item of the label file: 1 met, 0 not met, -1 where the judge file has none. `n_elsewhere` of its
    rows are about items that the label file does not have.
    """

    verdict: NDArray[np.int64]
    n_elsewhere: int

    @property
    def n_lacking(self) -> int:
        """How many items of the label file have no verdict."""
        return int((self.verdict < 0).sum())


def read_labels(path: Path) -> LabelFile:
    """Read a label file whole, or raise `ImportRefused` with every fault (up to 50)."""
    rows = list(_read(path, _label_row).values())
    rows.sort(key=lambda row: row.key)
    physicians = sorted({name for row in rows for name in row.physicians})
    categories = sorted({row.category for row in rows})
    number_of = {name: number for number, name in enumerate(physicians)}
    place_of = {name: number for number, name in enumerate(categories)}
    cases = _numbered([row.case for row in rows])
    return LabelFile(
        item=np.repeat(np.arange(len(rows)), [len(row.labels) for row in rows]),
        physician=np.array([number_of[name] for row in rows for name in row.physicians], dtype=np.int64),
        met=np.array([label for row in rows for label in row.labels], dtype=bool),
        keys=[row.key for row in rows],
        physicians=physicians,
        categories=categories,
        category=np.array([place_of[row.category] for row in rows], dtype=np.int64),
        case=cases,
        response=_numbered([row.response for row in rows]),
        n_cases=int(cases.max()) + 1 if rows else 0,
    )


def read_judge(path: Path, labels: LabelFile) -> JudgeFile:
    """Read a judge's verdicts on the items of `labels`, or raise `ImportRefused`.

    Items that it does not judge stay -1. A file that has no item in common with the labels is refused.
    """
    verdicts = _read(path, _judge_row)
    verdict = np.array([int(verdicts[key].met) if key in verdicts else -1 for key in labels.keys], dtype=np.int64)
    n_judged = int((verdict >= 0).sum())
    if not n_judged:
        raise ImportRefused([LineError(0, "item_id", "no item of this file is in the label file")])
    return JudgeFile(verdict, len(verdicts) - n_judged)


@dataclass(frozen=True)
class _LabelRow:
    key: ItemKey
    labels: list[bool]
    physicians: list[str]
    category: str
    case: ItemKey
    response: ItemKey


@dataclass(frozen=True)
class _JudgeRow:
    key: ItemKey
    met: bool


Row = TypeVar("Row", _LabelRow, _JudgeRow)


def _label_row(row: dict[str, Any]) -> _LabelRow:
    labels, physicians = row.get("binary_labels"), row.get("anonymized_physician_ids")
    if not isinstance(labels, list) or not labels or not all(isinstance(label, bool) for label in labels):
        raise Refusal("binary_labels", "must be a list of true and false with at least one entry")
    if not isinstance(physicians, list) or len(physicians) != len(labels):
        raise Refusal("anonymized_physician_ids", "must be a list with one physician for each label")
    names = [_text("anonymized_physician_ids", name) for name in physicians]
    if len(set(names)) != len(names):
        raise Refusal("anonymized_physician_ids", "names the same physician twice")
    key = _key(row)
    prompt = _optional_text(row, "prompt_id")
    completion = _optional_text(row, "completion_id")
    case = ("prompt", prompt) if prompt is not None else ("item", *key)
    response = (*case, "completion", completion) if completion is not None else ("item", *key)
    return _LabelRow(key, labels, names, _text("category", row.get("category")), case, response)


def _judge_row(row: dict[str, Any]) -> _JudgeRow:
    met = row.get("criteria_met")
    if not isinstance(met, bool):
        raise Refusal("criteria_met", "must be true or false")
    return _JudgeRow(_key(row), met)


def _key(row: dict[str, Any]) -> ItemKey:
    if "item_id" in row:
        return ("item", _text("item_id", row["item_id"]))
    if "prompt_id" not in row or "completion_id" not in row:
        raise Refusal("item_id", "is missing, and there are no prompt_id and completion_id in its place")
    return ("parts", *(_optional_text(row, name) or "" for name in PARTS_OF_KEY))


def _optional_text(row: dict[str, Any], name: str) -> str | None:
    return None if row.get(name) is None else _text(name, row[name])


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Refusal(name, "must be a text that is not empty")
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Refusal(name, "contains a NUL or half of a surrogate pair")
    return value


def _numbered(names: list[ItemKey]) -> NDArray[np.int64]:
    order = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([order[name] for name in names], dtype=np.int64)


def _read(path: Path, parse: Callable[[dict[str, Any]], Row]) -> dict[ItemKey, Row]:
    rows: dict[ItemKey, Row] = {}
    first_line: dict[ItemKey, int] = {}
    errors: list[LineError] = []
    total = 0
    for line, raw in _lines(path):
        try:
            row = parse(_object(raw, line))
            if row.key in rows:
                raise Refusal("item_id", f"the same item as line {first_line[row.key]}")
        except Refusal as refusal:
            total += 1
            if len(errors) < MAXIMUM_ERRORS:
                errors.append(LineError(line, refusal.field, refusal.message))
        else:
            rows[row.key], first_line[row.key] = row, line
    if errors:
        raise ImportRefused(errors, total)
    if not rows:
        raise ImportRefused([LineError(0, "", "has no rows")])
    return rows


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    r"""Lines with their numbers, split on \n only and never held longer than the cap; blank ones are passed over."""
    with path.open("rb") as file:
        line = 0
        while raw := file.readline(MAXIMUM_LINE_BYTES + 1):
            line += 1
            whole = raw
            while len(raw) > MAXIMUM_LINE_BYTES and not raw.endswith(b"\n"):
                raw = file.readline(MAXIMUM_LINE_BYTES + 1)
            if whole.strip():
                yield line, whole


def _object(raw: bytes, line: int) -> dict[str, Any]:
    if len(raw) > MAXIMUM_LINE_BYTES:
        raise Refusal("", f"is longer than {MAXIMUM_LINE_BYTES // 1024 // 1024} MB")
    try:
        text = raw.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError:
        raise Refusal("", "is not UTF-8") from None
    try:
        row = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise Refusal("", "is nested too deeply") from None
    except ValueError as error:
        raise Refusal("", f"is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise Refusal("", "must be an object")
    return row


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refusal(twice, "is given twice")
    return row


def _no_constant(name: str) -> float:
    raise Refusal("", f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Refusal("", f"{text[:20]} is too large a number")
    return number
