"""Holds the files of cases against each other: every form and the table of criteria say the same of a case."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import Any, BinaryIO, cast

from releases.content import clinconsensus, healthbench
from releases.content.healthbench_professional import PATH as PROFESSIONAL
from releases.content.tables import RUBRIC_COLUMNS
from releases.verification.csv_rows import Row, WrongColumns, table_rows
from releases.verification.sources import Source, Unreadable
from rubrics.parsing import as_imported
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import RecordReader
from rubrics.tables.columns import CASE, joined

HEALTHBENCH, CLINCONSENSUS, RUBRICS = "cases/healthbench.jsonl", "cases/clinconsensus.jsonl", "rubrics.csv"
Record = dict[str, Any]
# Fields of a professional case that have another name, another form or no place in HealthBench's.
_PROFESSIONAL_OWN = {
    *("id", "conversation", "rubric_items", "physician_response"),
    *as_imported.PROFESSIONAL_LABELS,
}
_HEALTHBENCH_OWN = {*healthbench.KEYS, *as_imported.PROFESSIONAL_LABELS}


def check_cases(source: Source) -> Iterator[str]:
    """Where the files of cases differ from each other, a problem for each case."""
    names = set(source.names())
    if not {HEALTHBENCH, RUBRICS} <= names:
        return  # named as missing elsewhere
    try:
        yield from _check(source, names)
    except (Unreadable, csv.Error, UnicodeDecodeError, WrongColumns) as error:
        yield str(error)


def _check(source: Source, names: set[str]) -> Iterator[str]:
    """All files have the cases in one order, so one pass over them is enough."""
    professional = _OtherForm(source, PROFESSIONAL, "id", is_there=PROFESSIONAL in names)
    flat = _OtherForm(source, CLINCONSENSUS, "case_id", is_there=CLINCONSENSUS in names)
    groups = groupby(table_rows(source, RUBRICS, RUBRIC_COLUMNS), key=itemgetter(CASE))
    for numbered, group in zip_longest(_records(source, HEALTHBENCH), groups):
        number, record = numbered or (0, {})
        key, rows = (group[0], list(group[1])) if group else ("", [])
        if numbered is None or group is None or str(record.get("prompt_id")) != key:
            place = f"{HEALTHBENCH}, line {number}" if numbered else HEALTHBENCH
            yield f"{place}: its cases are not those of {RUBRICS}, in their order"
            return
        other = professional.take(key)
        if fault := _differing_criterion(record, rows, _items(other[1], "rubric_items") if other else None):
            yield f"{HEALTHBENCH}, line {number}: {fault}: not what {RUBRICS} says of this case"
        if other and (fault := _differing_professional(other[1], record, rows)):
            yield f"{PROFESSIONAL}, line {other[0]}: {fault}: not what {HEALTHBENCH} says of this case"
        if (other := flat.take(key)) and (fault := _differing_flat(other[1], record, rows)):
            yield f"{CLINCONSENSUS}, line {other[0]}: {fault}: not what {HEALTHBENCH} says of this case"
    for form in (professional, flat):
        if form.waiting is not None:
            yield f"{form.name}, line {form.waiting[0]}: not a case of {HEALTHBENCH}, or not in its order"


def _records(source: Source, name: str) -> Iterator[tuple[int, Record]]:
    """The lines of a file with their numbers; faults of a line itself are named elsewhere."""
    with source.open(name) as file:
        yield from RecordReader(cast(BinaryIO, file), Faults())


class _OtherForm:
    """A file with some of the cases, in the order of all. ``waiting`` is its next case, with the number of its line."""

    def __init__(self, source: Source, name: str, key: str, *, is_there: bool) -> None:
        self.name = name
        self._key = key
        self._records = _records(source, name) if is_there and source.size(name) else iter(())
        self.waiting = next(self._records, None)

    def take(self, key: str) -> tuple[int, Record] | None:
        """The next case, if it is this one."""
        case = self.waiting
        if case is None or str(case[1].get(self._key)) != key:
            return None
        self.waiting = next(self._records, None)
        return case


# A case in each form ----------------------------------------------------------------------------------------------


def _items(record: Mapping[str, Any], name: str) -> list[Record]:
    """The criteria of a case that are objects."""
    value = record.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _differing_criterion(record: Record, rows: Sequence[Row], others: list[Record] | None) -> str:
    """Where HealthBench's form differs from the table; ``others`` are the criteria of a professional case."""
    for index, (criterion, row) in enumerate(zip_longest(_items(record, "rubrics"), rows)):
        place = f"rubrics[{index}]"
        if criterion is None or row is None or row["position"] != str(index + 1):
            return place
        # A field of a professional file stays as it came, also where HealthBench's form calls something else so.
        kept = others[index].keys() if others and index < len(others) else ()
        cells = {"criterion": row["criterion"], "tags": row["tags"]}
        values = {"criterion": criterion.get("criterion"), "tags": _cell(criterion.get("tags"))}
        for name in ("criterion", "tags"):
            if name not in kept and values[name] != cells[name]:
                return f"{place}.{name}"
        if not _is_worth(criterion, row):
            return f"{place}.points"
        if name := _differing_origin(criterion, row):
            return f"{place}.traceability.{name}"
    return ""


