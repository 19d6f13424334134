"""Responses from a table: a row for each response, or a row for each case with a column for each candidate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, Ids
from rubrics.parsing.responses import REFERENCES, ResponseRecord, response_of
from rubrics.tables.columns import NAMES
from rubrics.tables.mapping import ANSWERS, KEPT, LEFT_OUT, Column, TableKind
from rubrics.tables.table import Table

RESPONSES = TableKind(
    headings={
        "case": (*NAMES["case"], "id", "caseno", "casenumber", "casename", "病例号", "病例名称"),
        "candidate": ("candidate", "model", "modelname", "llm", "作答者", "候选", "候选模型", "模型", "模型名称"),
        "sample": ("sample", "sampleno", "samplenumber", "attempt", "样本", "采样", "次数"),
        "response": (
            *("response", "completion", "answer", "output", "reply", "modelresponse", "modelanswer", "responsetext"),
            *("回答", "回复", "答案", "模型回答", "模型回复", "响应"),
        ),
        "setting": ("setting", "设定", "设置"),
        "external_id": ("externalid", "responseid", "completionid", "外部编号", "回答编号"),
        "writing_mode": ("writingmode", "写作方式"),
        "references": ("references", "referencesshown", "所示参考回答"),
    },
    required=("case", f"response|{ANSWERS}"),
    others=(ANSWERS, KEPT, LEFT_OUT),
    unknown=KEPT,
)


def read_response_table(
    file: BinaryIO, table: Table, faults: Faults, *, candidate: str = "", progress: Progress = no_progress
) -> Iterator[ResponseRecord]:
    """The sound responses of a table; everything else is in ``faults`` when the iterator ends.

    ``candidate`` names the candidate of every row, whatever the row says.
    """
    faults.locate = table.place
    ids = Ids(Phrase("response"))
    n_empty = 0
    is_checked = False
    for row, cells in table.rows(file, faults, progress):
        if not is_checked:
            is_checked = True
            if "response" in table.targets and not candidate and "candidate" not in table.targets:
                faults.add(1, "candidate", Phrase("This column is missing."))
                return
        records = list(_records(row, cells, table, faults))
        n_empty += sum(column.target == ANSWERS for column in table.columns) - sum(
            column.target == ANSWERS for column, text in cells if text.strip()
        )
        for heading, record in records:
            fields = Fields(row, record, faults)
            response = response_of(fields, "" if heading else candidate)
            if fields.sound:
                ids.add(fields, heading or "response", *_key(response))
            if fields.sound:
                yield replace(response, text_field=heading or response.text_field)
    if n_empty:
        table.note(Phrase("Empty cells, not counted as responses: %(n)s.", n=n_empty))


def _key(response: ResponseRecord) -> tuple[str, ...]:
    return response.case, response.candidate, response.setting, str(response.sample)


def _records(
    row: int, cells: list[tuple[Column, str]], table: Table, faults: Faults
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The responses of a row as JSONL has them, with the heading that names the candidate if one does."""
    values: dict[str, Any] = {}
    for column, text in cells:
        if column.target == "response":
            values["response"] = text
        elif column.target in RESPONSES.headings and text.strip():
            values[column.target] = text.strip()
    sample = values.get("sample")
    if isinstance(sample, str) and sample.isascii() and sample.isdecimal() and len(sample) <= 10:
        values["sample"] = int(sample)
    kept = {column.heading: text for column, text in cells if column.target == KEPT}
    shown = next(((column, text) for column, text in cells if column.target == REFERENCES and text.strip()), None)
    if shown is not None and "writing_mode" in values:
        values[REFERENCES] = [name.strip() for name in shown[1].split(";") if name.strip()]
    elif shown is not None:  # a detail, such as the sources that a model cites
        del values[REFERENCES]
        kept[shown[0].heading] = shown[1]
    if kept:
        values["metadata"] = kept
    if "response" in table.targets:
        if values.get("response", "").strip():
            yield "", values
        else:
            faults.add(row, "response", Phrase("This row does not contain a response."))
    shared = {name: value for name, value in values.items() if name not in ("candidate", "response")}
    for column, text in cells:
        if column.target == ANSWERS and text.strip():
            yield column.heading, {**shared, "candidate": column.heading, "response": text}
