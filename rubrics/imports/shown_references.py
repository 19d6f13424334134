"""References that were shown to the writers of imported responses: each must be there once the file is read."""

from __future__ import annotations

from dataclasses import dataclass

from consilium.core.phrases import Phrase
from rubrics.models import Response
from rubrics.parsing.faults import Faults
from rubrics.parsing.responses import REFERENCES, ReferenceShown, ResponseRecord, references_of

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class _Shown:
    line: int
    case_id: int
    references: list[ReferenceShown]


class ShownReferences:
    """Collects what the rows of a file name as shown, while they are read; `note` adds a fault for what is not there.

    References may come after the responses that were written beside them, so that nothing is looked up before the end.
    """

    def __init__(self) -> None:
        self._rows: list[_Shown] = []

    def add(self, record: ResponseRecord, case_id: int) -> None:
        """Note what the writer of a response was shown; nothing where the row does not say how it was written."""
        if record.writing_mode and (references := references_of(record.metadata)):
            self._rows.append(_Shown(record.line, case_id, references))

    def note(self, faults: Faults) -> None:
        """Add the faults. Where there are others already, responses of the file were not stored and cannot be found."""
        if faults.total:
            return
        for start in range(0, len(self._rows), _CHUNK):
            rows = self._rows[start : start + _CHUNK]
            known = set(
                Response.objects.filter(
                    case__in={row.case_id for row in rows},
                    candidate__name__in={shown.candidate for row in rows for shown in row.references},
                ).values_list("case_id", "candidate__name", "sample")
            )
            answered = {(case, name) for case, name, _sample in known}
            for row in rows:
                for index, shown in enumerate(row.references):
                    name, sample = shown.candidate, shown.sample
                    place = f"{REFERENCES}[{index}]"
                    if (row.case_id, name) not in answered:
                        message = Phrase("There is no response of “%(name)s” to this case.", name=name)
                        faults.add(row.line, place, message)
                    elif sample is not None and (row.case_id, name, sample) not in known:
                        faults.add(
                            row.line,
                            place,
                            Phrase(
                                "There is no sample %(sample)s of “%(name)s” for this case.", sample=sample, name=name
                            ),
                        )
