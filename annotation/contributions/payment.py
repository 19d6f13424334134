"""Payment: pieces and hours by rates. Decimal throughout; amounts to two places, half to even."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal

from django.db import transaction

from annotation.contributions.counted_work import CENT, ROLES, Contributor
from annotation.models import Physician
from annotation.services.groups import new_pseudonym
from rubrics.models import Benchmark

COLUMNS = ("row", "pseudonym", "name", "email", *ROLES, "hours", "amount", "currency")
TEXT = ("row", "pseudonym", "name", "email", "currency")


@dataclass(frozen=True, slots=True)
class Rates:
    """Money for a piece by role, and for an hour in any role; zero where none was typed."""

    currency: str = ""
    hour: Decimal = Decimal(0)
    item: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """Whether any rate was given."""
        return bool(self.hour) or any(self.item.values())


def amount(person: Contributor, rates: Rates) -> Decimal:
    """What one physician is owed: each piece by its role's rate, and the hours as they are printed."""
    pieces = sum((work.items * rates.item.get(work.role, Decimal(0)) for work in person.rows), Decimal(0))
    return (pieces + person.hours * rates.hour).quantize(CENT, ROUND_HALF_EVEN)


def payment_rows(
    people: Sequence[Contributor], pseudonyms: Mapping[int, str], rates: Rates
) -> Iterator[tuple[object, ...]]:
    """One row for each physician by pseudonym, and one for the total: the sum of the amounts as they are printed."""
    total = Decimal(0)
    items = dict.fromkeys(ROLES, 0)
    hours = Decimal(0)
    for person in sorted(people, key=lambda contributor: pseudonyms[contributor.user]):
        owed = amount(person, rates)
        total, hours = total + owed, hours + person.hours
        counts = [person.work[role].items if role in person.work else 0 for role in ROLES]
        items = {role: items[role] + number for role, number in zip(ROLES, counts, strict=True)}
        yield (
            *("physician", pseudonyms[person.user], person.name, person.email, *counts, f"{person.hours:.2f}"),
            *((f"{owed:.2f}", rates.currency) if rates.any else (None, "")),
        )
    yield (
        *("total", "", "", "", *items.values(), f"{hours:.2f}"),
        *((f"{total:.2f}", rates.currency) if rates.any else (None, "")),
    )


@transaction.atomic
def pseudonyms_of(*, benchmark: Benchmark, users: Collection[int]) -> dict[int, str]:
    """The pseudonym of each, made for those who have none yet: authors and auditors are in no group."""
    rows = Physician.objects.filter(benchmark=benchmark, user__in=users).values_list("user_id", "pseudonym")
    known = dict(rows.all())
    while missing := set(users) - set(known):  # again only where one was taken already
        physicians = (
            Physician(benchmark=benchmark, user_id=user, pseudonym=new_pseudonym()) for user in sorted(missing)
        )
        Physician.objects.bulk_create(physicians, ignore_conflicts=True)
        known = dict(rows.all())
    return known
