"""The cases that a release holds, read from the database a few hundred at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform, KeyTransform

from releases.content.citations import locators
from releases.content.record import CitedPlace, Completions, ReleasedCase, ReleasedCriterion
from rubrics.editor.citation import Citation, citations_of
from rubrics.editor.draft_content import items_of
from rubrics.models import AcuityDataset, Benchmark, Candidate, Case, Response, Rubric, RubricDraft, RubricItem
from rubrics.parsing import as_imported

CHUNK = 200
# Flags that the product stores in metadata for its own use.
PRIVATE = frozenset({"self_identification", "acuity"})
# By the id of a criterion: fields of the file that the product does not read, and its original text in the file.
Origins = dict[int, tuple[dict[str, Any], dict[str, Any] | None]]


def cases_to_release(benchmark: Benchmark) -> QuerySet[Case]:
    """Cases that count and have a published rubric; an erratum with one replaces the case that it supersedes.

    Cases of a dataset about acuity whose texts may not be passed on are none of them.
    """
    return _publishable(benchmark).filter(~Q(metadata__has_key="acuity") | _may_be_passed_on()).order_by("pk")


def withheld_cases(benchmark: Benchmark) -> QuerySet[Case]:
    """Cases that would be released if their dataset's texts could be passed on."""
    return _publishable(benchmark).filter(~_may_be_passed_on(), metadata__has_key="acuity")


def _may_be_passed_on() -> Exists:
    return Exists(
        AcuityDataset.objects.filter(
            benchmark=OuterRef("benchmark"), name=OuterRef("acuity_dataset"), may_redistribute=True
        )
    )


def _publishable(benchmark: Benchmark) -> QuerySet[Case]:
    published = Rubric.objects.current().filter(case=OuterRef("pk"))
    errata = Case.objects.included().filter(supersedes=OuterRef("pk")).filter(Exists(published))
    cases = Case.objects.included().filter(Exists(published), benchmark=benchmark)
    dataset = KeyTextTransform("dataset", KeyTransform("acuity", "metadata"))
    return cases.filter(~Exists(errata)).alias(acuity_dataset=dataset)


def released_cases(benchmark: Benchmark) -> Iterator[ReleasedCase]:
    """Each case with its rubric, in the order in which the cases were made; at most `CHUNK` of them in memory."""
    last = 0
    while chunk := list(cases_to_release(benchmark).filter(pk__gt=last)[:CHUNK]):
        last = chunk[-1].pk
        yield from _released(chunk)


def _released(cases: Sequence[Case]) -> Iterator[ReleasedCase]:
    items: defaultdict[int, list[RubricItem]] = defaultdict(list)
    rows = RubricItem.objects.filter(rubric__in=Rubric.objects.current().filter(case__in=cases))
    for item in rows.select_related("criterion", "rubric").order_by("rubric_id", "position"):
        items[item.rubric.case_id].append(item)
    completions = _completions(cases)
    cited = {row.pk: citations_of(row.citations) for rows_of_case in items.values() for row in rows_of_case}
    names = locators(cases[0].benchmark, {citation for citations in cited.values() for citation in citations})
    origins = _origins([case for case in cases if _says_more_of_criteria(case.metadata)])
    for case in cases:
        own = items[case.pk]
        from_file = case.created_by_id is None
        yield ReleasedCase(
            key=case.key,
            conversation=case.conversation,
            criteria=tuple(
                _criterion(item, place, origins, _cited(case, item, place, cited[item.pk], names))
                for place, item in enumerate(own, start=1)
            ),
            version=own[0].rubric.version if own else 1,
            reference_answer=case.reference_answer,
            difficulty=case.difficulty,
            register=case.register,
            language=case.language,
            tags=tuple(case.all_tags),
            own_tags=tuple(case.tags),
            metadata={k: v for k, v in case.metadata.items() if k not in PRIVATE} if from_file else {},
            completions=completions.get(case.pk, Completions()),
            written_here=not from_file,
        )


def _cited(
    case: Case, item: RubricItem, place: int, citations: Sequence[Citation], names: Mapping[Citation, str]
) -> tuple[CitedPlace, ...]:
    """What a criterion cites; for the rubric of a file whose documents are not here, the locators that it gave."""
    if not citations and item.rubric.version == 1:
        kept = (case.metadata.get(as_imported.KEY) or {}).get(as_imported.CITATIONS) or {}
        return tuple(CitedPlace(case.key, place, locator) for locator in kept.get(str(place), ()))
    # A document may be in two collections: a locator is named once.
    cited: dict[str, Citation] = {}
    for citation in citations:
        if citation in names:
            cited.setdefault(names[citation], citation)
    return tuple(CitedPlace(case.key, place, locator, citation) for locator, citation in cited.items())


