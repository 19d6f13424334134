"""Suggestions as pages and files of rubrics show them, and one with all that it rests on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.urls import reverse

from drafting.models import DraftingTerms, Fact, Need, Suggestion
from rubrics import cited, origins
from rubrics.cited import ShownCitation
from rubrics.editor.citation import Citation, citations_of
from rubrics.models import Benchmark, Rubric, RubricItem
from scoring.models import EndpointKind


def describe(benchmark: Benchmark, names: Collection[str]) -> dict[str, origins.ShownSuggestion]:
    """What pages and files of rubrics show of suggestions; one query."""
    rows = Suggestion.objects.filter(public_id__in=names, case__benchmark=benchmark)
    rows = rows.select_related("run", "decided_by").defer("run__config")
    return {row.public_id: _described(benchmark, row) for row in rows}


def _described(benchmark: Benchmark, row: Suggestion) -> origins.ShownSuggestion:
    return origins.ShownSuggestion(
        public_id=row.public_id,
        address=reverse("drafting:origin", args=[benchmark.slug, row.public_id]),
        recipe=str(row.run.terms.get("recipe", "")),
        recipe_version=int(row.run.terms.get("version", 0)),
        is_reworded=row.state == Suggestion.State.EDITED,
        distance=row.distance,
        taken_by=str(row.decided_by) if row.decided_by and row.state in Suggestion.TAKEN else "",
        by_rules=row.run.endpoint_kind == EndpointKind.RULES,
    )


def is_shown_in_review(benchmark: Benchmark) -> bool:
    """Whether reviewers see which criteria were suggested before they have decided."""
    return DraftingTerms.objects.filter(benchmark=benchmark, reviewers_see=DraftingTerms.ReviewersSee.ALWAYS).exists()


@dataclass(frozen=True, slots=True)
class ShownFact:
    """A fact with the words of its passage; ``place`` is None where its quotation stands in no passage."""

    fact: Fact
    place: ShownCitation | None


@dataclass(frozen=True, slots=True)
class SuggestionTrail:
    """A suggestion with its facts and needs, and the criterion of the rubric in force that it has become, if any."""

    suggestion: Suggestion
    shown: origins.ShownSuggestion
    facts: list[ShownFact]
    needs: list[Need]
    others: list[ShownCitation]  # passages that the suggestion cites beside those of its facts
    criterion: RubricItem | None


def trail_of(benchmark: Benchmark, suggestion: Suggestion) -> SuggestionTrail:
    """All that leads from a criterion to the words that it rests on; a fixed number of queries."""
    own = {"run": suggestion.run_id, "case": suggestion.case_id}
    facts = list(Fact.objects.filter(**own, number__in=suggestion.facts).select_related("passage"))
    places = {fact.pk: _citation(fact) for fact in facts}
    citations = citations_of(suggestion.citations)
    every = [citation for citation in (*places.values(), *citations) if citation is not None]
    shown = cited.describe(benchmark, every)
    of_facts = set(places.values())
    items = RubricItem.objects.filter(rubric__in=Rubric.objects.current().filter(case=suggestion.case_id))
    return SuggestionTrail(
        suggestion=suggestion,
        shown=_described(benchmark, suggestion),
        facts=[ShownFact(fact, _shown(places[fact.pk], shown)) for fact in facts],
        needs=list(Need.objects.filter(**own, number__in=suggestion.needs)),
        others=[shown[own] for own in citations if own in shown and own not in of_facts],
        criterion=items.filter(suggestion=suggestion.public_id).select_related("criterion", "rubric").first(),
    )


def _shown(citation: Citation | None, shown: dict[Citation, ShownCitation]) -> ShownCitation | None:
    return None if citation is None else shown.get(citation)


def _citation(fact: Fact) -> Citation | None:
    """The words of a fact as a citation; all words of a passage are the passage as a whole."""
    if fact.passage is None or fact.start is None or fact.end is None:
        return None
    if (fact.start, fact.end) == (0, len(fact.passage.text)):
        return Citation(fact.passage.public_id)
    return Citation(fact.passage.public_id, fact.start, fact.end, fact.words)
