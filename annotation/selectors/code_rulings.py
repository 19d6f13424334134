"""Who may have read a response because of a ruling on its codes."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import QuerySet

from annotation.models import CodeRuling, Membership


def readers_of_rulings(rulings: QuerySet[CodeRuling]) -> set[tuple[int, int]]:
    """(response, user) pairs: who ruled on it, and the adjudicators of the group that was asked for the ruling."""
    ruled = rulings.filter(adjudicator__isnull=False).values_list("response_id", "adjudicator_id")
    adjudicators = Membership.objects.filter(group__in=rulings.values("group"), role=Membership.Role.ADJUDICATOR)
    users_by_group: dict[int, list[int]] = defaultdict(list)
    for group, user in adjudicators.values_list("group_id", "user_id"):
        users_by_group[group].append(user)
    requested = {
        (response, user)
        for response, group in rulings.values_list("response_id", "group_id")
        for user in users_by_group[group]
    }
    return {*ruled, *requested}
