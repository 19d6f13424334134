"""Cluster criteria: bank items that apply to every case with an agreed category, and the cases that lack them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from rubrics.bank.catalogue import applying
from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.models import Benchmark, Case, Rubric, RubricDraft, RubricItem
from rubrics.parsing.bank import BankEntry

Status = Rubric.Status


def cluster_tag(entry: BankEntry) -> str:
    """The tag that slices scores by cluster, as in HealthBench."""
    return f"cluster:{entry.key}"


@dataclass(frozen=True, slots=True)
class Held:
    """The parts of a rubric that may make a cluster criterion needless: names of bank items, tags, and texts."""

    names: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    def has(self, entry: BankEntry) -> bool:
        """Whether the criterion is there: by its source, by its cluster, or by its very text.

        An imported benchmark may have its own wording of a cluster; a second one would count it twice.
        """
        return (
            entry.name in self.names or cluster_tag(entry) in self.tags or bool(self.texts & set(entry.text.values()))
        )


@dataclass(frozen=True, slots=True)
class Lack:
    """A case and the cluster criteria that apply to it and that its rubric does not have."""

    case: Case
    status: str  # of the version that was looked at: draft, in review or published; empty where there is none
    missing: tuple[BankEntry, ...]


def with_categories(benchmark: Benchmark, entries: Iterable[BankEntry]) -> QuerySet[Case]:
    """The cases to which any cluster criterion applies, by their own tags or by those agreed on."""
    tags = sorted({tag for entry in entries for tag in entry.applies_to})
    return (
        Case.objects.included()
        .filter(Q(tags__overlap=tags) | Q(label_tags__overlap=tags), benchmark=benchmark)
        .defer("conversation", "reference_answer", "metadata")
        .order_by("key")
    )


def lacks(cases: Sequence[Case], entries: Sequence[BankEntry]) -> list[Lack]:
    """For each case, what its rubric lacks: the version being written, else the published one. Three queries."""
    status, held = _held(cases, entries)
    lacking = []
    for case in cases:
        own = held.get(case.pk, Held())
        missing = tuple(entry for entry in applying(entries, case.all_tags) if not own.has(entry))
        lacking.append(Lack(case=case, status=status.get(case.pk, ""), missing=missing))
    return lacking


def missing_from(
    case: Case, entries: Sequence[BankEntry], stored: Sequence[DraftItem] | None = None
) -> list[BankEntry]:
    """The cluster criteria that a case lacks; ``stored`` are the items of its draft if they are at hand."""
    if stored is None:
        return list(lacks([case], entries)[0].missing)
    own = _of_items(stored)
    return [entry for entry in applying(entries, case.all_tags) if not own.has(entry)]


@dataclass(frozen=True, slots=True)
class ClusterCriterion:
    """A criterion (its id) of a current rubric that belongs to a cluster; with ``negative`` points it is a fault."""

    criterion: int
    cluster: str
    negative: bool


def cluster_criteria(benchmark: Benchmark, entries: Sequence[BankEntry]) -> list[ClusterCriterion]:
    """The criteria of current rubrics that belong to the clusters of ``entries``, by cluster and id. One query.

    Rubrics on other tracks do not count: they may have the same criterion with points of the other sign.
    """
    current = Rubric.objects.current().filter(case__benchmark=benchmark, case__excluded_at=None)
    items = RubricItem.objects.filter(_of_clusters(entries), rubric__in=current)
    rows = list(
        items.order_by("criterion", "pk").values_list("criterion", "points", "bank_item", "tags", "criterion__text")
    )
    criteria = {}
    for entry in entries:
        for criterion, points, name, tags, text in rows:
            if Held(frozenset([name]), frozenset(tags), frozenset([text])).has(entry):
                criteria[entry.key, criterion] = ClusterCriterion(criterion, entry.key, points < 0)
    return [criteria[key] for key in sorted(criteria)]


def _of_clusters(entries: Iterable[BankEntry]) -> Q:
    """Items that may be a cluster criterion, as `Held.has` tells them."""
    chosen = list(entries)
    return (
        Q(bank_item__in=[entry.name for entry in chosen])
        | Q(tags__overlap=[cluster_tag(entry) for entry in chosen])
        | Q(criterion__text__in=[text for entry in chosen for text in entry.text.values()])
    )


def _of_items(items: Iterable[DraftItem]) -> Held:
    rows = list(items)
    return Held(
        names=frozenset(item.bank for item in rows if item.bank),
        tags=frozenset(tag for item in rows for tag in item.tags),
        texts=frozenset(item.text for item in rows),
    )


def _held(cases: Sequence[Case], entries: Sequence[BankEntry]) -> tuple[dict[int, str], dict[int, Held]]:
    """The status of the version that counts for each case, and what it holds."""
    ids = [case.pk for case in cases]
    status: dict[int, str] = {}
    held: dict[int, Held] = {}
    drafts = RubricDraft.objects.filter(rubric__case__in=ids, rubric__status__in=[Status.DRAFT, Status.IN_REVIEW])
    for draft in drafts.select_related("rubric"):
        status[draft.rubric.case_id] = draft.rubric.status
        held[draft.rubric.case_id] = _of_items(items_of(draft.content))
    published = Rubric.objects.filter(
        case__in=[pk for pk in ids if pk not in status], status=Status.PUBLISHED, track="gold"
    )
    rubrics = dict(published.values_list("pk", "case_id"))
    status |= dict.fromkeys(rubrics.values(), Status.PUBLISHED)
    # Only items that could be cluster criteria: a large benchmark has fifty thousand others.
    items = RubricItem.objects.filter(rubric__in=list(rubrics)).filter(_of_clusters(entries))
    rows: dict[int, list[tuple[str, list[str], str]]] = {}
    for rubric, name, tags, text in items.values_list("rubric_id", "bank_item", "tags", "criterion__text"):
        rows.setdefault(rubrics[rubric], []).append((name, tags, text))
    for case, criteria in rows.items():
        held[case] = Held(
            names=frozenset(name for name, _tags, _text in criteria if name),
            tags=frozenset(tag for _name, tags, _text in criteria for tag in tags),
            texts=frozenset(text for _name, _tags, text in criteria),
        )
    return status, held
