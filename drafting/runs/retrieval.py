"""Looks up the passages that a case is drafted from: searches the documents of the benchmark, and fuses what is found.

The lists of a case's queries are fused by reciprocal rank: a passage gets 1 / (60 + rank) from each list that has it
(Cormack, Clarke and Büttcher, SIGIR 2009, who found 60 to serve). Equal sums are in the order of document key, edition
and place in the document.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import structlog
from django.db.models import F, Func, JSONField

from documents.models import Collection as DocumentCollection
from documents.models import Passage
from documents.references import page_label
from documents.search.filters import Filters
from documents.search.finding import NotReady, matches_of
from drafting.recipes.content import RecipeContent
from drafting.stages.names import RETRIEVE
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import Output

logger = structlog.get_logger(__name__)

RANK_CONSTANT = 60
Row = Mapping[str, Any]
Place = tuple[str, int, int]  # document key, edition, place in the document


def query_of(
    content: RecipeContent, language: str, plan: Output | None, conversation: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """What is looked for in a case: the planned queries, or the words of the asker's last message; filters; limits.

    Only documents that may be sent to models are searched, whatever the recipe says.
    """
    filters, limits = content.filters, content.limits
    if plan is None:
        questions = [turn["content"] for turn in conversation if turn["role"] == "user"]
        queries = [{"text": questions[-1] if questions else "", "looking_for": "background"}]
    else:
        queries = list(plan["queries"])
    return {
        "queries": queries,
        "filters": {
            "collections": list(filters.collections),
            "language": language.split("-")[0] if filters.same_language else "",
            "jurisdiction": filters.jurisdiction,
            "kinds": list(filters.kinds),
            "max_tier": filters.max_tier,
            "published_from": filters.published_from.isoformat() if filters.published_from else None,
            "may_send": True,
        },
        "limits": {
            "per_query": limits.passages_per_query,
            "per_document": limits.passages_per_document,
            "pool": limits.pool,
        },
    }


def found_passages(benchmark: int, queries: Mapping[int, Output], *, at: datetime) -> dict[int, Output]:
    """The passages for each of several steps, by their ids; documents are read once for all with the same filters.

    Where the search index cannot be read on this machine, steps are left out.
    """
    groups = defaultdict[str, list[int]](list)
    for step, query in queries.items():
        groups[repr((sorted(query["filters"].items()), query["limits"]["per_query"]))].append(step)
    ranked: dict[int, list[list[int]]] = {}
    for steps in groups.values():
        try:
            ranked.update(_matches(benchmark, {step: queries[step] for step in steps}))
        except NotReady:
            logger.warning("drafting_search_not_ready", benchmark=benchmark, steps=len(steps))
    places = _places({passage for lists in ranked.values() for own in lists for passage in own})
    pools = {step: _fused(lists, places, queries[step]["limits"]) for step, lists in ranked.items()}
    passages = _passages({entry["id"] for pool in pools.values() for entry in pool})
    return {
        step: {
            "filters": queries[step]["filters"],
            "passages": [{**passages[entry.pop("id")], **entry} for entry in pool],
        }
        for step, pool in pools.items()
    }


def _matches(benchmark: int, queries: Mapping[int, Output]) -> dict[int, list[list[int]]]:
    """For each step the passages that match each of its queries, the best first. All have the same filters."""
    texts = list(dict.fromkeys(query["text"] for own in queries.values() for query in own["queries"]))
    first = next(iter(queries.values()))
    collections = DocumentCollection.objects.filter(benchmark=benchmark)
    if named := first["filters"]["collections"]:
        collections = collections.filter(public_id__in=named)
    limit = first["limits"]["per_query"]
    matches = matches_of(
        collections=collections, queries=texts, filters=_filters(first["filters"]), limit=limit
    )  # fmt: skip
    by_text = dict(zip(texts, matches, strict=True))
    places = _places({match.passage for own in matches for match in own})
    ranked = {
        text: [
            match.passage
            for match in sorted(
                (match for match in own if match.passage in places),
                key=lambda match: (-match.score, places[match.passage][1]),
            )[:limit]
        ]
        for text, own in by_text.items()
    }
    return {step: [ranked[query["text"]] for query in own["queries"]] for step, own in queries.items()}


def _filters(values: Row) -> Filters:
    published = values["published_from"]
    return Filters(
        language=values["language"],
        jurisdiction=values["jurisdiction"],
        kinds=tuple(values["kinds"]),
        max_tier=values["max_tier"],
        published_from=date.fromisoformat(published) if published else None,
        may_send=True,
    )


def _places(ids: Collection[int]) -> dict[int, tuple[int, Place]]:
    """The document of each passage, and where the passage stands."""
    rows = Passage.objects.filter(pk__in=ids).order_by()
    columns = ("pk", "document", "document__key", "document__edition", "ordinal")
    return {pk: (document, (key, edition, place)) for pk, document, key, edition, place in rows.values_list(*columns)}


def _fused(
    lists: Sequence[Sequence[int]], places: Mapping[int, tuple[int, Place]], limits: Row
) -> list[dict[str, Any]]:
    """Several lists as one, at most so many passages of a document: id, rank, score, numbers of queries."""
    scores: Counter[int] = Counter()
    queries = defaultdict[int, list[int]](list)
    for number, own in enumerate(lists, 1):
        for rank, passage in enumerate(own, 1):
            scores[passage] += 1 / (RANK_CONSTANT + rank)  # type: ignore[assignment]
            queries[passage].append(number)
    taken: Counter[int] = Counter()
    pool: list[dict[str, Any]] = []
    for passage in sorted(scores, key=lambda passage: (-scores[passage], places[passage][1])):
        document = places[passage][0]
        if taken[document] < limits["per_document"]:
            taken[document] += 1
            rank = len(pool) + 1
            pool.append({"id": passage, "rank": rank, "score": scores[passage], "queries": queries[passage]})
        if len(pool) == limits["pool"]:
            break
    return pool


def _passages(ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """Passages as they are kept with the step, by id."""
    rows = Passage.objects.select_related("document").defer("document__text").filter(pk__in=ids)
    return {row.pk: _stored(row) for row in rows}


def _stored(passage: Passage) -> dict[str, Any]:
    document = passage.document
    return {
        "passage": passage.public_id,
        "locator": passage.locator,
        "document": document.key,
        "title": document.title,
        "publisher": document.publisher,
        "version": document.version_label,
        "page": page_label(passage),
        "headings": list(passage.headings),
        "table_header": passage.table_header,
        "text": passage.text,
        "tier": document.tier,
        "language": document.language,
        "published_on": document.published_on.isoformat() if document.published_on else None,
        "jurisdictions": list(document.jurisdictions),
        "may_quote": document.may_quote,
    }


def sent_passages(run: PipelineRun, cases: Iterable[int]) -> dict[int, list[str]]:
    """The public ids of the passages that a run has found for these cases."""
    steps = PipelineStep.objects.filter(run=run, case__in=cases, stage=RETRIEVE, state=PipelineStep.State.DONE)
    ids = Func(
        F("output"),
        template="jsonb_path_query_array(%(expressions)s, '$.passages[*].passage')",
        output_field=JSONField(),
    )
    return dict(steps.order_by().annotate(ids=ids).values_list("case", "ids"))
