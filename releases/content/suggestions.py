"""What the criteria of a release began as: ``suggestions.csv`` and ``facts.csv``, and what no release may hold.

A locator is always there. The text of a fact and the words that it quotes are there only where its document may be
quoted, and the text of a suggestion only where all of its documents may be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import ngettext

from consilium.core.errors import DomainError
from documents.models import Passage
from drafting.models import Fact, Suggestion
from releases.content.cases import cases_to_release
from releases.content.citations import CitedDocuments, locators
from rubrics.editor.citation import Citation, citations_of
from rubrics.imports.bulk import chunks
from rubrics.models import Benchmark, Rubric, RubricItem
from scoring.models import EndpointKind

SUGGESTION_COLUMNS = (
    *("case", "criterion", "suggestion", "recipe", "recipe_version", "state", "distance", "endpoint_kind"),
    *("points", "axis", "facts", "citations", "text"),
)
SUGGESTION_TEXT = (*("case", "suggestion", "recipe", "state", "endpoint_kind", "axis", "facts", "citations", "text"),)
FACT_COLUMNS = (
    *("case", "criterion", "suggestion", "fact", "kind", "quote_state", "support", "usable", "locator"),
    *("text", "words"),
)
FACT_TEXT = ("case", "suggestion", "kind", "quote_state", "support", "locator", "text", "words")
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class SuggestedPlace:
    """A criterion that began as a suggestion: its case, its place, and the suggestion's public id."""

    case: str
    criterion: int
    suggestion: str


def check_no_rules(benchmark: Benchmark) -> None:
    """`DomainError` where a criterion to release was drafted by rules; the demo benchmark may release such."""
    if benchmark.is_demo:
        return
    rubrics = Rubric.objects.current().filter(case__in=cases_to_release(benchmark))
    by_rules = Suggestion.objects.filter(run__endpoint_kind=EndpointKind.RULES).values("public_id")
    items = RubricItem.objects.filter(rubric__in=rubrics, suggestion__in=by_rules).exclude(suggestion="")
    n = items.count()
    if n:
        cases = list(items.order_by("rubric__case__key").values_list("rubric__case__key", flat=True).distinct()[:3])
        text = ngettext(
            "%(n)d criterion was drafted by rules and not by a language model, in case %(cases)s. Only "
            "the demo benchmark can release such criteria.",
            "%(n)d criteria were drafted by rules and not by a language model, in cases %(cases)s and "
            "perhaps others. Only the demo benchmark can release such criteria.",
            n,
        )
        raise DomainError(text % {"n": n, "cases": ", ".join(cases)})


def suggestion_rows(
    benchmark: Benchmark, places: Iterable[SuggestedPlace], documents: CitedDocuments
) -> Iterator[Sequence[Any]]:
    """`SUGGESTION_COLUMNS`, a few hundred at a time; notes the documents. Of a suggestion made elsewhere only its id is
    known.
    """
    for some in chunks(places, _AT_ONCE):
        rows = _suggestions(benchmark, some)
        cited = {name: citations_of(row.citations) for name, row in rows.items()}
        every = {citation for citations in cited.values() for citation in citations}
        names, quotable = locators(benchmark, every, documents), _quotable(every)
        for place in some:
            row = rows.get(place.suggestion)
            if row is None:
                yield (place.case, place.criterion, place.suggestion, *[""] * (len(SUGGESTION_COLUMNS) - 3))
                continue
            citations = cited[place.suggestion]
            may_quote = all(citation.passage in quotable for citation in citations)
            yield (
                *(place.case, place.criterion, place.suggestion, str(row.run.terms.get("recipe", ""))),
                *(row.run.terms.get("version", ""), row.state, "" if row.distance is None else row.distance),
                *(str(row.run.endpoint_kind), row.points, row.axis, " ".join(map(str, row.facts))),
                "; ".join(names[citation] for citation in citations if citation in names),
                row.text if may_quote else "",
            )


def fact_rows(
    benchmark: Benchmark, places: Iterable[SuggestedPlace], documents: CitedDocuments
) -> Iterator[Sequence[Any]]:
    """`FACT_COLUMNS`: the facts of each suggestion, a few hundred suggestions at a time; notes their documents."""
    for some in chunks(places, _AT_ONCE):
        rows = _suggestions(benchmark, some)
        facts: defaultdict[tuple[int, int], dict[int, Fact]] = defaultdict(dict)
        runs, cases = {row.run_id for row in rows.values()}, {row.case_id for row in rows.values()}
        rested_on = {(row.run_id, row.case_id, number) for row in rows.values() for number in row.facts}
        for fact in Fact.objects.filter(run__in=runs, case__in=cases).select_related("passage"):
            if (fact.run_id, fact.case_id, fact.number) in rested_on:
                facts[fact.run_id, fact.case_id][fact.number] = fact
        cited = {fact.pk: _citation(fact) for own in facts.values() for fact in own.values()}
        every = {citation for citation in cited.values() if citation is not None}
        names, quotable = locators(benchmark, every, documents), _quotable(every)
        for place in some:
            row = rows.get(place.suggestion)
            own = facts[row.run_id, row.case_id] if row is not None else {}
            for number in row.facts if row is not None else ():
                if number not in own:
                    continue
                fact = own[number]
                citation = cited[fact.pk]
                may_quote = citation is not None and citation.passage in quotable
                yield (
                    *(place.case, place.criterion, place.suggestion, number, fact.kind, fact.quote_state),
                    *(fact.support, "true" if fact.is_usable else "false"),
                    names.get(citation, "") if citation is not None else "",
                    *((fact.text, fact.words) if may_quote else ("", "")),
                )


def _suggestions(benchmark: Benchmark, places: Sequence[SuggestedPlace]) -> dict[str, Suggestion]:
    names = {place.suggestion for place in places}
    rows = Suggestion.objects.filter(public_id__in=names, case__benchmark=benchmark).select_related("run")
    return {row.public_id: row for row in rows.defer("run__config")}


def _citation(fact: Fact) -> Citation | None:
    if fact.passage is None or fact.start is None or fact.end is None:
        return None
    return Citation(fact.passage.public_id, fact.start, fact.end, fact.words)


def _quotable(citations: Iterable[Citation]) -> frozenset[str]:
    """Public ids of the passages whose documents may be quoted."""
    names = {citation.passage for citation in citations}
    rows = Passage.objects.filter(public_id__in=names, document__may_quote=True) if names else Passage.objects.none()
    return frozenset(rows.values_list("public_id", flat=True))
