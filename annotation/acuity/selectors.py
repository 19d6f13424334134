"""Reads of reference sets: their numbers, their items with the figures of the panel, and how two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.acuity.panel import AmbiguousBy, AmbiguousRule, PanelCase, panel_case
from annotation.acuity.references import Reference
from annotation.labels.batches import tasks_asking
from annotation.models import (
    FIRST_ROUND,
    LAST_ROUND,
    AcuityRuling,
    Batch,
    LabelQuestion,
    LabelTask,
    ReferenceItem,
    ReferenceSet,
    RulingRequest,
)
from annotation.selectors.case_work import of_excluded_cases
from rubrics.acuity.scales import Scale
from rubrics.acuity.stored import scale_of
from rubrics.models import Benchmark

# The rules that are compared before one is signed, each with its default threshold.
RULES = (
    AmbiguousRule(AmbiguousBy.DISPERSION, 0.75),
    AmbiguousRule(AmbiguousBy.ENTROPY, 0.7),
    AmbiguousRule(AmbiguousBy.MAJORITY, 0.75),
)
SET_COLUMNS = (
    *("number", "scale", "datasets", "ambiguous_rule", "minimum_votes", "round"),
    *ReferenceItem.Status.values,
    *("signed_by", "signed_at", "digest", "note", "imported_from"),
)
SET_TEXT = ("scale", "datasets", "signed_by", "note")
DIFFERENCE_COLUMNS = ("case", "first_status", "first_low", "first_high", "second_status", "second_low", "second_high")


def listed_sets(benchmark: Benchmark) -> QuerySet[ReferenceSet]:
    """The sets of a benchmark, the newest first, each with the number of its cases by status, ``n_…``."""
    counts = {
        f"n_{status.name.lower()}": Count("items", filter=Q(items__status=status)) for status in ReferenceItem.Status
    }
    # A query with GROUP BY does not use the ordering of the model.
    rows = ReferenceSet.objects.filter(benchmark=benchmark).select_related("scale").annotate(**counts)
    return rows.order_by("-number")


def count_outstanding(questions: Sequence[LabelQuestion]) -> tuple[int, int]:
    """How many votes on the questions are to be handed in, outside of closed batches, and how many rulings given."""
    tasks = tasks_asking(questions).filter(status__in=LabelTask.OPEN).exclude(batch__status=Batch.Status.CLOSED)
    tasks = tasks.exclude(of_excluded_cases())
    given = AcuityRuling.objects.filter(question=OuterRef("question"), case=OuterRef("case"))
    requests = RulingRequest.objects.filter(~Exists(given), question__in=questions, case__excluded_at=None)
    return tasks.count(), requests.count()


def set_rows(benchmark: Benchmark) -> Iterator[dict[str, object]]:
    """The sets as rows of `SET_COLUMNS`."""
    for own in listed_sets(benchmark):
        yield {
            "number": own.number,
            "scale": str(own.scale),
            "datasets": " ".join(own.datasets),
            "ambiguous_rule": own.ambiguous.in_words,
            "minimum_votes": own.minimum_votes,
            "round": round_of(own),
            **{status.value: getattr(own, f"n_{status.name.lower()}") for status in ReferenceItem.Status},
            "signed_by": own.signed_as,
            "signed_at": own.signed_at.isoformat(),
            "digest": own.digest,
            "note": own.note,
            "imported_from": own.imported_from,
        }


def round_of(reference_set: ReferenceSet) -> str:
    """Which votes give the references of panels, as files name it: ``1``, or ``last``."""
    return "last" if reference_set.round == LAST_ROUND else "1"


def panel_of_item(
    case: str, votes: Sequence[int], n_cannot_tell: int, n_levels: int, *, is_flagged: bool = False
) -> PanelCase:
    """The figures of a case from its frozen votes, low + high of each."""
    levels: list[tuple[int | None, int | None]] = [(vote // 2, (vote + 1) // 2) for vote in votes]
    return panel_case(case, [*levels, *[(None, None)] * n_cannot_tell], n_levels, is_flagged=is_flagged)


def item_columns(scale: Scale) -> tuple[str, ...]:
    """The columns of ``reference.csv``, with one for each level."""
    shares = (f"q_{level}" for level in scale.values)
    return (
        *("case", "status", "source", "low", "high", "m", "n_cannot_tell", "certainty", "dispersion", "entropy"),
        *shares,
        *("round", "m_last"),
    )


ITEM_TEXT = ("case", "low", "high")


def item_rows(reference_set: ReferenceSet) -> Iterator[dict[str, object]]:
    """The items of a set as rows of `item_columns`, by key."""
    scale = scale_of(reference_set.scale)
    rows = ReferenceItem.objects.filter(reference_set=reference_set).order_by("case__key").values_list(
        "case__key", "status", "source", "low", "high", "votes", "n_cannot_tell", "certainty", "later_votes"
    )  # fmt: skip
    for case, status, source, low, high, votes, n_cannot_tell, certainty, later_votes in rows:
        panel = panel_of_item(case, votes, n_cannot_tell, len(scale))
        has_votes = bool(votes)
        figures = {"dispersion": panel.dispersion, "entropy": panel.entropy}
        yield {
            "case": case,
            "status": status,
            "source": source,
            "low": "" if low is None else scale.values[low],
            "high": "" if high is None else scale.values[high],
            "m": len(votes),
            "n_cannot_tell": n_cannot_tell,
            "certainty": certainty,
            **{name: value if has_votes and not isnan(value) else None for name, value in figures.items()},
            **{
                f"q_{level}": float(share) if has_votes else None
                for level, share in zip(scale.values, panel.q.tolist(), strict=True)
            },
            # The round that the reference of a panel comes from; the figures above are those of round 1 always.
            "round": (LAST_ROUND if later_votes else FIRST_ROUND) if source == ReferenceItem.Source.PANEL else None,
            "m_last": len(later_votes) or None,
        }


@dataclass(frozen=True, slots=True)
class RuleComparison:
    """How many panel cases a rule calls ambiguous, and which of them the chosen rule does not, or the other way."""

    rule: AmbiguousRule
    n_ambiguous: int
    differing: list[str]
    is_chosen: bool


def compared_rules(
    references: Sequence[Reference], n_levels: int, chosen: AmbiguousRule, minimum: int
) -> list[RuleComparison]:
    """The chosen rule beside the others at their default thresholds, over cases with enough votes."""
    panels = [
        panel_of_item(
            reference.case, reference.votes, reference.n_cannot_tell, n_levels, is_flagged=bool(reference.is_flagged)
        )
        for reference in references
        if len(reference.votes) >= minimum and reference.n_cannot_tell <= len(reference.votes)
    ]
    flagged = {panel.case for panel in panels if chosen.holds(panel)}
    others: tuple[AmbiguousRule, ...] = RULES
    if any(reference.is_flagged is not None for reference in references):
        others = (*RULES, AmbiguousRule(AmbiguousBy.FLAG, 0.0))
    rules = [chosen, *(rule for rule in others if rule.by != chosen.by)]
    comparisons = []
    for rule in rules:
        own = {panel.case for panel in panels if rule.holds(panel)}
        comparisons.append(RuleComparison(rule, len(own), sorted(own ^ flagged), rule is chosen))
    return comparisons


def difference_rows(first: ReferenceSet, second: ReferenceSet) -> Iterator[dict[str, object]]:
    """Cases whose status or reference differs between two sets, by key; empty where a set does not have the case."""
    items = [
        {case: (status, low, high) for case, status, low, high in _items(own)} for own in (first, second)
    ]  # fmt: skip
    for case in sorted({*items[0], *items[1]}):
        before, after = (own.get(case, ("", "", "")) for own in items)
        if before != after:
            yield dict(zip(DIFFERENCE_COLUMNS, (case, *before, *after), strict=True))


def _items(reference_set: ReferenceSet) -> Iterator[tuple[str, str, str, str]]:
    values = scale_of(reference_set.scale).values
    rows = ReferenceItem.objects.filter(reference_set=reference_set)
    for case, status, low, high in rows.values_list("case__key", "status", "low", "high"):
        yield case, status, *("" if place is None else values[place] for place in (low, high))  # type: ignore[misc]
