"""Imports rubrics from a table: a draft for each case whose rows differ from its current rubric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress
from rubrics import cited
from rubrics.access import is_author
from rubrics.editor.citation import Citation
from rubrics.editor.draft_content import MAX_ITEMS, DraftItem, digest_of, from_rubric, items_of
from rubrics.imports.bulk import check_references_at_once, chunks
from rubrics.imports.registry import Counts
from rubrics.imports.tables import check_table_options, notes_of, open_table
from rubrics.imports.unknown_cases import UnknownCases
from rubrics.models import Benchmark, Case, Rubric, RubricDraft, RubricItem
from rubrics.parsing.faults import Faults
from rubrics.selectors.axes import used_axes
from rubrics.services.drafts import TRACK, open_draft, save_draft
from rubrics.tables import RUBRICS, Row, rows_with_heading

CHUNK = 500
NOTHING_CITED: Mapping[Citation, cited.ShownCitation] = MappingProxyType({})
Status = Rubric.Status


@transaction.atomic
def import_rubrics(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Open or update a draft for every case whose rows differ; `ImportRefused` names every fault, and nothing changes.

    The rows of a case are its whole rubric. Cases that are not in the file, and those whose rows equal the stored
    rubric, are left alone, so that the same file again changes nothing. Nothing is published: a second physician
    reviews the drafts. A criterion with an unchanged text keeps its row, even if its points, tags or place changed.
    """
    writer = _writer(benchmark, options, by)
    check_references_at_once()
    faults = Faults()
    table = open_table(file, RUBRICS, options)
    assert table is not None  # rubrics are always a table
    faults.locate = table.place
    by_case: dict[str, list[Row]] = defaultdict(list)
    rows_of_table = table.raw_rows(file, faults, progress)
    for row in rows_with_heading(
        rows_of_table,
        faults,
        with_case=True,
        exact=table.is_workbook,
        chosen=table.chosen,
        own_axes=used_axes(benchmark),
    ):
        if not row.case:
            faults.add(row.line, "case", _("The row does not name a case."))
        elif len(by_case[row.case]) <= MAX_ITEMS:  # one more than there may be is enough to refuse the case
            by_case[row.case].append(row)
    unknown = UnknownCases(
        _(
            "%(n)s rows name cases that are not in this benchmark (%(keys)s). Import these cases first, or correct the "
            "short names."
        )
    )
    rubrics = {"created": 0, "unchanged": 0}
    criteria = {"created": 0, "unchanged": 0}
    for keys in chunks(by_case, CHUNK):
        stored = _stored_cases(benchmark, keys)
        cited.resolve_rows(benchmark, [row for key in keys for row in by_case[key]], faults)
        shown = cited.describe(
            benchmark,
            (citation for _case, items, _waits in stored.values() for item in items for citation in item.citations),
        )
        for key in keys:
            rows = rows_in_order(by_case[key], faults)
            if key not in stored:
                for row in rows:
                    unknown.add(row.line, "case", key)
                continue
            case, items, in_review = stored[key]
            matched_items = matched(rows, items, shown)
            kept = {item.id for item in items} & {item.id for item in matched_items}
            criteria["unchanged"] += len(kept)
            if digest_of(matched_items) == digest_of(items):
                rubrics["unchanged"] += 1
                continue
            criteria["created"] += len(matched_items) - len(kept)
            rubrics["created"] += 1
            if in_review:
                message = _("The rubric of “%(key)s” is in review. Withdraw it from review before you change it.")
                faults.add(rows[0].line, "case", message % {"key": key[:80]})
            elif case.excluded_at is not None:
                faults.add(rows[0].line, "case", _("This case was excluded, so its rubric cannot change."))
            elif not faults.total and not unknown.lines:
                rubric = open_draft(case=case, by=writer, at=at)
                Rubric.objects.select_for_update(no_key=True).get(pk=rubric.pk)  # before its draft, as every save does
                draft = RubricDraft.objects.select_for_update().get(rubric=rubric)
                if digest_of(items_of(draft.content)) != digest_of(items):  # changed while the file was read
                    faults.add(rows[0].line, "case", _("This rubric has been changed elsewhere since you opened it."))
                    continue
                save_draft(
                    rubric=rubric,
                    items=matched_items,
                    version=draft.version,
                    client_id=None,
                    by=by or writer,
                    writer=writer,
                    at=at,
                )
    unknown.note(faults)
    faults.refuse_if_any()
    return {"drafts": rubrics, "criteria": criteria, "warnings": [*notes_of(table), *_warnings(rubrics["created"])]}


def check_rubric_options(*, benchmark: Benchmark, options: Mapping[str, str], by: User | None) -> None:
    """`DomainError` on an option that cannot be right, whatever the file is."""
    _writer(benchmark, options, by)
    check_table_options(options)


