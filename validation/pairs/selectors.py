"""Reads of near-miss pairs: groups, lists, the queue of physicians, and a pair with its change marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, F, Q, QuerySet, Value
from django.db.models.functions import MD5, Concat

from accounts.models import User
from rubrics.models import Benchmark
from validation.access import decides_in
from validation.models import ErrorKind, NearMissPair, PairGroup, PairJudgement
from validation.own_counts import OwnCounts

State = NearMissPair.State
# How pages sort pairs: what physicians agree on, or what is still open.
STATUSES = ("open", "disputed", "dangerous", "minor", "flawed", "no_error")


def groups_of(benchmark: Benchmark) -> QuerySet[PairGroup]:
    """The groups of a benchmark, the newest first, with the numbers of their pairs."""
    n = {
        f"n_{name}": Count("pairs", filter=condition)
        for name, condition in {
            "all": Q(),
            "open": Q(pairs__state=State.PROPOSED),
            "disputed": Q(pairs__disputed=True),
            "dangerous": Q(pairs__grade="dangerous"),
            "other": Q(pairs__grade__in=["minor", "flawed"]),
            "rejected": Q(pairs__state=State.REJECTED),
        }.items()
    }
    return PairGroup.objects.filter(benchmark=benchmark).select_related("created_by").annotate(**n)


def pairs_of(
    benchmark: Benchmark, *, group: str = "", state: str = "", status: str = "", kind: str = ""
) -> QuerySet[NearMissPair]:
    """The pairs of a benchmark, the newest first; an empty field includes everything."""
    rows = NearMissPair.objects.filter(group__benchmark=benchmark)
    if group:
        rows = rows.filter(group__public_id=group)
    if state:
        rows = rows.filter(state=state)
    if kind in ErrorKind.values:
        rows = rows.filter(kind=kind)
    if status == "open":
        rows = rows.filter(state=State.PROPOSED, disputed=False)
    elif status == "disputed":
        rows = rows.filter(disputed=True)
    elif status in STATUSES:
        rows = rows.filter(grade=status)
    own: QuerySet[NearMissPair] = (
        rows.select_related("group", "case").annotate(n_judgements=Count("judgements")).order_by("-pk")
    )
    return own


@dataclass(frozen=True, slots=True)
class Side:
    """A text of a pair: what is before its change, the change, and what is behind."""

    before: str
    changed: str
    behind: str


def sides_of(pair: NearMissPair) -> tuple[Side, Side]:
    """Reference and candidate."""
    reference, candidate = (
        Side(text[: pair.start], text[pair.start : end], text[end:])
        for text, end in ((pair.reference, pair.reference_end), (pair.candidate, pair.candidate_end))
    )
    return reference, candidate


# The queue ---------------------------------------------------------------------------------------------------------


def open_pairs(benchmark: Benchmark, user: User | AnonymousUser) -> QuerySet[NearMissPair]:
    """What waits for a judgement of ``user``, in an order of their own: two people seldom look at the same at once."""
    rows = NearMissPair.objects.filter(group__benchmark=benchmark).open_to(user.pk)
    own: QuerySet[NearMissPair] = rows.annotate(place=MD5(Concat(F("public_id"), Value(f" {user.pk}")))).order_by(
        "-disputed", "place"
    )
    return own


def open_by_benchmark(user: User | AnonymousUser) -> QuerySet[NearMissPair, Any]:
    """Benchmark (id), and how many pairs wait there for a judgement of ``user``."""
    waiting = NearMissPair.objects.filter(group__benchmark__in=Benchmark.objects.filter(decides_in(user)))
    return waiting.open_to(user.pk).order_by().values_list("group__benchmark").annotate(n=Count("pk"))


def own_counts(benchmark: Benchmark, user: User | AnonymousUser) -> OwnCounts:
    """The counts of the queue of ``user``; three queries."""
    unread = NearMissPair.objects.filter(group__benchmark=benchmark).unread_by(user.pk)
    return OwnCounts(own_judgements(benchmark, user).count(), open_pairs(benchmark, user).count(), unread.count())


def own_judgements(benchmark: Benchmark, user: User | AnonymousUser) -> QuerySet[PairJudgement]:
    """What ``user`` has judged on cases that count, the newest first."""
    rows = PairJudgement.objects.filter(pair__group__benchmark=benchmark, physician=user.pk)
    return rows.filter(pair__case__excluded_at=None).select_related("pair").order_by("-judged_at", "-pk")