def _cell(tags: Any) -> str | None:
    """Tags as the table has them; None where they are none."""
    tags = tags or []
    return joined(tags) if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags) else None


def _is_worth(criterion: Record, row: Row) -> bool:
    points = criterion.get("points")
    return isinstance(points, int | float) and row["points"] == str(int(points)) and points == int(points)


def _differing_origin(criterion: Record, row: Row) -> str:
    """What of the origin of a criterion differs. A field of this name that is not of our form says nothing of it."""
    given = criterion.get("traceability", {})
    rests_on = as_imported.traceability_of(given)
    if rests_on is None and given:
        return ""
    rests_on = rests_on or {}
    for name in ("source", "element", "expectation", "bank"):
        if rests_on.get(name, "") != row[name]:
            return name
    return "" if joined(rests_on.get(as_imported.CITATIONS, ())) == row["citations"] else as_imported.CITATIONS


def _differing_professional(record: Record, case: Record, rows: Sequence[Row]) -> str:
    """The field in which a professional case differs from HealthBench's form."""
    conversation = record.get("conversation")
    messages = conversation.get("messages") if isinstance(conversation, dict) else None
    if record.get("id") != case.get("prompt_id"):
        return "id"
    if _turns(messages) != _turns(case.get("prompt")):
        return "conversation"
    items = _items(record, "rubric_items")
    for index, (item, criterion, row) in enumerate(zip_longest(items, _items(case, "rubrics"), rows)):
        if item is None or criterion is None or row is None:
            return f"rubric_items[{index}]"
        if item.get("criterion_text") != row["criterion"]:
            return f"rubric_items[{index}].criterion_text"
        if (name := _differing_field(_as_healthbench(item), _without_tags(criterion))) is not None:
            return f"rubric_items[{index}].{name}"
    for name in as_imported.PROFESSIONAL_LABELS:
        if _text(record.get(name)).strip() != _first_label(case, name):
            return name
    if "ideal_completions_data" not in record and not _is_answer_same(record, case):
        return "physician_response"
    if record.get("canary", record.get("canary_string")) != case.get("canary"):
        return "canary_string"
    own = {name: value for name, value in record.items() if name not in _PROFESSIONAL_OWN | _HEALTHBENCH_OWN}
    others = {name: value for name, value in case.items() if name not in _HEALTHBENCH_OWN}
    return _differing_field(own, others) or ""


def _as_healthbench(item: Record) -> Record:
    """A criterion of a professional case, as HealthBench's form has it."""
    more = {name: value for name, value in item.items() if name != "criterion_text"}
    return _without_tags({"criterion": item.get("criterion_text"), **more})


def _without_tags(criterion: Record) -> Record:
    """No tags, which may be written in several ways, in one."""
    return {**criterion, "tags": criterion.get("tags") or []}


def _differing_field(record: Record, other: Record) -> str | None:
    return next((name for name in {**record, **other} if record.get(name, ...) != other.get(name, ...)), None)


def _turns(turns: Any) -> list[tuple[Any, Any]]:
    turns = turns if isinstance(turns, list) else []
    return [(turn.get("role"), turn.get("content")) for turn in turns if isinstance(turn, dict)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _first_label(case: Record, name: str) -> str:
    """The first of a case's tags of one kind, without its prefix."""
    tags = case.get("example_tags")
    start = f"{name}:"
    labels = [tag for tag in tags if isinstance(tag, str) and tag.startswith(start)] if isinstance(tags, list) else []
    return labels[0].removeprefix(start) if labels else ""


def _is_answer_same(record: Record, case: Record) -> bool:
    completions = case.get("ideal_completions_data")
    ideal = _text(completions.get("ideal_completion")) if isinstance(completions, dict) else ""
    answer = _text(record.get("physician_response"))
    return ideal == (answer if answer.strip() else "")


def _differing_flat(record: Record, case: Record, rows: Sequence[Row]) -> str:
    """The field in which ClinConsensus' form, which has positive criteria alone, differs."""
    texts = [row["criterion"] for row in rows if not row["points"].startswith("-")]
    criteria = record.get("rubrics")
    for index, (criterion, text) in enumerate(zip_longest(criteria if isinstance(criteria, list) else (), texts)):
        words = criterion.values() if isinstance(criterion, dict) else (criterion,)
        if text is None or text not in words:
            return f"rubrics[{index}]"
    *before, last = _turns(case.get("prompt")) or [("", "")]
    context, request = record.get("clinical_context"), record.get("user_request")
    if before:
        turns = (f"{clinconsensus.SPEAKERS.get(_text(role), _text(role))}: {_text(words)}" for role, words in before)
        return "" if (context, request) == ("\n\n".join(turns), last[1]) else "user_request"
    return "" if last[1] == (f"{context}\n\n{request}" if context else request) else "user_request"