def _writer(benchmark: Benchmark, options: Mapping[str, str], by: User | None) -> User:
    """The author of the drafts: the one who is named, else the person who imports.

    Somebody who imports for a named author cannot approve the drafts either, since that author may never have seen
    them.
    """
    if email := options.get("author", ""):
        by = User.objects.filter(email__iexact=email, is_active=True).first()
        if by is None or not is_author(by, benchmark):
            message = _("%(email)s is not an author of this benchmark.") % {"email": email[:200]}
            raise DomainError(message, field="author")
    if by is None:
        raise DomainError(_("A draft needs an author."), field="author")
    return by


def matched(
    rows: Sequence[Row],
    stored: Sequence[DraftItem],
    shown: Mapping[Citation, cited.ShownCitation] = NOTHING_CITED,
) -> list[DraftItem]:
    """Rows as items. An unchanged text keeps its item, equal texts in their order.

    Citations stay where the table has no column for them, or the same locators; ``shown`` has those of the items.
    """
    by_text: dict[str, list[DraftItem]] = defaultdict(list)
    for item in stored:
        by_text[_plain(item.text)].append(item)
    taken = {item.id for item in stored}
    items = []
    for place, row in enumerate(rows, start=1):
        same = by_text[_plain(row.text)]
        name = f"t{place}"
        while name in taken:
            name += "a"
        item = same.pop(0) if same else DraftItem(id=name, text=row.text)
        taken.add(item.id)
        items.append(
            replace(
                item,
                points=row.points,
                tags=tuple(row.tags),
                source=_unless_the_same(item.source, row.source),
                element=_unless_the_same(item.element, row.element),
                expectation=_unless_the_same(item.expectation, row.expectation),
                bank=_unless_the_same(item.bank, row.bank),
                citations=_citations(item, row, shown),
            )
        )
    return items


def _citations(item: DraftItem, row: Row, shown: Mapping[Citation, cited.ShownCitation]) -> tuple[Citation, ...]:
    locators = [shown[citation].locator for citation in item.citations if citation in shown]
    return item.citations if row.locators is None or row.locators == locators else row.citations


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _unless_the_same(stored: str, given: str) -> str:
    """The given text, or the stored one if only blanks and line ends differ, which a spreadsheet does not keep."""
    return stored if _plain(stored) == given else given


def rows_in_order(rows: list[Row], faults: Faults) -> list[Row]:
    """By position where every row has one, else as they stand in the file."""
    if len(rows) > MAX_ITEMS:
        faults.add(rows[MAX_ITEMS].line, "case", _("A rubric can have at most %(n)d criteria.") % {"n": MAX_ITEMS})
    positions = [row.position for row in rows]
    if None in positions:
        return rows
    seen: set[int | None] = set()
    for row in rows:
        if row.position in seen:
            faults.add(row.line, "position", _("Two criteria of the case have the same position."))
        seen.add(row.position)
    return sorted(rows, key=lambda row: row.position or 0)


def _stored_cases(benchmark: Benchmark, keys: Sequence[str]) -> dict[str, tuple[Case, list[DraftItem], bool]]:
    """Each case with the items that its file is compared with (an open draft, else the published rubric)."""
    cases = {case.pk: case for case in Case.objects.filter(benchmark=benchmark, key__in=keys).defer("conversation")}
    rubrics = Rubric.objects.filter(
        case__in=cases, track=TRACK, status__in=[Status.DRAFT, Status.IN_REVIEW, Status.PUBLISHED]
    ).select_related("draft")
    open_rubrics = {rubric.case_id: rubric for rubric in rubrics if rubric.status != Status.PUBLISHED}
    open_rubrics = {case: rubric for case, rubric in open_rubrics.items() if hasattr(rubric, "draft")}
    published = {rubric.pk: rubric.case_id for rubric in rubrics if rubric.status == Status.PUBLISHED}
    rows: dict[int, list[RubricItem]] = defaultdict(list)
    for item in RubricItem.objects.filter(rubric__in=published).select_related("criterion").order_by("position"):
        rows[published[item.rubric_id]].append(item)
    by_key = {}
    for pk, case in cases.items():
        rubric = open_rubrics.get(pk)
        items = items_of(rubric.draft.content) if rubric else from_rubric(rows[pk])
        by_key[case.key] = (case, items, rubric is not None and rubric.status == Status.IN_REVIEW)
    return by_key


def _warnings(drafts: int) -> list[str]:
    if not drafts:
        return []
    return [
        ngettext(
            "%(n)d rubric is now a draft. It will not be published until a second physician has reviewed it.",
            "%(n)d rubrics are now drafts. They will not be published until a second physician has reviewed them.",
            drafts,
        )
        % {"n": drafts}
    ]
