"""Criteria that cite an earlier edition of a document, and what became of their citations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from documents.models import CarriedCitation, Document, Passage
from documents.quoting import nearest_words
from rubrics.models import RevisionRequest, Rubric, RubricItem


@dataclass(frozen=True, slots=True)
class OldCitation:
    """A citation of an earlier edition. Without marked words the whole passage is the quotation."""

    passage: Passage
    start: int
    end: int
    quote: str
    carried: CarriedCitation | None  # None until somebody has looked

    @property
    def is_absent(self) -> bool:
        """Whether its words are known not to be in the later edition."""
        return self.carried is not None and self.carried.match == CarriedCitation.Match.ABSENT


@dataclass(frozen=True, slots=True)
class CitingCriterion:
    """A criterion in force that cites an earlier edition."""

    item: RubricItem  # with its rubric, case and criterion
    citations: tuple[OldCitation, ...]
    is_requested: bool  # whether somebody asked already to reword it

    @property
    def is_left_behind(self) -> bool:
        """Whether words that it rests on are not in the later edition."""
        return any(cited.is_absent for cited in self.citations)

    @property
    def is_carried(self) -> bool:
        """Whether all words that it rests on are known to be in the later edition."""
        return all(cited.carried is not None and not cited.is_absent for cited in self.citations)


def citing_criteria(edition: Document) -> list[CitingCriterion]:
    """Criteria of rubrics in force that cite an edition before this one, by case and place. Four queries."""
    passages = {
        passage.public_id: passage
        for passage in Passage.objects.filter(
            document__collection=edition.collection_id, document__key=edition.key, document__edition__lt=edition.edition
        ).select_related("document").defer("document__text")
    }  # fmt: skip
    if not passages:
        return []
    items = (
        RubricItem.objects.exclude(citations=[])
        .filter(
            rubric__in=Rubric.objects.current(),
            rubric__case__benchmark=edition.collection.benchmark_id,
            rubric__case__excluded_at__isnull=True,
        )
        .select_related("rubric__case", "criterion")
        .order_by("rubric__case__key", "rubric__track", "position")
    )  # fmt: skip
    citing = [item for item in items if any(entry["passage"] in passages for entry in item.citations)]
    carried = {
        (row.passage_id, row.start, row.end): row
        for row in CarriedCitation.objects.filter(edition=edition)
        .select_related("new_passage__document")
        .defer("new_passage__document__text")
    }
    requested = set(
        RevisionRequest.objects.filter(
            criterion__in=[item.criterion_id for item in citing], status=RevisionRequest.Status.OPEN
        ).values_list("rubric", "criterion")
    )
    return [
        CitingCriterion(
            item,
            tuple(_old_citations(item.citations, passages, carried)),
            (item.rubric_id, item.criterion_id) in requested,
        )
        for item in citing
    ]


def _old_citations(
    entries: Iterable[dict[str, object]],
    passages: dict[str, Passage],
    carried: dict[tuple[int, int, int], CarriedCitation],
) -> Iterable[OldCitation]:
    for entry in entries:
        passage = passages.get(str(entry["passage"]))
        if passage is None:
            continue
        start, end, quote = 0, len(passage.text), passage.text
        if entry["quote"]:
            start, end, quote = int(str(entry["start"])), int(str(entry["end"])), str(entry["quote"])
        yield OldCitation(passage, start, end, quote, carried.get((passage.pk, start, end)))


def nearest_in(edition: Document, criteria: Iterable[CitingCriterion]) -> dict[tuple[int, int, int], str]:
    """(passage, start, end) of each citation whose words are gone → the stretch of the later edition most like it."""
    text = Document.objects.values_list("text", flat=True).get(pk=edition.pk)
    return {
        (cited.passage.pk, cited.start, cited.end): nearest_words(cited.quote, text)
        for criterion in criteria
        for cited in criterion.citations
        if cited.is_absent
    }
