"""Notifications of events that come many a day: one for each reader and day, with their number."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from accounts.models import Notification, User
from accounts.services.deliveries import digest_moment


@transaction.atomic
def count_for_day(
    *,
    people: Iterable[int],
    kind: str,
    benchmark_title: str,
    url: str,
    at: datetime,
    key: str,
    count: int,
    **values: str,
) -> None:
    """Add ``count`` events to the notification of the day of each of ``people``; make it if it is their first.

    A day is from one daily mail to the next, so that the mail has the full number. The notification is unread again
    and dated ``at``. It is mailed at most once. ``key`` names the kind of event and where it happened; ``values`` are
    further facts for its words, the same for all events of the day.
    """
    keys = _keys_of_day(people=people, key=key, at=at)
    Notification.objects.bulk_create(
        [
            Notification(
                user_id=user,
                kind=kind,
                benchmark_title=benchmark_title,
                url=url,
                values={**values, "count": 0},
                key=own_key,
                created_at=at,
            )
            for user, own_key in keys.items()
        ],
        ignore_conflicts=True,
    )
    for row in _rows_of_day(keys):
        row.values = {**row.values, "count": int(row.values["count"]) + count}
        row.created_at, row.read_at = at, None
        row.save(update_fields=["values", "created_at", "read_at"])


@transaction.atomic
def discount_for_day(*, people: Iterable[int], at: datetime, key: str, count: int) -> None:
    """Take ``count`` events that were undone from the notification of the day of ``at``; delete it if none is left."""
    for row in _rows_of_day(_keys_of_day(people=people, key=key, at=at)):
        left = int(row.values["count"]) - count
        if left > 0:
            row.values = {**row.values, "count": left}
            row.save(update_fields=["values"])
        else:
            row.delete()


def _keys_of_day(*, people: Iterable[int], key: str, at: datetime) -> dict[int, str]:
    """User → the key of their notification of the day."""
    return {
        user.pk: f"{key}:{digest_moment(user, at).date().isoformat()}"
        for user in User.objects.filter(pk__in=people).order_by("pk")
    }


def _rows_of_day(keys: dict[int, str]) -> list[Notification]:
    rows = Notification.objects.select_for_update(no_key=True).filter(user__in=keys, key__in=set(keys.values()))
    return [row for row in rows.order_by("user_id") if keys[row.user_id] == row.key]
