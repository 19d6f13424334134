"""Criteria that cite an earlier edition of a document, and what became of their citations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, Func, JSONField, OuterRef, Q, QuerySet, Value
from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import User
from accounts.unread_cases import unread_by
from documents.models import CarriedCitation, Document, Passage
from documents.quoting import nearest_words
from rubrics.access import is_author
from rubrics.models import Benchmark, Case, RevisionRequest, Rubric, RubricContributor, RubricDraft, RubricItem
from rubrics.waiting import MAX_LINES, Waits


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


def waiting_lines(user: User, benchmark: Benchmark, case: Case | None = None) -> list[Waits]:
    """Lines of the authors' dashboard: rubrics that cite an edition with a later one.

    They are drafts that ``user`` is writing, and published rubrics on which ``user`` wrote, or which ``user`` reads and
    on which nobody wrote here, as on imported ones, as long as no later version is being written.
    """
    if not is_author(user, benchmark):
        return []
    rows = list(_citing(user, benchmark, case))
    cited = {entry["passage"] for *_case, entries in rows for entry in entries}
    if not cited:
        return []
    superseded = Passage.objects.filter(
        public_id__in=cited, document__collection__benchmark=benchmark, document__superseded_by__isnull=False
    )
    titles = dict(superseded.values_list("public_id", "document__title"))
    by_case: dict[tuple[str, str], dict[str, None]] = {}
    for key, public_id, _place, entries in rows:
        for entry in entries:
            if entry["passage"] in titles:
                by_case.setdefault((key, public_id), {})[titles[entry["passage"]]] = None
    return [
        Waits(
            label=gettext_lazy("Cites a superseded edition"),
            key=key,
            address=reverse("rubrics:write-rubric", args=[benchmark.slug, public_id]),
            detail=", ".join(names),
            sentence=ngettext(
                "This rubric cites a superseded edition of %(documents)s.",
                "This rubric cites superseded editions of %(documents)s.",
                len(names),
            )
            % {"documents": ", ".join(f"“{name}”" for name in names)},
        )
        for (key, public_id), names in list(by_case.items())[:MAX_LINES]
    ]


def _citing(user: User, benchmark: Benchmark, case: Case | None) -> QuerySet[RubricItem, Any]:
    """Short name, id and citations of rubrics as in `waiting_lines`, in the order of cases; one query."""
    writers = RubricContributor.objects.filter(rubric=OuterRef("rubric"))
    mine = Q(Exists(writers.filter(user=user.pk)))
    of_benchmark: dict[str, Any] = {"rubric__case__benchmark": benchmark, "rubric__case__excluded_at__isnull": True}
    if case is not None:
        of_benchmark["rubric__case"] = case
    names = {"key": F("rubric__case__key"), "address": F("rubric__case__public_id")}
    written = Rubric.objects.filter(case=OuterRef("rubric__case"), status__in=["draft", "in_review"])
    published = RubricItem.objects.exclude(citations=[]).filter(
        mine | (~Q(Exists(writers)) & ~unread_by(user.pk, "rubric__case")),
        ~Q(Exists(written.filter(draft__isnull=False))),
        rubric__in=Rubric.objects.current(),
        **of_benchmark,
    )
    drafts = RubricDraft.objects.filter(
        mine | Q(rubric__created_by=user.pk), rubric__status=Rubric.Status.DRAFT, **of_benchmark
    )
    in_draft = Func(
        F("content"),
        template="jsonb_path_query_array(%(expressions)s, '$.items[*].citations[*]')",
        output_field=JSONField(),
    )
    rows = published.annotate(**names, place=F("position")).values_list("key", "address", "place", "citations")
    others = drafts.annotate(**names, place=Value(0), cited=in_draft).exclude(cited=[])
    both = rows.union(others.values_list("key", "address", "place", "cited"), all=True)
    return both.order_by("key", "place")  # type: ignore[misc]  # of the annotations, which the plugin forgets


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
