"""HealthBench meta-evaluation rows: one (completion, criterion) pair with the labels of several physicians."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from consilium.core.phrases import Phrase
from rubrics.parsing.cases import conversation_of
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.parsing.label_rows import LabelRows
from rubrics.parsing.reader import Limits, RecordReader


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One row: ``labels[i]`` is the label of physician ``physicians[i]`` for ``criterion`` in ``completion``."""

    line: int
    prompt_id: str
    conversation: list[dict[str, str]]
    completion_id: str
    completion: str
    criterion: str
    category: str
    labels: tuple[bool, ...]
    physicians: tuple[str, ...]


def read_meta_eval(
    file: BinaryIO,
    faults: Faults,
    *,
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[LabelledPair]:
    """The sound rows of ``file``; everything else is in ``faults`` when the iterator ends."""
    without_texts = LabelRows(faults, ("prompt",), ("completion",), ("rubric",))
    for line, record in RecordReader(file, faults, limits=limits, progress=progress):
        if without_texts.counts(line, record):
            continue
        fields = Fields(line, record, faults)
        pair = labelled_pair(fields)
        if fields.sound:
            yield pair
    without_texts.report()


def labelled_pair(fields: Fields) -> LabelledPair:
    """The pair of a row; look at ``fields.sound`` before using it."""
    conversation, _whole = conversation_of(fields, "prompt")
    labels = fields.objects("binary_labels", what=Phrase("label"))
    for index, label in enumerate(labels):
        if not isinstance(label, bool):
            fields.fault(f"binary_labels[{index}]", Phrase("This must be true or false."))
    physicians = fields.texts("anonymized_physician_ids", required=True, longest=200)
    if fields.sound and len(physicians) != len(labels):
        fields.fault(
            "anonymized_physician_ids",
            Phrase(
                "There are %(labels)s labels but %(physicians)s physicians.",
                labels=len(labels),
                physicians=len(physicians),
            ),
        )
    if len(set(physicians)) != len(physicians):
        fields.fault("anonymized_physician_ids", Phrase("The same physician appears here twice."))
    return LabelledPair(
        line=fields.line,
        prompt_id=fields.key("prompt_id"),
        conversation=conversation,
        completion_id=fields.key("completion_id"),
        completion=fields.text("completion", blank=True),
        criterion=fields.text("rubric"),
        category=fields.text("category", longest=300),
        labels=tuple(labels),
        physicians=tuple(physicians),
    )
