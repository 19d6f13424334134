"""Notifies reviewers of a submitted rubric, and its authors of its return or publication."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from django.urls import reverse

from accounts.models import Notification, User
from accounts.services.notifications import notify_each, notify_of_thread
from rubrics.models import AuthoringRole, Rubric, RubricContributor

KIND = Notification.Kind.RUBRIC


def notify_of_waiting(rubrics: Sequence[Rubric], *, but: User, at: datetime) -> None:
    """Tell each author how many rubrics by others wait for review; an unread notice is brought up to date."""
    if not rubrics:
        return
    benchmark = rubrics[0].case.benchmark
    waiting = Rubric.objects.filter(case__benchmark=benchmark, status=Rubric.Status.IN_REVIEW).count()
    wrote = Counter(
        RubricContributor.objects.filter(
            rubric__case__benchmark=benchmark, rubric__status=Rubric.Status.IN_REVIEW
        ).values_list("user", flat=True)
    )
    authors = AuthoringRole.objects.filter(benchmark=benchmark, role=AuthoringRole.Role.AUTHOR, active=True)
    for role in authors.exclude(user=but).select_related("user"):
        count = waiting - wrote[role.user_id]
        if count > 0:
            notify_of_thread(
                user=role.user,
                kind=KIND,
                benchmark_title=benchmark.title,
                url=reverse("rubrics:reviews", args=[benchmark.slug]),
                at=at,
                what="waiting",
                count=count,
            )


def notify_of_return(rubric: Rubric, *, but: User, at: datetime) -> None:
    """Notify the contributors of a rubric that it was returned, with the page that shows the reason."""
    benchmark = rubric.case.benchmark
    notify_each(
        people={
            user: {"what": "returned", "case": rubric.case.key} for user in _writers([rubric])[rubric.pk] - {but.pk}
        },
        kind=KIND,
        benchmark_title=benchmark.title,
        url=reverse("rubrics:review", args=[benchmark.slug, rubric.case.public_id]),
        at=at,
    )


def notify_of_publishing(rubrics: Sequence[Rubric], *, but: User, at: datetime) -> None:
    """Tell the contributors of these rubrics that they count now; one notice covers many rubrics."""
    if not rubrics:
        return
    benchmark = rubrics[0].case.benchmark
    written: dict[int, list[Rubric]] = defaultdict(list)
    writers = _writers(rubrics)
    for rubric in rubrics:
        for user in writers[rubric.pk] - {but.pk}:
            written[user].append(rubric)
    for user, own in written.items():
        first = own[0]
        address = reverse("rubrics:history", args=[benchmark.slug, first.case.public_id])
        notify_each(
            people={user: {"what": "published", "case": first.case.key, "version": first.version, "count": len(own)}},
            kind=KIND,
            benchmark_title=benchmark.title,
            url=address if len(own) == 1 else reverse("rubrics:reviews", args=[benchmark.slug]),
            at=at,
        )


def _writers(rubrics: Sequence[Rubric]) -> dict[int, set[int]]:
    writers: dict[int, set[int]] = {rubric.pk: set() for rubric in rubrics}
    rows = RubricContributor.objects.filter(rubric__in=[rubric.pk for rubric in rubrics])
    for rubric, user in rows.values_list("rubric", "user"):
        writers[rubric].add(user)
    return writers
