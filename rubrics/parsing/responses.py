"""Responses of candidates, one row for each response."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from consilium.core.limits import MAX_KEY_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, Ids, size_of
from rubrics.parsing.reader import Limits, RecordReader

SETTING_LENGTH = 40
LARGEST_SAMPLE = 2**31 - 1
WRITING_MODES = ("unaided", "aided")


@dataclass(frozen=True, slots=True)
class ResponseRecord:
    """What a candidate answered to a case; ``case_field`` is the name under which the row gave its case."""

    line: int
    case: str
    candidate: str
    sample: int
    text: str
    case_field: str = "case"
    text_field: str = "response"
    setting: str = "chat"
    external_id: str = ""
    writing_mode: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    def weight(self) -> int:
        """About how many characters it holds."""
        return len(self.text) + size_of(self.metadata)


def read_responses(
    file: BinaryIO,
    faults: Faults,
    *,
    candidate: str = "",
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[ResponseRecord]:
    """The sound responses of ``file``; everything else is in ``faults`` when the iterator ends.

    ``candidate`` names the candidate of every row, whatever the row says; the row's own name is kept as metadata.
    """
    ids = Ids(Phrase("response"))
    for line, record in RecordReader(file, faults, limits=limits, progress=progress):
        fields = Fields(line, record, faults)
        response = response_of(fields, candidate)
        if fields.sound:
            ids.add(fields, "sample", response.case, response.candidate, response.setting, str(response.sample))
        if fields.sound:
            yield response


def response_of(fields: Fields, candidate: str = "") -> ResponseRecord:
    """The response of a row; look at ``fields.sound`` before using it."""
    case_field = fields.name_of("case", "prompt_id", "case_id")
    name_field = fields.name_of("candidate", "model")
    text_field = fields.name_of("response", "completion")
    case = fields.key(case_field)
    own_name = fields.text(name_field, required=not candidate, longest=MAX_KEY_LENGTH)
    if own_name != own_name.strip():
        fields.fault(name_field, Phrase("There is white space around this name."))
    sample = fields.integer("sample", low=0, high=LARGEST_SAMPLE, default=0)
    text = fields.text(text_field, blank=True)
    setting = fields.text("setting", required=False, longest=SETTING_LENGTH)
    external_id = fields.key("external_id") if fields.record.get("external_id") is not None else ""
    writing_mode = fields.choice("writing_mode", WRITING_MODES, required=False)
    metadata = dict(fields.mapping("metadata"))
    for name in ("metadata", "external_id"):
        fields.take(name)
    metadata = {**fields.rest(), **metadata}
    if candidate and own_name and own_name != candidate:
        metadata.setdefault("candidate", own_name)
    return ResponseRecord(
        line=fields.line,
        case=case,
        candidate=candidate or own_name,
        sample=sample,
        text=text,
        case_field=case_field,
        text_field=text_field,
        setting=setting or "chat",
        external_id=external_id,
        writing_mode=writing_mode,
        metadata=metadata,
    )
