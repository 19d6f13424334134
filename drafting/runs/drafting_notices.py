"""Tells authors that a run has drafted suggestions for their cases."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from django.db.models import Count
from django.urls import reverse

from accounts.models import Notification, User
from accounts.services.notifications import notify_of_thread
from drafting.models import Suggestion
from rubrics.models import AuthoringRole, Case, RubricContributor
from scoring.models import PipelineRun

GOLD = "gold"


def notify_of_suggestions(run: PipelineRun, *, at: datetime) -> None:
    """Tell each author of a case of the run how many suggestions wait; one notice covers all cases of a person.

    Authors of a case are who wrote it and who wrote in its rubric. An author who ordered the run is told in any case,
    also where it came to nothing. An unread notice is brought up to date.
    """
    waiting = Suggestion.objects.filter(run=run).to_decide().order_by()
    counts = dict(waiting.values("case").annotate(n=Count("pk")).values_list("case", "n"))
    active = AuthoringRole.objects.filter(benchmark=run.benchmark_id, role=AuthoringRole.Role.AUTHOR, active=True)
    authors = set(active.values_list("user", flat=True))
    own = defaultdict[int, set[int]](set)
    written = RubricContributor.objects.filter(rubric__case__in=counts, rubric__track=GOLD, user__in=authors)
    for user, case in written.values_list("user", "rubric__case"):
        own[user].add(case)
    for user, case in Case.objects.filter(pk__in=counts, created_by__in=authors).values_list("created_by", "pk"):
        own[user].add(case)
    if run.created_by_id in authors:
        own[run.created_by_id] |= set(run.steps.order_by().values_list("case", flat=True).distinct())
    named = Case.objects.filter(pk__in={case for ids in own.values() for case in ids})
    cases = {pk: (key, public_id) for pk, key, public_id in named.values_list("pk", "key", "public_id")}
    users = User.objects.in_bulk(own)
    slug, title = run.benchmark.slug, run.benchmark.title
    for user, ids in own.items():
        key, public_id = cases[min(ids)]
        page = reverse("rubrics:write-rubric", args=[slug, public_id])
        notify_of_thread(
            user=users[user],
            kind=Notification.Kind.RUBRIC,
            benchmark_title=title,
            url=page if len(ids) == 1 else reverse("rubrics:write", args=[slug]),
            at=at,
            what="suggested",
            count=sum(counts.get(case, 0) for case in ids),
            cases=len(ids),
            case=key,
        )
