"""Which documents a search looks at. PostgreSQL answers that anew for each search, because most of it may change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.db.models import Exists, OuterRef, Q

from documents.models import Document


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents a search looks at; without values, the latest editions that are not retired."""

    language: str = ""  # a code; "zh" also finds "zh-Hans"
    jurisdiction: str = ""  # a code of ISO 3166, or INT
    kinds: tuple[str, ...] = ()  # of `Document.Kind`; empty for all
    max_tier: int | None = None  # 1 is the highest: with 2, tiers 1 and 2
    published_from: date | None = None  # leaves out documents without a date
    may_send: bool = False  # only what may be sent to models
    may_not_send: bool = False  # only the others
    include_retired: bool = False
    include_superseded: bool = False

    def condition(self) -> Q:
        """The condition on `Document`."""
        condition = Q()
        if self.language:
            condition &= Q(language__iexact=self.language) | Q(language__istartswith=f"{self.language}-")
        if self.jurisdiction:
            condition &= Q(jurisdictions__contains=[self.jurisdiction])
        if self.kinds:
            condition &= Q(kind__in=self.kinds)
        if self.max_tier is not None:
            condition &= Q(tier__lte=self.max_tier)
        if self.published_from is not None:
            condition &= Q(published_on__gte=self.published_from)
        if self.may_send:
            condition &= Q(may_send=True)
        if self.may_not_send:
            condition &= Q(may_send=False)
        if not self.include_retired:
            condition &= Q(retired_at__isnull=True)
        if not self.include_superseded:
            condition &= ~Q(Exists(Document.objects.filter(supersedes=OuterRef("pk"))))
        return condition