def _criterion(item: RubricItem, position: int, origins: Origins, cited: tuple[CitedPlace, ...]) -> ReleasedCriterion:
    extras, kept = origins.get(item.criterion_id, ({}, None))
    return ReleasedCriterion(
        position=position,
        text=item.criterion.text,
        points=item.points,
        tags=tuple(item.tags),
        source=item.source_note,
        element=item.case_element,
        expectation=item.expectation,
        bank=item.bank_item,
        cited=cited,
        suggestion=item.suggestion,
        extras=extras,
        kept=kept,
    )


def _completions(cases: Sequence[Case]) -> dict[int, Completions]:
    """The completions of each case: stored by its import at the same moment, and not written by a user here."""
    ideals: dict[int, tuple[str, str]] = {}
    references: defaultdict[int, list[str]] = defaultdict(list)
    kinds = {"physician": Candidate.Kind.PHYSICIAN, "reference": Candidate.Kind.REFERENCE}
    rows = Response.objects.filter(
        case__in=cases, candidate__name__in=kinds, setting="chat", author=None, created_at=F("case__created_at")
    )
    columns = ("case_id", "candidate__name", "candidate__kind", "sample", "text", "metadata")
    for case, name, kind, sample, text, metadata in rows.order_by("case_id", "sample").values_list(*columns):
        if kind != kinds[name]:
            continue
        if name == "reference":
            references[case].append(text)
        elif sample == 0:
            ideals[case] = (text, metadata.get("ideal_completions_group", ""))
    return {
        case: Completions(*ideals.get(case, ("", "")), references=tuple(references[case]))
        for case in {*ideals, *references}
    }


# Fields of criteria in the source file ----------------------------------------------------------------------------


def _says_more_of_criteria(metadata: dict[str, Any]) -> bool:
    kept = metadata.get(as_imported.KEY)
    return "criterion_extras" in metadata or (isinstance(kept, dict) and "criteria" in kept)


def _origins(cases: Sequence[Case]) -> Origins:
    """By criterion, its fields in the file beside text, points and tags.

    The metadata of a case names criteria by their place in the first version. From there they follow the row of the
    criterion, wherever it moves; where a criterion was reworded, the draft records the row that it came from.
    """
    if not cases:
        return {}
    origins: Origins = {}
    first: defaultdict[int, dict[int, int]] = defaultdict(dict)
    of_first = RubricItem.objects.filter(rubric__case__in=cases, rubric__track="gold", rubric__version=1)
    for case, position, criterion in of_first.values_list("rubric__case_id", "position", "criterion_id"):
        first[case][position] = criterion
    for row in cases:
        extras = row.metadata.get("criterion_extras") or {}
        kept = (row.metadata.get(as_imported.KEY) or {}).get("criteria") or {}
        for position, criterion in first[row.pk].items():
            place = str(position)
            if place in extras or place in kept:
                origins[criterion] = (extras.get(place, {}), kept.get(place))
    _follow_rewordings(cases, origins)
    return origins


def _follow_rewordings(cases: Sequence[Case], origins: Origins) -> None:
    drafts = RubricDraft.objects.filter(rubric__case__in=cases, rubric__track="gold", rubric__version__gt=1)
    drafts = drafts.filter(rubric__status__in=[Rubric.Status.PUBLISHED, Rubric.Status.SUPERSEDED])
    rows = list(drafts.order_by("rubric__case_id", "rubric__version").values_list("rubric_id", "content"))
    placed: defaultdict[int, dict[int, int]] = defaultdict(dict)
    items = RubricItem.objects.filter(rubric__in=[rubric for rubric, _content in rows])
    for rubric, position, criterion in items.values_list("rubric_id", "position", "criterion_id"):
        placed[rubric][position] = criterion
    for rubric, content in rows:
        for position, item in enumerate(items_of(content), start=1):
            now = placed[rubric].get(position)
            if now is not None and item.criterion in origins and now not in origins:
                origins[now] = origins[item.criterion]
