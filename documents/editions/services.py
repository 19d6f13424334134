"""Writes about later editions: carry citations over, and ask to reword criteria whose words are gone."""

from __future__ import annotations

from collections.abc import Collection as Items
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from documents.editions.selectors import CitingCriterion, OldCitation, citing_criteria
from documents.models import CarriedCitation, Document, Passage
from documents.quoting import Quote, Source
from rubrics.models import RevisionRequest, Rubric
from rubrics.services.revisions import request_revision


@transaction.atomic
def carry_citations(*, edition: Document, at: datetime) -> int:
    """Look in ``edition`` for the words of each citation of an earlier edition; returns the number of new findings.

    Citations that have a finding keep it: the texts of both editions never change. Call it when an edition is
    imported, and when a rubric is published that cites an earlier one.
    """
    # Two callers at once would write the same findings.
    Document.objects.select_for_update(no_key=True).only("pk").get(pk=edition.pk)
    known = set(CarriedCitation.objects.filter(edition=edition).values_list("passage_id", "start", "end"))
    missing = {
        (cited.passage.pk, cited.start, cited.end): cited
        for criterion in citing_criteria(edition)
        for cited in criterion.citations
        if (cited.passage.pk, cited.start, cited.end) not in known
    }
    if not missing:
        return 0
    source = Source(Document.objects.values_list("text", flat=True).get(pk=edition.pk))
    passages = list(edition.passages.order_by("start").defer("text"))
    rows = []
    for (passage, start, end), cited in missing.items():
        quote = source.find(cited.quote, near=cited.passage.start + start)
        place = place_in(passages, quote) if quote.holds else None
        new_passage, new_start, new_end = place or (None, None, None)
        rows.append(
            CarriedCitation(
                edition=edition,
                passage_id=passage,
                start=start,
                end=end,
                quote=cited.quote,
                match=quote.match.value if place else CarriedCitation.Match.ABSENT,
                new_passage=new_passage,
                new_start=new_start,
                new_end=new_end,
                created_at=at,
            )
        )
    CarriedCitation.objects.bulk_create(rows)
    return len(rows)


def carry_published(_before: Rubric | None, after: Rubric, at: datetime) -> None:
    """Look for the words of a version that was just published in the later editions of what it cites."""
    cited = {str(entry["passage"]) for entries in after.items.values_list("citations", flat=True) for entry in entries}
    if not cited:
        return
    documents = Document.objects.filter(passages__public_id__in=cited).distinct()
    for collection, key, edition in documents.values_list("collection", "key", "edition"):
        for later in Document.objects.filter(collection=collection, key=key, edition__gt=edition).defer("text"):
            carry_citations(edition=later, at=at)


def place_in(passages: list[Passage], quote: Quote) -> tuple[Passage, int, int] | None:
    """The passage where a quotation begins, and its place there. Words that go on in the next passage end with it."""
    for passage in passages:
        if passage.start <= quote.start < passage.end:
            return passage, quote.start - passage.start, min(quote.end, passage.end) - passage.start
    return None


@transaction.atomic
def request_revisions(*, edition: Document, items: Items[int], by: User, at: datetime) -> list[RevisionRequest]:
    """Ask to reword these criteria (ids of items of rubrics) whose cited words are not in ``edition``.

    `DomainError` where none is named, or where one does not rest on words that are gone.
    """
    behind = {criterion.item.pk: criterion for criterion in citing_criteria(edition) if criterion.is_left_behind}
    if not items:
        raise DomainError(_("Choose at least one criterion."))
    if not set(items) <= set(behind):
        raise DomainError(_("One of these criteria is not based on words that were removed. Reload the page."))
    return [_request(behind[item], edition, by, at) for item in sorted(set(items))]


def _named(cited: OldCitation) -> str:
    """The words, or the locator where they may not be quoted: reasons of requests are exported."""
    return f"“{cited.quote}”" if cited.passage.document.may_quote else cited.passage.locator


def _request(criterion: CitingCriterion, edition: Document, by: User, at: datetime) -> RevisionRequest:
    values = {
        "title": edition.title,
        "version": edition.edition_name,
        "quotes": " · ".join(_named(cited) for cited in criterion.citations if cited.is_absent),
    }
    reason = _("It is based on words that are not in the later edition of “%(title)s” (%(version)s): %(quotes)s")
    return request_revision(
        rubric=criterion.item.rubric,
        criterion=criterion.item.criterion,
        response=None,
        reason=reason % values,
        by=by,
        at=at,
    )
