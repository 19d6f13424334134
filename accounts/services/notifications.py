"""Creates notifications, and stores by which channel each person wants them.

A notification is a row; mails follow from rows and settings (`accounts.services.deliveries`). Nothing here decides who
has to be told: the services of each area call `notify` in the transaction of the event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.core import signing
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Notification, NotificationSetting, User
from consilium.core.jobs import enqueue

Kind = Notification.Kind
Delivery = NotificationSetting.Delivery
DEFAULTS: dict[str, str] = {
    Kind.NEW_WORK: Delivery.DIGEST,
    Kind.RETURNED: Delivery.DIGEST,
    Kind.DUE: Delivery.DIGEST,
    Kind.COMMENT: Delivery.DIGEST,
    Kind.HELD_BACK: Delivery.AT_ONCE,
    Kind.INVITATION: Delivery.AT_ONCE,
    Kind.RUBRIC: Delivery.DIGEST,
    Kind.JOB_DONE: Delivery.PRODUCT,
    Kind.JOB_FAILED: Delivery.AT_ONCE,
    Kind.BATCH: Delivery.DIGEST,
    Kind.ATTENTION: Delivery.DIGEST,
    Kind.CONFLICT: Delivery.DIGEST,
    Kind.BUDGET: Delivery.AT_ONCE,
    Kind.WORKER: Delivery.AT_ONCE,
    Kind.ACCOUNT: Delivery.AT_ONCE,
}
# Kinds that only those get who run a benchmark.
STAFF_KINDS = (
    Kind.JOB_DONE,
    Kind.JOB_FAILED,
    Kind.BATCH,
    Kind.ATTENTION,
    Kind.CONFLICT,
    Kind.BUDGET,
    Kind.WORKER,
)
UNSUBSCRIBE_SALT = "accounts.unsubscribe"
DAILY = "daily"  # in an unsubscribe token: every kind that the daily mail holds


@transaction.atomic
def notify(
    *, user: User, kind: str, benchmark_title: str, url: str, at: datetime, key: str = "", **values: Any
) -> None:
    """Store for ``user`` what happened. ``url`` is the path of the page where they go on.

    ``values``: what the words are made from (`accounts.notices`), plain JSON. With ``key`` it is stored only once.
    """
    notify_each(people={user.pk: values}, kind=kind, benchmark_title=benchmark_title, url=url, at=at, key=key)


@transaction.atomic
def notify_each(
    *, people: Mapping[int, Mapping[str, Any]], kind: str, benchmark_title: str, url: str, at: datetime, key: str = ""
) -> None:
    """`notify` for many at once: id of the user → their values."""
    if not people:
        return
    rows = Notification.objects.bulk_create(
        [
            Notification(
                user_id=user,
                kind=kind,
                benchmark_title=benchmark_title,
                url=url,
                values=dict(values),
                key=key,
                created_at=at,
            )
            for user, values in people.items()
        ],
        ignore_conflicts=bool(key),
    )
    chosen = deliveries(people)
    for row in rows:
        # Rows with a key may exist already, and then have no id here: the sweep finds the new ones among them.
        if row.pk and chosen.get((row.user_id, kind), DEFAULTS[kind]) == Delivery.AT_ONCE:
            enqueue("accounts.tasks.mail_at_once", row.pk)


@transaction.atomic
def notify_of_thread(
    *,
    user: User,
    kind: str,
    benchmark_title: str,
    url: str,
    at: datetime,
    about: Mapping[str, Any] | None = None,
    **values: Any,
) -> None:
    """`notify`, unless their list has an unread entry for the same page: then that entry is brought up to date.

    ``about``: values that the entry must have as well, where a page has entries about several things. They are stored
    with ``values``.
    """
    values |= about or {}
    known = Notification.objects.filter(user=user, kind=kind, url=url, read_at=None, mailed_at=None)
    if about:
        known = known.filter(benchmark_title=benchmark_title, values__contains=dict(about))
    if known.update(values=values, created_at=at):
        return
    notify(user=user, kind=kind, benchmark_title=benchmark_title, url=url, at=at, **values)


def deliveries(users: Iterable[int]) -> dict[tuple[int, str], str]:
    """(user, kind) → the delivery that they chose; where a pair is missing, `DEFAULTS` apply."""
    rows = NotificationSetting.objects.filter(user__in=list(users))
    return {(user, kind): delivery for user, kind, delivery in rows.values_list("user_id", "kind", "delivery")}


def settings_of(user: User) -> dict[str, str]:
    """Kind → delivery, for every kind."""
    chosen = deliveries([user.pk])
    return {kind: chosen.get((user.pk, kind), default) for kind, default in DEFAULTS.items()}


def kinds_for(user: User) -> list[str]:
    """The kinds that ``user`` can get: `STAFF_KINDS` only where they run a benchmark.

    Adjudicators get new conflicts, too.
    """
    # The apps of benchmarks and groups are layers above this one, so the queries name relations and import nothing.
    here = User.objects.filter(pk=user.pk)
    if here.filter(benchmark_roles__active=True).exists():
        return list(DEFAULTS)
    adjudicates = here.filter(memberships__role="adjudicator", memberships__active=True).exists()
    staff = [kind for kind in STAFF_KINDS if not (adjudicates and kind == Kind.CONFLICT)]
    return [kind for kind in DEFAULTS if kind not in staff]


@transaction.atomic
def choose_deliveries(*, user: User, choices: Mapping[str, str]) -> None:
    """Store how ``user`` wants to be told of each kind; the form validated the choices."""
    NotificationSetting.objects.bulk_create(
        [NotificationSetting(user=user, kind=kind, delivery=delivery) for kind, delivery in choices.items()],
        update_conflicts=True,
        unique_fields=["user", "kind"],
        update_fields=["delivery"],
    )


def mark_read(*, notifications: QuerySet[Notification], at: datetime) -> int:
    """Mark unread notifications as read and return how many there were."""
    return notifications.filter(read_at=None).update(read_at=at)


# Unsubscribing by a link in a mail ------------------------------------------------------------------------------------


def unsubscribe_token(user: User, what: str) -> str:
    """A signed token that ends mails of ``what`` (a kind, or `DAILY`) for ``user``, and does nothing else."""
    return signing.dumps({"user": user.pk, "what": what}, salt=UNSUBSCRIBE_SALT)


def read_unsubscribe_token(token: str) -> tuple[User, str] | None:
    """The user and the kind of mails that a token names; None where the token is not one of ours."""
    try:
        payload = signing.loads(token, salt=UNSUBSCRIBE_SALT)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=payload["user"]).first()
    return (user, payload["what"]) if user is not None and payload["what"] in {DAILY, *Kind.values} else None


@transaction.atomic
def unsubscribe(*, user: User, what: str) -> None:
    """Send no more mails of ``what``; the notifications still appear in the list."""
    current = settings_of(user)
    ended = [
        kind for kind, delivery in current.items() if (delivery == Delivery.DIGEST if what == DAILY else kind == what)
    ]
    choose_deliveries(user=user, choices=dict.fromkeys(ended, Delivery.PRODUCT))
