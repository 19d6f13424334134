"""The order in which checks and conflicts are listed and claimed: one order for the lists and for the services."""

from __future__ import annotations

from django.db.models import Case, Exists, IntegerField, OuterRef, QuerySet, Value, When

from accounts.models import User
from annotation.models import Adjudication, Assignment, Check, Involvement, Part


def in_order_of_checking(rows: QuerySet[Assignment], checker: User) -> QuerySet[Assignment]:
    """What this checker returned comes first, then what has waited longest, and last what this checker has released."""
    released = Check.objects.filter(assignment=OuterRef("pk"), round=OuterRef("round"), checker=checker, result="")
    rank = Case(
        When(checker=checker, then=Value(0)),
        When(Exists(released), then=Value(2)),
        default=Value(1),
        output_field=IntegerField(),
    )
    return rows.annotate(rank=rank).order_by("rank", "submitted_at", "pk")


def in_order_of_adjudication(rows: QuerySet[Adjudication], adjudicator: User) -> QuerySet[Adjudication]:
    """What this adjudicator holds comes first, then the lowest agreement, and last what they have released."""
    # The part in a response is recorded with the claim, and remains.
    claimed = Involvement.objects.filter(response=OuterRef("response"), user=adjudicator, part=Part.ADJUDICATOR)
    rank = Case(
        When(adjudicator=adjudicator, then=Value(0)),
        When(Exists(claimed), then=Value(2)),
        default=Value(1),
        output_field=IntegerField(),
    )
    return rows.annotate(rank=rank).order_by("rank", "agreement", "pk")
