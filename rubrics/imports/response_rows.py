"""Stores imported responses: new ones by COPY; known ones are compared and never changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from psycopg.types.json import Jsonb

from consilium.core.identifiers import new_public_id
from rubrics.imports.bulk import copy_rows, reserve_ids
from rubrics.models import Benchmark, Candidate, Response
from rubrics.parsing.faults import Faults
from rubrics.parsing.self_identification import self_identification

FLAG = "self_identification"
COLUMNS = (
    *("id", "public_id", "case", "candidate", "setting", "sample", "text", "external_id"),
    *("writing_mode", "metadata", "created_at"),
)


@dataclass(slots=True)
class NewResponse:
    """A response that a file brings; ``line`` and ``place`` are its position there."""

    line: int
    place: str
    case_id: int
    candidate: Candidate
    sample: int
    text: str
    setting: str = "chat"
    external_id: str = ""
    writing_mode: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    # A file of verdicts names responses by their text; its other fields are not compared with the stored ones.
    only_text: bool = False
    # The same file may repeat a response: verdicts of a judge that was asked several times name it each time.
    repeated: bool = False

    @property
    def key(self) -> tuple[int, int, str, int]:
        """The values that identify a response."""
        return self.case_id, self.candidate.pk, self.setting, self.sample


class ResponseWriter:
    """Writes chunks of responses and counts; the same response again is unchanged, with another content a fault."""

    def __init__(self, benchmark: Benchmark, faults: Faults, at: datetime) -> None:
        self.faults = faults
        self.at = at
        self.created = 0
        self.unchanged = 0
        self.flagged = 0
        self._may_exist = Response.objects.filter(case__benchmark=benchmark).exists()

    def write(self, responses: Sequence[NewResponse]) -> dict[tuple[int, int, str, int], int]:
        """Write what is new; the ids of all of ``responses`` by their keys."""
        known = self._known(responses) if self._may_exist or any(each.repeated for each in responses) else {}
        ids: dict[tuple[int, int, str, int], int] = {}
        new: list[NewResponse] = []
        first: dict[tuple[int, int, str, int], NewResponse] = {}
        for response in responses:
            row = known.get(response.key)
            if row is not None:
                ids[response.key] = row["id"]
                self._compare(response, row)
            elif response.repeated and response.key in first:
                self._compare_text(response, first[response.key].text)
            else:
                first[response.key] = response
                new.append(response)
        if self.faults.total:  # nothing will be stored: the rest of the file is read only to report its faults
            return ids
        reserved = reserve_ids(Response, len(new))
        copy_rows(Response, COLUMNS, (self._row(pk, each) for pk, each in zip(reserved, new, strict=True)))
        self.created += len(new)
        ids.update((each.key, pk) for pk, each in zip(reserved, new, strict=True))
        return ids

    def _compare_text(self, response: NewResponse, text: str) -> None:
        """Refuse a response whose text differs from the one that the file gave it before."""
        if response.text != text:
            self.faults.add(
                response.line, response.place, _("The file already has this response with different content.")
            )

    def _known(self, responses: Iterable[NewResponse]) -> dict[tuple[int, int, str, int], dict[str, Any]]:
        # Filtered by sample, too: one case may have a million samples, and a chunk needs only a few.
        rows = Response.objects.filter(
            case__in={each.case_id for each in responses},
            candidate__in={each.candidate.pk for each in responses},
            sample__in={each.sample for each in responses},
        ).values(
            "id", "case_id", "candidate_id", "setting", "sample", "text", "external_id", "writing_mode", "metadata"
        )
        return {(row["case_id"], row["candidate_id"], row["setting"], row["sample"]): dict(row) for row in rows}

    def _compare(self, response: NewResponse, row: dict[str, Any]) -> None:
        row["metadata"].pop(FLAG, None)
        for name in ("text",) if response.only_text else ("text", "external_id", "writing_mode", "metadata"):
            given = getattr(response, name)
            # A field that a row does not have, as in a release, does not differ from the stored one.
            if row[name] != given and (given or name == "text"):
                self.faults.add(
                    response.line,
                    response.place if name == "text" else name,
                    _(
                        "This response already exists with different content, and responses never change. If it is "
                        "another response, give it a new sample number or the name of a new candidate."
                    ),
                )
                return
        self.unchanged += 1

    def _row(self, pk: int, response: NewResponse) -> tuple[Any, ...]:
        metadata = response.metadata
        if response.candidate.kind != Candidate.Kind.PHYSICIAN:
            quote = self_identification(response.text, response.candidate.name)
            if quote:
                metadata = {**metadata, FLAG: quote[:200]}
                self.flagged += 1
        return (
            *(pk, new_public_id(), response.case_id, response.candidate.pk, response.setting, response.sample),
            *(response.text, response.external_id, response.writing_mode, Jsonb(metadata), self.at),
        )

    def warnings(self) -> list[str]:
        """Warnings that a person should read before the responses are graded."""
        if not self.flagged:
            return []
        return [
            ngettext(
                "%(n)d response seems to reveal who wrote it. Check it before it is graded blind.",
                "%(n)d responses seem to reveal who wrote them. Check them before they are graded blind.",
                self.flagged,
            )
            % {"n": self.flagged}
        ]
