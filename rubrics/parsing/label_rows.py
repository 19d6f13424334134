"""Rows of label files without texts, which no import can take: counted, and refused with one fault.

The published label files name an item by ``item_id``, or by four ids, and leave the texts out. ``agreement_file`` reads
them; an import needs the texts. A fault for each missing field of each line would hide that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults

LABELS = ("binary_labels", "criteria_met")


class LabelRows:
    """Counts the rows that have a label and none of ``texts``, the fields that an import needs."""

    def __init__(self, faults: Faults, *texts: Sequence[str]) -> None:
        self.faults = faults
        self.texts = texts
        self.first = 0
        self.number = 0

    def counts(self, line: int, record: Mapping[str, Any]) -> bool:
        """Whether the row is one of them; it is then counted here, and needs no fault of its own."""
        if all(record.get(name) is None for name in LABELS):
            return False
        if any(record.get(name) is not None for names in self.texts for name in names):
            return False
        self.first = self.first or line
        self.number += 1
        return True

    def report(self) -> None:
        """Note the one fault, on the first of these lines."""
        if self.number:
            names = ", ".join(names[0] for names in self.texts)
            message = Phrase(
                "Lines that lack %(names)s: %(n)s, this one is the first. An import needs these fields. To compare "
                "label files without texts, use “manage.py agreement_file”.",
                names=names,
                n=self.number,
            )
            self.faults.add(self.first, "", message)
