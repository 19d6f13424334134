"""Reads the suggestions that were decided on in rubrics that were published, and what is known of their cases.

A suggestion counts once a version of its case's gold rubric was published after the decision: taken ones in the version
in which they were first published, rejected ones in the first that came after the rejection.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django.db.models import Sum

from annotation.models import Physician
from drafting.models import Fact, Suggestion, SuggestionsOpened
from drafting.stages.findings import CAUTION, NOTE, PROBLEM
from rubrics.models import AuthoringTime, Benchmark, Rubric, RubricItem
from scoring.models import EndpointKind

GRADES = {NOTE: 1, CAUTION: 2, PROBLEM: 3}  # of the gravest finding; 0 without one
N_GRADES = len(GRADES) + 1
NEED, NOTHING = "need", "none"  # beside the kinds of facts: what a suggestion rests on
PUBLISHED = (Rubric.Status.PUBLISHED, Rubric.Status.SUPERSEDED)
TAKEN = tuple(map(str, Suggestion.TAKEN))


@dataclass(frozen=True, slots=True)
class DecidedSuggestion:
    """A suggestion with the decision on it; ``author`` is a pseudonym. ``final_points`` and ``distance``: if taken."""

    suggestion: str
    case: str
    run: str
    recipe: str
    number: int
    axis: str
    kinds: tuple[str, ...]  # of the facts that it rests on, `NEED`, or `NOTHING`
    findings: tuple[tuple[str, str], ...]  # code and severity, each once
    state: str
    reason: int | None
    author: str
    month: str  # of the decision, in UTC: 2026-11
    points: int
    final_points: int | None
    distance: float | None
    seconds_read: int
    once_taken: bool  # also where the criterion was removed from the draft again
    stands: bool  # in the version in force
    endpoint_kind: str

    @property
    def is_taken(self) -> bool:
        """Whether it was taken, as it is or reworded."""
        return self.state in TAKEN

    @property
    def grade(self) -> int:
        """How grave its gravest finding is, 0 to 3."""
        return max((GRADES[severity] for _code, severity in self.findings), default=0)


@dataclass(frozen=True, slots=True)
class DraftedCase:
    """A case with a suggestion that counts. Seconds are active time, None where none was recorded."""

    case: str
    public_id: str
    version: int | None  # of the rubric in force
    n_criteria: int  # of that version
    n_from_suggestions: int
    author_seconds: int | None
    reviewer_seconds: int | None
    own_criteria: tuple[int, ...]  # of each author, when the suggestions opened


@dataclass(frozen=True, eq=False)
class DraftedInputs:
    """Suggestions by case and number, and cases by key."""

    suggestions: list[DecidedSuggestion]
    cases: list[DraftedCase]

    @property
    def by_rules(self) -> bool:
        """Whether rules drafted some of them."""
        return any(row.endpoint_kind == EndpointKind.RULES for row in self.suggestions)

    @cached_property
    def recipes_of(self) -> dict[str, set[str]]:
        """The recipes whose suggestions were decided on, by case."""
        recipes: defaultdict[str, set[str]] = defaultdict(set)
        for row in self.suggestions:
            recipes[row.case].add(row.recipe)
        return dict(recipes)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that figures rest on."""
        return self.digest_with(None)

    def digest_with(self, others: Any) -> str:
        """The same with other inputs, as JSON."""
        rows = [[asdict(row) for row in self.suggestions], [asdict(row) for row in self.cases], others]
        return hashlib.sha256(json.dumps(rows, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def decided_suggestions(benchmark: Benchmark) -> list[Suggestion]:
    """The rows that count, without their texts; two queries."""
    rows = Suggestion.objects.decided().filter(case__benchmark=benchmark, case__excluded_at=None)
    rows = rows.select_related("case", "run").order_by("case__key", "run__created_at", "run", "number")
    rows = rows.defer("text", "why", "final_text", "run__config", "case__conversation")
    published = Rubric.objects.filter(case__benchmark=benchmark, track="gold", status__in=PUBLISHED)
    latest: dict[int, datetime] = {}
    for case, at in published.values_list("case", "published_at"):
        if at is not None:
            latest[case] = max(at, latest.get(case, at))

    def counts(row: Suggestion) -> bool:
        if row.state in TAKEN:
            return row.published_in_id is not None
        at = latest.get(row.case_id)
        return at is not None and row.decided_at is not None and row.decided_at <= at

    return [row for row in rows if counts(row)]


def read_drafted(benchmark: Benchmark) -> DraftedInputs:
    """All of a benchmark; a fixed number of queries."""
    rows = decided_suggestions(benchmark)
    cases = {row.case_id: row.case for row in rows}
    rubrics = list(Rubric.objects.filter(case__in=cases, track="gold", status=Rubric.Status.PUBLISHED))
    in_force = {rubric.case_id: rubric for rubric in rubrics}
    held = {rubric.pk for rubric in rubrics} | {row.published_in_id for row in rows if row.published_in_id}
    items = list(
        RubricItem.objects.filter(rubric__in=held).values_list("rubric", "suggestion", "criterion__text", "points")
    )
    published_pairs = {(rubric, suggestion) for rubric, suggestion, _text, _points in items if suggestion}
    points_of = {(rubric, suggestion, text): points for rubric, suggestion, text, points in items if suggestion}
    kinds = _kinds_of_facts(rows)
    finals = dict(
        Suggestion.objects.filter(pk__in=[row.pk for row in rows], published_in__isnull=False).values_list(
            "pk", "final_text"
        )
    )
    once = set(
        Suggestion.objects.filter(pk__in=[row.pk for row in rows], events__state__in=TAKEN).values_list("pk", flat=True)
    )
    authors = _pseudonyms(benchmark, rows)

    def decided(row: Suggestion) -> DecidedSuggestion:
        own = in_force.get(row.case_id)
        taken = row.state in TAKEN
        assert row.decided_at is not None  # a constraint, as the next
        assert row.decided_by_id is not None
        place = (row.published_in_id, row.public_id, finals.get(row.pk, ""))
        rests_on = {kinds[row.run_id, row.case_id, n] for n in row.facts if (row.run_id, row.case_id, n) in kinds}
        return DecidedSuggestion(
            suggestion=row.public_id,
            case=row.case.key,
            run=row.run.public_id,
            recipe=f"{row.run.terms.get('recipe', '')} {row.run.terms.get('version', '')}".strip(),
            number=row.number,
            axis=row.axis,
            kinds=tuple(sorted(rests_on | ({NEED} if row.needs else set()))) or (NOTHING,),
            findings=tuple(dict.fromkeys((each["code"], each["severity"]) for each in row.findings)),
            state=row.state,
            reason=row.reason,
            author=authors[row.decided_by_id],
            month=f"{row.decided_at.astimezone(UTC):%Y-%m}",
            points=row.points,
            final_points=points_of.get(place) if taken else None,  # type: ignore[arg-type]
            distance=row.distance if taken else None,
            seconds_read=row.seconds_read,
            once_taken=taken or row.pk in once,
            stands=own is not None and (own.pk, row.public_id) in published_pairs,
            endpoint_kind=str(row.run.endpoint_kind),
        )

    return DraftedInputs([decided(row) for row in rows], _cases(cases, in_force, items))


def _kinds_of_facts(rows: Iterable[Suggestion]) -> dict[tuple[int, int, int], str]:
    pairs = {(row.run_id, row.case_id) for row in rows if row.facts}
    facts = Fact.objects.filter(run__in={run for run, _case in pairs}, case__in={case for _run, case in pairs})
    return {(run, case, n): str(kind) for run, case, n, kind in facts.values_list("run", "case", "number", "kind")}


def _pseudonyms(benchmark: Benchmark, rows: Iterable[Suggestion]) -> dict[int, str]:
    """The pseudonym of whoever decided; for those without one ``author N``, by the time of their first decision."""
    known = dict(Physician.objects.filter(benchmark=benchmark).values_list("user_id", "pseudonym"))
    ordered = sorted(rows, key=lambda row: (row.decided_at or datetime.min.replace(tzinfo=UTC), row.pk))
    others = [user for user in dict.fromkeys(row.decided_by_id for row in ordered) if user and user not in known]
    return known | {user: f"author {n}" for n, user in enumerate(others, start=1)}


def _cases(
    cases: Mapping[int, Any], in_force: Mapping[int, Rubric], items: Collection[tuple[int, str, str, int]]
) -> list[DraftedCase]:
    seconds: dict[tuple[int, str], int] = {
        (case, activity): total
        for case, activity, total in AuthoringTime.objects.filter(case__in=cases)
        .order_by()
        .values_list("case", "activity")
        .annotate(total=Sum("seconds"))
    }
    lists: defaultdict[int, list[int]] = defaultdict(list)
    for case, own in SuggestionsOpened.objects.filter(case__in=cases).values_list("case", "own_criteria"):
        lists[case].append(len(own))
    criteria: defaultdict[int, list[str]] = defaultdict(list)
    for rubric, suggestion, _text, _points in items:
        criteria[rubric].append(suggestion)
    rows = []
    for pk, case in sorted(cases.items(), key=lambda pair: pair[1].key):
        version = in_force.get(pk)
        suggestions = criteria[version.pk] if version is not None else []
        rows.append(
            DraftedCase(
                case=case.key,
                public_id=case.public_id,
                version=None if version is None else version.version,
                n_criteria=len(suggestions),
                n_from_suggestions=sum(map(bool, suggestions)),
                author_seconds=seconds.get((pk, AuthoringTime.Activity.WRITE)),
                reviewer_seconds=seconds.get((pk, AuthoringTime.Activity.REVIEW)),
                own_criteria=tuple(sorted(lists[pk])),
            )
        )
    return rows
