"""Responses of candidates, one row for each response."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from consilium.core.limits import MAX_KEY_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, Ids, kind, size_of
from rubrics.parsing.reader import Limits, RecordReader

SETTING_LENGTH = 40
LARGEST_SAMPLE = 2**31 - 1
UNAIDED = "unaided"
WRITING_MODES = (UNAIDED, "aided")
REFERENCES = "references"


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


@dataclass(frozen=True, slots=True)
class ReferenceShown:
    """A response that a writer was shown: its candidate, and its sample, by default the candidate's first one.

    ``response`` is its public id, where it was shown on a page here.
    """

    candidate: str
    sample: int | None = None
    response: str = ""


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
    if writing_mode:
        check_references(fields, writing_mode)
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


def check_references(fields: Fields, writing_mode: str) -> None:
    """Note the faults of ``references``: what its writer was shown, by the names of candidates.

    An element is a name, or an object with ``candidate`` and ``sample``. The field stays what it is, in the metadata.
    Without a writing mode nobody looks at it: models may have a field with this name for the sources they cite.
    """
    shown = fields.record.get(REFERENCES)
    if shown is None:
        return
    if writing_mode == UNAIDED and shown != []:
        fields.fault(REFERENCES, Phrase("An unaided response has no references."))
        return
    if not isinstance(shown, list):
        fields.fault(REFERENCES, Phrase("This must be a list, not %(kind)s.", kind=kind(shown)))
        return
    for index, element in enumerate(shown):
        place = f"{REFERENCES}[{index}]"
        given = {"candidate": element} if isinstance(element, str) else element
        if (inner := fields.within(place, given)) is not None:
            inner.text("candidate", longest=MAX_KEY_LENGTH)
            inner.integer("sample", low=0, high=LARGEST_SAMPLE, default=0)
            fields.absorb(inner)


def references_of(metadata: Mapping[str, Any]) -> list[ReferenceShown]:
    """What the writer of a response was shown, by its metadata.

    Metadata hold whatever a file had, so that anything of another shape is passed over.
    """
    shown = metadata.get(REFERENCES)
    references: list[ReferenceShown] = []
    for element in shown if isinstance(shown, list) else ():
        if isinstance(element, str):
            references.append(ReferenceShown(element))
        elif isinstance(element, Mapping) and isinstance(name := element.get("candidate"), str):
            sample, response = element.get("sample"), element.get("response")
            references.append(
                ReferenceShown(
                    name,
                    int(sample) if isinstance(sample, int | float) else None,
                    response if isinstance(response, str) else "",
                )
            )
    return references
