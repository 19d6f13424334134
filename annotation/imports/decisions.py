"""``import_decisions``: physicians' labels, a row a decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.imports.votes import Vote, VoteWriter
from annotation.models import ExpertGroup, Membership
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress
from consilium.core.limits import MAX_GROUP_NAME_LENGTH
from rubrics.imports.bulk import check_references_at_once, weighed_chunks
from rubrics.imports.prescan import prescan
from rubrics.imports.registry import Counts
from rubrics.imports.unknown_cases import UnknownCases
from rubrics.models import Benchmark, Response, RubricItem
from rubrics.parsing.decisions import DecisionReader, DecisionRecord
from rubrics.parsing.faults import Faults

CHUNK = 1000
CHUNK_CHARACTERS = 4 << 20  # a text may be long, also if it is not stored


@dataclass(slots=True)
class RubricSheet:
    """The published rubric of a case: criteria by position and by text."""

    case: int
    rubric: int
    by_position: dict[int, int] = field(default_factory=dict)
    by_text: dict[str, list[int]] = field(default_factory=dict)


class Places:
    """Finds the response and the criterion that a row of a file names; a row without a match is a fault.

    Rows that name unknown cases are one fault together. A text that the gold rubric of a case does not have may be that
    of a criterion in its rubric of the track ``beside``, where one is given.
    """

    def __init__(self, benchmark: Benchmark, faults: Faults, *, beside: str = "") -> None:
        self.benchmark = benchmark
        self.faults = faults
        self._beside_track = beside
        self.unknown = UnknownCases(
            _(
                "%(n)s lines name cases that are not in this benchmark, or have no published rubric (%(keys)s). Import "
                "these cases or publish their rubrics first, or correct the short names."
            ),
            single=_("There is no case “%(key)s” with a published rubric in this benchmark."),
        )
        self._rubrics: dict[str, RubricSheet] = {}
        self._beside: dict[str, RubricSheet] = {}
        self._responses: dict[tuple[int, str, int], dict[str, int]] = {}

    def placed(self, records: Iterable[DecisionRecord]) -> Iterator[tuple[DecisionRecord, RubricSheet, int, int]]:
        """Each row that has a match, with its rubric, response and criterion; after the last, unknown cases are faults.

        Rows are read in chunks, each with two queries, or three with the track beside.
        """
        for chunk in weighed_chunks(records, CHUNK, weight=CHUNK_CHARACTERS, weigh=DecisionRecord.weight):
            self._learn(chunk)
            for record in chunk:
                place = self._find(record)
                if place is not None:
                    yield record, *place
        self.unknown.note(self.faults)

    def _learn(self, records: list[DecisionRecord]) -> None:
        """Read the rubrics and responses that a chunk of rows names."""
        keys = {record.case for record in records} - self._rubrics.keys()
        self._read_rubrics("gold", keys, self._rubrics)
        if self._beside_track:
            self._read_rubrics(self._beside_track, keys, self._beside)
        cases = {sheet.case for sheet in map(self._rubrics.get, {record.case for record in records}) if sheet}
        rows = Response.objects.filter(case__in=cases, candidate__name__in={record.candidate for record in records})
        self._responses = {}
        for pk, case, name, sample, setting in rows.values_list(
            "pk", "case_id", "candidate__name", "sample", "setting"
        ):
            self._responses.setdefault((case, name, sample), {})[setting] = pk

    def _read_rubrics(self, track: str, keys: set[str], sheets: dict[str, RubricSheet]) -> None:
        """Add the published rubrics of a track to ``sheets``, by the keys of their cases."""
        items = RubricItem.objects.filter(
            rubric__case__benchmark=self.benchmark,
            rubric__case__key__in=keys,
            rubric__status="published",
            rubric__track=track,
        )
        columns = ("rubric__case__key", "rubric__case_id", "rubric_id", "position", "criterion_id", "criterion__text")
        for key, case, rubric, position, criterion, text in items.values_list(*columns):
            sheet = sheets.setdefault(key, RubricSheet(case, rubric))
            sheet.by_position[position] = criterion
            sheet.by_text.setdefault(text, []).append(criterion)

    def _find(self, record: DecisionRecord) -> tuple[RubricSheet, int, int] | None:
        """The rubric, the response and the criterion of a row."""
        sheet = self._rubrics.get(record.case)
        beside = self._beside.get(record.case)
        if sheet and beside and record.criterion in beside.by_text and record.criterion not in sheet.by_text:
            sheet = beside
        if sheet is None:
            self.unknown.add(record.line, "case", record.case)
            return None
        response = self._response(record, sheet)
        criterion = self._criterion(record, sheet)
        return (sheet, response, criterion) if response and criterion else None

    def _response(self, record: DecisionRecord, sheet: RubricSheet) -> int | None:
        by_setting = self._responses.get((sheet.case, record.candidate, record.sample), {})
        if record.setting:
            response = by_setting.get(record.setting)
        else:
            response = by_setting.get("chat") or (next(iter(by_setting.values())) if len(by_setting) == 1 else None)
        if response is None:
            message = _("There is no response of “%(candidate)s” to this case with sample %(sample)s.")
            names = {"candidate": record.candidate[:80], "sample": record.sample}
            self.faults.add(record.line, "candidate", message % names)
        return response

    def _criterion(self, record: DecisionRecord, sheet: RubricSheet) -> int | None:
        if isinstance(record.criterion, int):
            criterion = sheet.by_position.get(record.criterion)
            if criterion is None:
                n = len(sheet.by_position)
                message = ngettext(
                    "There is no criterion %(position)s: the rubric of this case has %(n)s criterion.",
                    "There is no criterion %(position)s: the rubric of this case has %(n)s criteria.",
                    n,
                )
                self.faults.add(record.line, "criterion", message % {"position": record.criterion, "n": n})
            return criterion
        same = sheet.by_text.get(record.criterion, [])
        if len(same) == 1:
            return same[0]
        message = (
            _("This text appears twice in the rubric of this case. Give the position.")
            if same
            else _("The rubric of this case has no criterion with this text.")
        )
        self.faults.add(record.line, "criterion", message)
        return None


def check_group_option(*, benchmark: Benchmark, options: Mapping[str, str], by: User | None) -> None:
    """`DomainError` on a name that no expert group can have."""
    if "group" in options:
        _group_name(options["group"])


def group_called(benchmark: Benchmark, name: str) -> tuple[ExpertGroup, bool]:
    """The expert group of that name, and whether this call made it."""
    return ExpertGroup.objects.get_or_create(benchmark=benchmark, name=_group_name(name))


def _group_name(text: str) -> str:
    name = text.strip()
    if not name or len(name) > MAX_GROUP_NAME_LENGTH:
        raise DomainError(
            _("Enter a name for the expert group, with at most %(n)s characters.") % {"n": MAX_GROUP_NAME_LENGTH},
            field="group",
        )
    return name


def report(writer: VoteWriter, group_created: bool) -> Counts:
    """What an import of votes did, in the shape of `Counts`."""
    counts: Counts = {
        "groups": {"created": int(group_created), "unchanged": int(not group_created)},
        "physicians": {"created": writer.raters.created},
        "decisions": {"created": writer.created, "unchanged": writer.unchanged},
    }
    if writer.conflicts.criteria:
        counts["conflicts"] = {"created": writer.conflicts.criteria}
        counts["warnings"] = [_conflicts_in_words(writer)]
    return counts


def _conflicts_in_words(writer: VoteWriter) -> str:
    """The number of opened conflicts, and who can take them: the raters of a file have no account."""
    opened = writer.conflicts
    responses = ngettext("%(n)s response", "%(n)s responses", opened.responses) % {"n": f"{opened.responses:,}"}
    words = ngettext(
        "In “%(group)s”, %(n)s conflict on %(responses)s is waiting under “Conflicts”.",
        "In “%(group)s”, %(n)s conflicts on %(responses)s are waiting under “Conflicts”.",
        opened.criteria,
    ) % {"group": writer.group.name, "n": f"{opened.criteria:,}", "responses": responses}
    members = Membership.objects.filter(group=writer.group, role=Membership.Role.ADJUDICATOR, active=True)
    if members.exclude(user__email="").exists():
        return words
    nobody = _("The group has no adjudicator with an account. Add one who graded none of these responses.")
    return f"{words} {nobody}"


@transaction.atomic
def import_decisions(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import decisions of one expert group (option ``group``, made if missing) as a closed batch.

    `ImportRefused` names every fault; nothing is written then.
    """
    check_references_at_once()
    faults = Faults()
    group, group_created = group_called(benchmark, options.get("group", ""))
    writer = VoteWriter(group, faults, by=by, at=at, rater_field="rater")
    places = Places(benchmark, faults)
    prescan(file, lambda first: DecisionReader(file, first))
    reader = DecisionReader(file, faults, progress=progress)
    for record, sheet, response, criterion in places.placed(reader):
        writer.add(
            Vote(
                line=record.line,
                case=sheet.case,
                response=response,
                rubric=sheet.rubric,
                criterion=criterion,
                rater=record.rater,
                outcome=record.outcome,
                stage=record.stage,
                note=record.note,
            )
        )
    faults.refuse_if_any()
    writer.write()
    counts = report(writer, group_created)
    if reader.unused:
        names = ", ".join(sorted(reader.unused)[:10])
        unread = _("Columns that were not read: %(names)s.") % {"names": names}
        counts["warnings"] = [*counts.get("warnings", []), unread]
    return counts
