"""How often bank items are used in a benchmark: in current rubrics, and in drafts."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

from accounts.models import User
from rubrics.models import Benchmark, Rubric, RubricItem
from rubrics.origins import hidden_from

# Names of bank items in the drafts that are being written or reviewed, with the rubric of each.
IN_DRAFTS = """
SELECT item ->> 'bank', rubric.id
FROM rubrics_rubricdraft draft
JOIN rubrics_rubric rubric ON rubric.id = draft.rubric_id
JOIN rubrics_case kase ON kase.id = rubric.case_id
CROSS JOIN LATERAL jsonb_array_elements(draft.content -> 'items') AS item
WHERE kase.benchmark_id = %s AND kase.excluded_at IS NULL
  AND rubric.status IN ('draft', 'in_review') AND item ->> 'bank' <> ''
"""


@dataclass(slots=True)
class Usage:
    """In how many published rubrics, and in how many drafts, an item is used."""

    published: int = 0
    drafts: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.published + self.drafts


def usage(benchmark: Benchmark) -> dict[str, Usage]:
    """Name of the item (BANK/KEY) → its use; unused items are left out. Two queries."""
    published: dict[str, set[int]] = {}
    for name, rubric in _in_published(benchmark):
        published.setdefault(name, set()).add(rubric)
    drafts: dict[str, set[int]] = {}
    for name, rubric in _in_drafts(benchmark):
        drafts.setdefault(name, set()).add(rubric)
    return {
        name: Usage(published=len(published.get(name, ())), drafts=len(drafts.get(name, ())))
        for name in sorted({*published, *drafts})
    }


def rubrics_with(benchmark: Benchmark, name: str, *, user: User) -> list[Rubric]:
    """The rubrics that use an item, current ones before drafts, by case.

    Those in review whose origins ``user`` must not see yet are left out.
    """
    stored = {rubric for each, rubric in [*_in_published(benchmark), *_in_drafts(benchmark)] if each == name}
    rows = Rubric.objects.filter(pk__in=stored).exclude(pk__in=hidden_from(user, benchmark)).select_related("case")
    return sorted(rows, key=lambda rubric: (rubric.status != Rubric.Status.PUBLISHED, rubric.case.key))


def _in_published(benchmark: Benchmark) -> list[tuple[str, int]]:
    items = RubricItem.objects.filter(
        rubric__case__benchmark=benchmark,
        rubric__case__excluded_at=None,
        rubric__status=Rubric.Status.PUBLISHED,
    ).exclude(bank_item="")
    return list(items.values_list("bank_item", "rubric_id").distinct())


def _in_drafts(benchmark: Benchmark) -> list[tuple[str, int]]:
    with connection.cursor() as cursor:
        cursor.execute(IN_DRAFTS, [benchmark.pk])
        return cursor.fetchall()
