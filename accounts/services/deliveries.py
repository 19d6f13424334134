"""Decides which notifications are mailed, and when.

A row is taken by setting ``mailed_at`` before its mail is sent: a worker that dies in between loses a mail rather than
sending two. Where the mail server refuses, the row is given back, and the next sweep tries again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, time, timedelta

from django.db import transaction
from django.urls import reverse

from accounts.middleware import zone_of
from accounts.models import Notification, NotificationSetting, User
from accounts.notices import words_of
from accounts.services.mails import send_mail
from accounts.services.notifications import DAILY, DEFAULTS, deliveries, settings_of, unsubscribe_token
from consilium.hosts import site_address

logger = logging.getLogger(__name__)
Delivery = NotificationSetting.Delivery
DIGEST_AT = time(7)  # in the reader's zone
# A notification that could not be mailed for this long is no longer mailed; it stays in the list.
TOO_OLD = timedelta(days=7)
MAX_LINES_PER_MAIL = 30


def _mailable(at: datetime, **which: int) -> list[Notification]:
    rows = Notification.objects.filter(read_at=None, mailed_at=None, created_at__gte=at - TOO_OLD, **which)
    # People who have never signed in have an invitation to read first.
    rows = rows.filter(user__is_active=True, user__last_login__isnull=False).exclude(user__email="")
    return list(rows.select_related("user").order_by("user", "-created_at", "-pk"))


def sweep_mails(*, at: datetime) -> int:
    """Send all mails that are due and return how many were sent. A second sweep sends none of them again."""
    rows = _mailable(at)
    chosen = deliveries({row.user_id for row in rows})
    daily: dict[int, list[Notification]] = {}
    sent = 0
    for row in rows:
        delivery = chosen.get((row.user_id, row.kind), DEFAULTS[row.kind])
        if delivery == Delivery.AT_ONCE:
            sent += _send([row], user=row.user, at=at, template="notice", what=row.kind)
        elif delivery == Delivery.DIGEST:
            daily.setdefault(row.user_id, []).append(row)
    for notifications in daily.values():
        user = notifications[0].user
        since = digest_moment(user, at)
        due = [row for row in notifications if row.created_at < since]
        if due:
            sent += _send(due, user=user, at=at, template="digest", what=DAILY, since=since)
    return sent


def unsent_since(*, at: datetime) -> list[datetime]:
    """When those notifications were written, before ``at``, whose readers want a mail at once, and that have none."""
    rows = [row for row in _mailable(at) if row.created_at < at]
    chosen = deliveries({row.user_id for row in rows})
    return [
        row.created_at for row in rows if chosen.get((row.user_id, row.kind), DEFAULTS[row.kind]) == Delivery.AT_ONCE
    ]


def mail_at_once(*, notification_id: int, at: datetime) -> None:
    """Send one notification, if its reader wants it at once and it was not sent yet."""
    for row in _mailable(at, pk=notification_id):
        if settings_of(row.user)[row.kind] == Delivery.AT_ONCE:
            _send([row], user=row.user, at=at, template="notice", what=row.kind)


def digest_moment(user: User, at: datetime) -> datetime:
    """The last 07:00 in the reader's zone: notifications written before it belong in a digest that is due."""
    zone = zone_of(user.time_zone)
    local = at.astimezone(zone)
    moment = datetime.combine(local.date(), DIGEST_AT, tzinfo=zone)
    return moment if moment <= local else datetime.combine(local.date() - timedelta(days=1), DIGEST_AT, tzinfo=zone)


@transaction.atomic
def _take(rows: Sequence[Notification], user: User, at: datetime, since: datetime | None) -> list[Notification]:
    """Those of ``rows`` that this call may mail. A lock on the reader keeps two workers from making two digests."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if since is not None:
        kinds = [kind for kind, delivery in settings_of(user).items() if delivery == Delivery.DIGEST]
        if Notification.objects.filter(user=user, kind__in=kinds, mailed_at__gte=since).exists():
            return []
    free = Notification.objects.filter(pk__in=[row.pk for row in rows], mailed_at=None, read_at=None)
    taken = set(free.values_list("pk", flat=True))
    free.filter(pk__in=taken).update(mailed_at=at)
    return [row for row in rows if row.pk in taken]


def _send(
    rows: Sequence[Notification], *, user: User, at: datetime, template: str, what: str, since: datetime | None = None
) -> int:
    taken = _take(rows, user, at, since)
    if not taken:
        return 0
    site = site_address()
    context = {
        "site": site,
        "notices": [MailLine(row, site) for row in taken[:MAX_LINES_PER_MAIL]],
        "total": len(taken),
        "more": max(0, len(taken) - MAX_LINES_PER_MAIL),
        "list": site + reverse("accounts:notifications"),
        "settings": site + reverse("accounts:deliveries"),
    }
    unsubscribe = site + reverse("accounts:unsubscribe", args=[unsubscribe_token(user, what)])
    try:
        send_mail(to=user, name=template, body="notices", context=context, unsubscribe=unsubscribe)
    except Exception:  # any error of the mail server or the network; nobody waits for the answer
        logger.exception("A mail was not sent; the next sweep tries again", extra={"user": user.pk})
        Notification.objects.filter(pk__in=[row.pk for row in taken], mailed_at=at).update(mailed_at=None)
        return 0
    return 1


class MailLine:
    """A notification in a mail: its words are made while the mail is rendered, in the reader's language."""

    def __init__(self, row: Notification, site: str) -> None:
        self.benchmark_title = row.benchmark_title
        self.url = site + reverse("accounts:notification", args=[row.public_id])
        self._row = row

    @property
    def text(self) -> str:
        """What happened, without names and without what people wrote."""
        return words_of(self._row, in_mail=True).text

    @property
    def advice(self) -> str:
        """What the reader should do, if anything."""
        return words_of(self._row, in_mail=True).advice
