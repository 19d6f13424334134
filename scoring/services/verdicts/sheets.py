"""The current rubric of a case, and which of its criteria a file means."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from rubrics.models import Benchmark, RubricItem
from rubrics.parsing.faults import Faults


@dataclass(slots=True)
class Sheet:
    """The rubric of a case: (criterion, text, points) in order."""

    case: int
    rubric: int
    items: list[tuple[int, str, int]] = field(default_factory=list)

    def same_criteria(self, pairs: Sequence[tuple[str, int]]) -> list[int] | None:
        """The criteria with these texts and points, which must be all of them, in this order or another; else None.

        Criteria with the same text and points are taken in their own order.
        """
        known: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
        for criterion, text, points in reversed(self.items):
            known[text, points].append(criterion)
        if Counter(pairs) != Counter({pair: len(same) for pair, same in known.items()}):
            return None
        return [known[pair].pop() for pair in pairs]

    def criteria_called(
        self, texts: Sequence[str], places: Sequence[str], line: int, faults: Faults
    ) -> list[int | None]:
        """The criterion of each text; a fault at its place, and None, where it is ambiguous.

        A text that the rubric has twice is identified by order where the list has each of its criteria.
        """
        known: defaultdict[str, list[int]] = defaultdict(list)
        for criterion, text, _points in self.items:
            known[text].append(criterion)
        named = Counter(texts)
        taken: Counter[str] = Counter()
        criteria: list[int | None] = []
        for text, place in zip(texts, places, strict=True):
            same = known.get(text, [])
            position = taken[text]
            taken[text] += 1
            if not same:
                faults.add(line, place, _("The rubric of this case has no criterion with this text."))
            elif position >= len(same):
                faults.add(line, place, _("This criterion is already in the list."))
            elif named[text] < len(same):
                message = _("This text appears %(n)s times in the rubric of this case, but fewer times in the list.")
                faults.add(line, place, message % {"n": len(same)})
            else:
                criteria.append(same[position])
                continue
            criteria.append(None)
        return criteria


def sheets_of(benchmark: Benchmark, keys: Iterable[str]) -> dict[str, Sheet]:
    """The published gold rubrics of the cases called ``keys``."""
    sheets: dict[str, Sheet] = {}
    items = RubricItem.objects.filter(
        rubric__status="published",
        rubric__track="gold",
        rubric__case__key__in=list(keys),
        rubric__case__benchmark=benchmark,
    )
    columns = ("rubric__case__key", "rubric__case_id", "rubric_id", "criterion_id", "criterion__text", "points")
    for key, case, rubric, criterion, text, points in items.order_by("rubric", "position").values_list(*columns):
        sheets.setdefault(key, Sheet(case, rubric)).items.append((criterion, text, points))
    return sheets
