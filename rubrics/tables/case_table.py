"""Cases from a table: a row for each criterion, or several rows of one case with its question in the first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from consilium.core.jobs import Progress, no_progress
from consilium.core.language_tags import normalise_language
from consilium.core.phrases import Phrase
from consilium.core.strict_json import MAX_DEPTH, RefusedJSON, strict_decoder, too_deep
from rubrics.parsing import as_imported
from rubrics.parsing.cases import DIFFICULTIES, CaseRecord, healthbench_case
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.tables.columns import NAMES, parted, points_of
from rubrics.tables.mapping import KEPT, KEPT_WITH_CRITERION, LEFT_OUT, Column, Heading, Places, TableKind
from rubrics.tables.table import Table

MAX_NAMED_ROWS = 20
_OF_CRITERION = ("criterion", "points", "tags", "source", "element", "expectation", "bank", "citations")
_RESTS_ON = ("source", "element", "expectation", "bank")
# The fields of a HealthBench example, by those of the table.
_ALIASES = {"prompt_id": "case", "example_tags": "case_tags", "tags": "case_tags", "rubrics": "criterion"}
_RESERVED = frozenset({"prompt_id", "prompt", "rubrics", "example_tags", "ideal_completions_data"})
_DIFFICULTIES = {
    **{name: name for name in DIFFICULTIES},
    "easy": "low",
    "moderate": "medium",
    "hard": "high",
    "低": "low",
    "中": "medium",
    "高": "high",
    "简单": "low",
    "中等": "medium",
    "困难": "high",
}
_ROLES = {"用户": "user", "助手": "assistant", "系统": "system"}
_TURN = re.compile(
    rf"^[ \t]*(user|assistant|system|developer|tool|{'|'.join(_ROLES)})[ \t]*[:：][ \t]*", re.IGNORECASE | re.MULTILINE
)
_CRITERION_PLACE = re.compile(r"rubrics\[(\d+)\]\.?(?:traceability\.)?(\w*)")


def _place(places: Places, line: int, field: str) -> tuple[int, str]:
    """Row and heading of a field of a case; that of a criterion is the row of the criterion."""
    if isinstance(field, Heading):
        return line, field
    if match := _CRITERION_PLACE.match(field):
        rows = places.rows.get(line, [])
        index, inner = int(match[1]), match[2] or "criterion"
        return rows[index] if index < len(rows) else line, places.heading(inner)
    name = re.match(r"\w*", field)
    name_of_field = name[0] if name else field
    if name_of_field == "prompt" and "prompt" not in places.headings:
        name_of_field = "conversation"
    if name_of_field == "ideal_completions_data":
        name_of_field = "ideal_completion"
    name_of_field = _ALIASES.get(name_of_field, name_of_field)
    return line, places.headings.get(name_of_field, field)


CASES = TableKind(
    headings={
        "case": (*NAMES["case"], "id", "caseno", "casenumber", "casename", "病例号", "病例名称"),
        "context": ("context", "clinicalcontext", "background", "vignette", "history", "背景", "临床背景", "病史"),
        "prompt": (
            *("prompt", "question", "query", "usermessage", "userrequest", "request", "message", "userprompt"),
            *("问题", "提问", "患者提问", "用户提问", "用户问题", "请求", "提示"),
        ),
        "conversation": ("conversation", "dialogue", "dialog", "turns", "messages", "chat", "对话", "对话内容"),
        "difficulty": ("difficulty", "难度"),
        "language": ("language", "lang", "languagecode", "caselanguage", "语言", "语种"),
        "case_tags": ("casetags", "exampletags", "caselabels", "themes", "theme", "病例标签", "案例标签", "主题"),
        "user_role": ("userrole", "asker", "用户角色", "提问者"),
        "reference_answer": ("referenceanswer", "reference", "goldanswer", "参考答案", "标准答案"),
        "ideal_completion": (
            *("idealcompletion", "idealanswer", "idealresponse", "physicianresponse", "physiciananswer"),
            *("医生回答", "医师回答", "理想回答"),
        ),
        **{name: NAMES[name] for name in _OF_CRITERION},
    },
    required=("case", "prompt|conversation", "criterion"),
    others=(KEPT, KEPT_WITH_CRITERION, LEFT_OUT),
    unknown=KEPT,
    place=_place,
)


@dataclass(slots=True)
class _Rows:
    """The rows of one case: its own texts with the row of each, and its criteria."""

    row: int
    texts: dict[str, tuple[int, str]] = field(default_factory=dict)
    kept: dict[str, tuple[int, str]] = field(default_factory=dict)
    criteria: list[dict[str, Any]] = field(default_factory=list)
    is_sound: bool = True


def read_case_table(
    file: BinaryIO, table: Table, faults: Faults, progress: Progress = no_progress
) -> Iterator[CaseRecord]:
    """The sound cases of a table; everything else is in ``faults`` when the iterator ends.

    The rows of a case may stand anywhere. A row without a case continues the one before it. What belongs to the case as
    a whole may stand in all of its rows, or in one.
    """
    faults.locate = table.place
    cases: dict[str, _Rows] = {}
    key = ""
    without_case: list[int] = []
    for row, cells in table.rows(file, faults, progress):
        key = _add_row(row, cells, cases, key, faults, without_case)
    if without_case:
        table.note(_joined_above(without_case))
    if table.is_readable and "points" not in table.targets:
        table.note(Phrase("There is no column with points, so every criterion is worth 1 point."))
    for key, rows in cases.items():
        table.places.rows[rows.row] = [criterion.pop("row") for criterion in rows.criteria]
        record = _record(key, rows, has_points="points" in table.targets, faults=faults)
        fields = Fields(rows.row, record, faults)
        case = healthbench_case(fields)
        difficulty, language = _difficulty(rows, faults), _language(rows, faults)
        if not fields.sound or not rows.is_sound or difficulty is None or language is None:
            continue
        texts = {name: text for name, (_row, text) in rows.texts.items()}
        role = texts.get("user_role", "")
        yield replace(
            case,
            difficulty=difficulty,
            language=language or case.language,
            language_detected=case.language_detected and not language,
            reference_answer=texts.get("reference_answer", ""),
            user_role=role,
            metadata={**case.metadata, "user_role": role} if role else case.metadata,
        )


def _joined_above(rows: list[int]) -> Phrase:
    """A note that counts the rows without a case and names the first of them."""
    named = ", ".join(str(row) for row in rows[:MAX_NAMED_ROWS]) + (" …" if len(rows) > MAX_NAMED_ROWS else "")
    return Phrase(
        "Rows without a case: %(rows)s (%(n)s in total). Each is read as part of the case above it.",
        n=len(rows),
        rows=named,
    )


def _add_row(
    row: int,
    cells: list[tuple[Column, str]],
    cases: dict[str, _Rows],
    last: str,
    faults: Faults,
    without_case: list[int],
) -> str:
    """Add a row to its case; the key of that case. ``without_case`` takes the row if it joins the case above it."""
    values = {column.target: text.strip() for column, text in cells if column.target in CASES.headings}
    values = {name: text for name, text in values.items() if text}
    key = values.pop("case", "")
    own = {name: text for name, text in values.items() if name not in _OF_CRITERION}
    if not key:
        if own or not last:
            faults.add(row, "case", Phrase("The row does not name a case."))
            return last
        key = last
        without_case.append(row)
    case = cases.setdefault(key, _Rows(row))
    for name, text in own.items():
        _keep(case, case.texts, name, row, text, faults)
    for column, text in cells:
        if column.target == KEPT and text.strip():
            _keep(case, case.kept, column.heading, row, text.strip(), faults)
    further = {str(column.heading): text.strip() for column, text in cells if column.target == KEPT_WITH_CRITERION}
    _add_criterion(row, case, {name: text for name, text in values.items() if name not in own}, further, faults)
    return key


def _keep(case: _Rows, values: dict[str, tuple[int, str]], name: str, row: int, text: str, faults: Faults) -> None:
    """Keep what a row says of the case as a whole; a fault if an earlier row says something else."""
    first, known = values.setdefault(name, (row, text))
    if known != text:
        case.is_sound = False
        message = Phrase(
            "Row %(row)s of this case has a different value here. Values that differ between rows must "
            "belong to a criterion.",
            row=first,
        )
        faults.add(row, name, message)


def _add_criterion(row: int, case: _Rows, values: dict[str, str], further: dict[str, str], faults: Faults) -> None:
    if not values and not any(further.values()):
        return
    if "criterion" not in values:
        case.is_sound = False
        faults.add(row, "criterion", Phrase("The criterion has no text."))
        return
    criterion: dict[str, Any] = {"row": row, "criterion": values["criterion"], "tags": parted(values.get("tags", ""))}
    if "points" in values:
        points = points_of(values["points"])
        if isinstance(points, Phrase):
            case.is_sound = False
            faults.add(row, "points", points)
            points = 1
        criterion["points"] = points
    rests_on: dict[str, Any] = {name: values[name] for name in _RESTS_ON if name in values}
    if locators := parted(values.get("citations", "")):
        rests_on["citations"] = locators
    if rests_on and as_imported.traceability_of(rests_on) is None:
        case.is_sound = False
        faults.add(row, next(iter(rests_on)), Phrase("The basis of the criterion is too long or has too many parts."))
    elif rests_on:
        criterion["traceability"] = rests_on
    for name, text in further.items():
        if text:
            criterion[f"{name} (column)" if name in (*criterion, "points", "traceability") else name] = text
    case.criteria.append(criterion)


def _record(key: str, rows: _Rows, *, has_points: bool, faults: Faults) -> dict[str, Any]:
    """The case as a HealthBench example."""
    texts = {name: text for name, (_row, text) in rows.texts.items()}
    if not has_points:
        for criterion in rows.criteria:
            criterion["points"] = 1
    ideal = texts.get("ideal_completion", "")
    record: dict[str, Any] = {
        "prompt_id": key,
        "prompt": _conversation(rows, texts, faults),
        "rubrics": rows.criteria,
        "example_tags": parted(texts.get("case_tags", "")),
        "ideal_completions_data": as_imported.ideal_completions(ideal, "", [], {}),
    }
    for name, (_row, text) in rows.kept.items():
        record[f"{name} (column)" if name in _RESERVED else name] = text
    return record


def _conversation(rows: _Rows, texts: dict[str, str], faults: Faults) -> list[Any] | None:
    """The turns of a case; None if there are none, which the reader of cases refuses."""
    prompt, context, conversation = (texts.get(name, "") for name in ("prompt", "context", "conversation"))
    if not conversation:
        return [{"role": "user", "content": f"{context}\n\n{prompt}" if context else prompt}] if prompt else None
    row = rows.texts["conversation"][0]
    if prompt or context:
        rows.is_sound = False
        other = "prompt" if prompt else "context"
        faults.add(
            row, "conversation", Phrase("Both %(first)s and %(second)s are given.", first=other, second="conversation")
        )
    turns = turns_of(conversation)
    if isinstance(turns, Phrase):
        rows.is_sound = False
        faults.add(row, "conversation", turns)
        return [{"role": "user", "content": conversation}]
    return turns


def turns_of(text: str) -> list[Any] | Phrase:
    """The turns of a conversation in one cell, or why it has none.

    Each turn begins with a line such as ``user:`` or ``assistant:``; or the cell is the JSON of a list of turns.
    """
    if text.startswith("["):
        if too_deep(text.encode("utf-8", "replace"), MAX_DEPTH):
            return Phrase("Brackets are nested deeper than %(depth)s levels.", depth=MAX_DEPTH)
        try:
            turns = strict_decoder().decode(text)
        except (RefusedJSON, json.JSONDecodeError):
            return Phrase("This begins like JSON but is not valid JSON.")
        return turns if isinstance(turns, list) else Phrase("This must be a list of turns.")
    matches = list(_TURN.finditer(text))
    if not matches or text[: matches[0].start()].strip():
        return Phrase("Each turn must begin with its role: “user:” or “assistant:”.")
    ends = [*(match.start() for match in matches[1:]), len(text)]
    return [
        {"role": _ROLES.get(match[1], match[1].lower()), "content": text[match.end() : end].strip()}
        for match, end in zip(matches, ends, strict=True)
    ]


def _language(rows: _Rows, faults: Faults) -> str | None:
    """The tag of the language of a case, empty if none is given; None and a fault for what is no tag."""
    row, text = rows.texts.get("language", (0, ""))
    try:
        return normalise_language(text) if text else ""
    except ValueError:
        faults.add(row, "language", Phrase("“%(value)s” is not a language code such as en or zh.", value=text[:40]))
        return None


def _difficulty(rows: _Rows, faults: Faults) -> str | None:
    """The difficulty of a case, empty if none is given; None and a fault for an unknown one."""
    row, text = rows.texts.get("difficulty", (0, ""))
    if not text or text.lower() in _DIFFICULTIES:
        return _DIFFICULTIES.get(text.lower(), "")
    message = Phrase("“%(value)s” is not one of: %(names)s.", value=text[:40], names=", ".join(DIFFICULTIES))
    faults.add(row, "difficulty", message)
    return None
