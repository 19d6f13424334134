"""Notifications: the page, what goes out by mail and when, and the way out of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Notification, NotificationSetting, User
from accounts.services import deliveries
from accounts.services.deliveries import sweep_mails
from accounts.services.notifications import DAILY, STAFF_KINDS, choose_deliveries, notify, unsubscribe_token
from tests.factories import UserFactory

# 07:00 of 3 March in Shanghai is 23:00 UTC of the day before: China has had no summer time since 1991.
SEVEN_IN_SHANGHAI = datetime(2026, 3, 2, 23, 0, tzinfo=UTC)
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def person(zone: str = "Asia/Shanghai", **fields: Any) -> User:
    return UserFactory(time_zone=zone, last_login=NOON, **fields)


def create_notification(user: User, kind: str = "returned", at: datetime = NOON, **values: Any) -> Notification:
    facts = {"batch": "Pilot batch", **values}
    notify(user=user, kind=kind, benchmark_title="Cardiology pilot", url="/work/", at=at, **facts)
    return Notification.objects.latest("pk")


@pytest.mark.django_db
def test_the_daily_mail_comes_at_seven_where_the_reader_is_and_once() -> None:
    bo, eve = person(email="bo@example.org", name="Bo"), person("America/New_York", email="eve@example.org")
    create_notification(bo)
    create_notification(bo, kind="new_work", count=12)
    create_notification(eve)
    assert sweep_mails(at=SEVEN_IN_SHANGHAI - timedelta(minutes=1)) == 0
    assert sweep_mails(at=SEVEN_IN_SHANGHAI) == 1
    assert sweep_mails(at=SEVEN_IN_SHANGHAI + timedelta(minutes=5)) == 0
    (sent,) = mail.outbox
    assert sent.to == ["bo@example.org"]
    assert sent.subject == "Consilium: 2 new notifications"
    for body in (sent.body, sent.alternatives[0].content):
        assert "You were assigned 12 responses to grade in “Pilot batch”" in body
        assert "A checker returned a response to you" in body
    # Told of after seven: tomorrow.
    create_notification(bo, at=SEVEN_IN_SHANGHAI + timedelta(hours=1))
    assert sweep_mails(at=SEVEN_IN_SHANGHAI + timedelta(hours=3)) == 0
    # New York is at UTC−5 on 3 March; 07:00 there is 12:00 UTC.
    assert sweep_mails(at=datetime(2026, 3, 3, 11, 59, tzinfo=UTC)) == 0
    assert sweep_mails(at=datetime(2026, 3, 3, 12, 0, tzinfo=UTC)) == 1
    assert mail.outbox[-1].to == ["eve@example.org"]
    assert sweep_mails(at=SEVEN_IN_SHANGHAI + timedelta(days=1)) == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_workers_send_one_digest_of_everything() -> None:
    user = person()
    for number in range(20):
        create_notification(user, batch=f"Batch {number}")
    start = Barrier(2)
    sent: list[int] = []

    def work() -> None:
        start.wait()
        sent.append(sweep_mails(at=SEVEN_IN_SHANGHAI))
        connection.close()

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sent) == [0, 1]
    assert len(mail.outbox) == 1
    assert mail.outbox[0].subject == "Consilium: 20 new notifications"


@pytest.mark.django_db
def test_a_mail_that_fails_is_tried_again_and_not_doubled(settings: Any, caplog: Any) -> None:
    create_notification(person())
    backend, settings.EMAIL_BACKEND = settings.EMAIL_BACKEND, "tests.accounts.refusing.EmailBackend"
    assert sweep_mails(at=SEVEN_IN_SHANGHAI) == 0
    assert "A mail was not sent" in caplog.text
    settings.EMAIL_BACKEND = backend
    assert sweep_mails(at=SEVEN_IN_SHANGHAI + timedelta(minutes=5)) == 1
    assert sweep_mails(at=SEVEN_IN_SHANGHAI + timedelta(minutes=10)) == 0
    assert len(mail.outbox) == 1


@pytest.mark.django_db
def test_settings_beat_entries() -> None:
    here, once, gone = person(email="here@example.org"), person(email="once@example.org"), person(is_active=False)
    never_in = UserFactory(time_zone="Asia/Shanghai")
    for user in (here, once, gone, never_in):
        create_notification(user)
    choose_deliveries(user=here, choices={"returned": "product"})
    choose_deliveries(user=once, choices={"returned": "at_once"})
    assert sweep_mails(at=NOON + timedelta(minutes=1)) == 1
    assert mail.outbox[0].to == ["once@example.org"]
    assert mail.outbox[0].subject == "Cardiology pilot: A checker returned a response to you in “Pilot batch”."
    assert sweep_mails(at=SEVEN_IN_SHANGHAI) == 0
    assert Notification.objects.count() == 4  # all stand in the lists


@pytest.mark.django_db
def test_held_back_goes_out_at_once_without_a_name() -> None:
    admin = person()
    row = create_notification(admin, kind="held_back", physician="P-CANARY", reason="canary reason")
    deliveries.mail_at_once(notification_id=row.pk, at=NOON)
    deliveries.mail_at_once(notification_id=row.pk, at=NOON)
    (sent,) = mail.outbox
    assert "Assignments to a physician are paused." in sent.body
    assert "anary" not in (sent.subject + sent.body + sent.alternatives[0].content).lower()


@pytest.mark.django_db
def test_what_was_read_is_not_mailed(client: Client) -> None:
    user = person()
    create_notification(user)
    client.force_login(user)
    client.post("/notifications/read/")
    assert sweep_mails(at=SEVEN_IN_SHANGHAI) == 0


@pytest.mark.django_db
def test_mails_are_in_the_readers_language() -> None:
    create_notification(person(language="zh-hans", name="Bo"))
    sweep_mails(at=SEVEN_IN_SHANGHAI)
    assert 'lang="zh-hans"' in mail.outbox[0].alternatives[0].content


@pytest.mark.django_db
@pytest.mark.parametrize("through_the_header", [False, True])
def test_a_link_in_the_mail_ends_such_mails(through_the_header: bool) -> None:
    user = person()
    create_notification(user)
    sweep_mails(at=SEVEN_IN_SHANGHAI)
    sent = mail.outbox[0]
    (url,) = re.findall(r"<(.*)>", sent.extra_headers["List-Unsubscribe"])
    assert url in sent.body
    path = url.partition("localhost:")[2].partition("/")
    address = "/" + path[2]
    visitor = Client(enforce_csrf_checks=True)  # nobody is signed in, and a mail program has no token
    if not through_the_header:
        assert "Stop these emails?" in visitor.get(address).content.decode()
        create_notification(user)
        assert sweep_mails(at=SEVEN_IN_SHANGHAI + timedelta(days=1)) == 1  # looking ends nothing
    answer = visitor.post(address, {"List-Unsubscribe": "One-Click"})
    assert "You no longer receive daily emails." in answer.content.decode()
    create_notification(user, at=SEVEN_IN_SHANGHAI + timedelta(days=2))
    assert sweep_mails(at=SEVEN_IN_SHANGHAI + timedelta(days=4)) == 0
    assert NotificationSetting.objects.get(user=user, kind="returned").delivery == "product"
    assert not NotificationSetting.objects.filter(user=user, kind="held_back").exists()  # was not in the daily mail


@pytest.mark.django_db
def test_an_unsubscribe_link_that_was_changed_ends_nothing(client: Client) -> None:
    token = unsubscribe_token(person(), DAILY)
    assert client.post(f"/unsubscribe/{token[:-3]}abc/").status_code == 404
    assert not NotificationSetting.objects.exists()


@pytest.mark.django_db
def test_the_page_lists_reads_and_leads_on(client: Client) -> None:
    user, other = person(), person()
    client.force_login(user)
    for show in ("", "?show=unread"):
        page = client.get(f"/notifications/{show}").content.decode()
        assert "notifications yet" in page or "No unread notifications" in page
        assert "Notifications about your work and your benchmarks will appear here." in page
    first, second = create_notification(user, count=1, kind="new_work"), create_notification(user)
    foreign = create_notification(other)
    page = client.get("/notifications/").content.decode()
    assert "You were assigned 1 response to grade" in page
    assert "Notifications, 2 unread" in page  # the bell
    answer = client.get(f"/notifications/{first.public_id}/")
    assert answer["Location"] == "/work/"
    assert "Notifications, 1 unread" in client.get("/notifications/").content.decode()
    client.post(f"/notifications/{second.public_id}/read/")
    assert "No unread notifications" in client.get("/notifications/?show=unread").content.decode()
    assert client.get(f"/notifications/{foreign.public_id}/").status_code == 404
    assert Notification.objects.get(pk=foreign.pk).read_at is None


@pytest.mark.slow
@pytest.mark.django_db
def test_the_notification_menu_costs_the_same_however_many_there_are(client: Client) -> None:
    user = person()
    client.force_login(user)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured_queries:
            client.get("/notifications/")
        return len(captured_queries)

    create_notification(user)
    before = queries()
    for _ in range(25):
        create_notification(user)
    assert queries() == before


@pytest.mark.django_db
def test_everybody_chooses_how_they_hear_of_each_kind(client: Client, settings: Any) -> None:
    user = person()
    client.force_login(user)
    page = client.get("/profile/notifications/").content.decode()
    no_server = "No mail server is set up, so nothing is sent by email."
    assert no_server not in page
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert no_server in client.get("/profile/notifications/").content.decode()
    assert "Daily email" in page
    assert "Failed jobs and runs" not in page  # that is for those who run a benchmark
    choices = dict.fromkeys(Notification.Kind.values, "product") | {"due": "at_once"}
    choices = {kind: delivery for kind, delivery in choices.items() if kind not in STAFF_KINDS}
    assert client.post("/profile/notifications/", choices).status_code == 302
    assert dict(NotificationSetting.objects.filter(user=user).values_list("kind", "delivery")) == choices
    assert client.post("/profile/notifications/", {**choices, "due": "pigeon"}).status_code == 422
