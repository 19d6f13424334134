"""Links in mails come from SITE_URL, or the bound address, and never from the Host that a request named."""

from __future__ import annotations

import re
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import allauth
import pytest
from allauth.account.adapter import get_adapter
from allauth.core.context import request_context
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.sites.shortcuts import get_current_site
from django.core import mail
from django.core.mail import get_connection
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import tasks
from accounts.models import Invitation, Notification, User
from accounts.services import deliveries, invitations, notifications
from rubrics.models import Benchmark
from tests.factories import PASSWORD, BenchmarkFactory, ExpertGroupFactory, UserFactory
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mails_at_once")]
CANARY = "canary-4f1c9d2e77.example.net"
SITE = "http://localhost:8131"
# What differs between any two requests: numbers of cursors and contexts, the time; and whose line of the log it is.
SET_ANEW = re.compile(
    r"_sync_\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|'2\d{3}-\S+ [\d:.+]+'|requested', (\d+|NULL)"
)


@pytest.fixture(autouse=True)
def _site(settings: Any) -> None:
    settings.SITE_URL, settings.BIND, settings.PORT = "", "127.0.0.1", 8131


@pytest.fixture
def admin() -> User:
    return UserFactory(name="Ada Admin", last_login=timezone.now())


@pytest.fixture
def benchmark(admin: User) -> Benchmark:
    return BenchmarkFactory(slug="cardio", title="Cardiology pilot", admin=admin)


@pytest.fixture
def client(admin: User, benchmark: Benchmark) -> Client:
    """The admin, whose every request names another Host."""
    client = Client(headers={"host": f"{CANARY}:6666"})
    client.force_login(admin)
    return client


@pytest.fixture
def stranger() -> Client:
    return Client(headers={"host": f"{CANARY}:6666"})


def links_of_only_mail() -> list[str]:
    """The links in the one mail that went out, which names no Host anywhere."""
    (sent,) = mail.outbox
    bodies = [sent.body, *(content for content, _type in sent.alternatives)]
    for text in (sent.subject, sent.message().as_string(), *bodies):
        assert "canary" not in text
        assert "testserver" not in text
    links = [link for body in bodies for link in re.findall(r"https?://[^\s\"<>]+", body)]
    assert all(link.startswith(SITE) for link in links)
    return links


@pytest.mark.usefixtures("password_links")
def test_a_reset_mail(stranger: Client) -> None:
    UserFactory(email="ana@example.org")
    stranger.post("/accounts/password/reset/", {"email": "ana@example.org"})
    assert any("/accounts/password/reset/key/" in link for link in links_of_only_mail())
    assert mail.outbox[0].subject == "Choose a new password for Consilium"


@pytest.mark.usefixtures("password_links")
def test_a_reset_mail_is_in_the_language_of_its_reader(stranger: Client) -> None:
    UserFactory(email="ana@example.org", language="zh-hans")
    stranger.post("/accounts/password/reset/", {"email": "ana@example.org"}, headers={"accept-language": "en"})
    assert mail.outbox[0].subject != "Choose a new password for Consilium"
    assert any("/accounts/password/reset/key/" in link for link in links_of_only_mail())


@pytest.mark.usefixtures("password_links")
def test_with_a_site_url_links_begin_with_it(stranger: Client, settings: Any) -> None:
    settings.SITE_URL = "https://study.example.org"
    UserFactory(email="ana@example.org")
    stranger.post("/accounts/password/reset/", {"email": "ana@example.org"})
    (sent,) = mail.outbox
    assert "https://study.example.org/accounts/password/reset/key/" in sent.body
    assert "canary" not in sent.message().as_string()


INVITING = {
    "member": ("/b/cardio/groups/{group}/members/", {"email": "bo@example.org", "name": "", "role": "annotator"}),
    "researcher": ("/b/cardio/people/", {"email": "bo@example.org", "name": "", "role": "researcher"}),
    "author": ("/b/cardio/people/authors/", {"email": "bo@example.org", "name": "", "role": "author"}),
    "by API": (
        "/api/v1/benchmarks/cardio/groups/{group}/members/",
        {"email": "bo@example.org", "name": "", "role": "annotator"},
    ),
}


@pytest.mark.parametrize("way", INVITING)
def test_an_invitation(client: Client, benchmark: Benchmark, way: str, django_capture_on_commit_callbacks: Any) -> None:
    address, form = INVITING[way]
    group = ExpertGroupFactory(benchmark=benchmark, name="A")
    options = {"content_type": "application/json"} if way == "by API" else {}
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(address.format(group=group.public_id), form, **options)
    assert answer.status_code in (201, 302), answer.content
    assert any(link.startswith(f"{SITE}/welcome/") for link in links_of_only_mail())


@pytest.mark.parametrize("way", ["again", "first"])
def test_an_invitation_from_the_list(
    client: Client, benchmark: Benchmark, way: str, django_capture_on_commit_callbacks: Any
) -> None:
    group = ExpertGroupFactory(benchmark=benchmark, name="A")
    client.post(f"/b/cardio/groups/{group.public_id}/members/", INVITING["member"][1])
    row = Invitation.objects.get()
    if way == "first":
        Invitation.objects.all().delete()
        address, form = "/b/cardio/invitations/", {"person": row.user_id}
    else:
        Invitation.objects.update(sent_at=None)
        address, form = f"/b/cardio/invitations/{row.public_id}/again/", {}
    with django_capture_on_commit_callbacks(execute=True):
        client.post(address, form)
    assert any(link.startswith(f"{SITE}/welcome/") for link in links_of_only_mail())


def test_a_notice_of_a_new_password(client: Client, admin: User) -> None:
    page = client.get("/accounts/password/change/").content.decode()
    assert "<h1>Change password</h1>" in " ".join(page.split()).replace("<h1> ", "<h1>").replace(" </h1>", "</h1>")
    assert "Current password" in page and "New Password" not in page
    form = {"oldpassword": "another", "password1": "seven quiet herons", "password2": "seven quiet herons"}
    assert "This is not your current password." in client.post("/accounts/password/change/", form).content.decode()
    assert not mail.outbox
    form["oldpassword"] = PASSWORD
    client.post("/accounts/password/change/", form)
    admin.refresh_from_db()
    assert admin.check_password("seven quiet herons")
    links_of_only_mail()
    assert mail.outbox[0].to == [admin.email]


@pytest.mark.usefixtures("password_links")
def test_a_notice_of_a_chosen_password(stranger: Client) -> None:
    UserFactory(email="ana@example.org")
    stranger.post("/accounts/password/reset/", {"email": "ana@example.org"})
    (path,) = re.findall(rf"{SITE}(/accounts/password/reset/key/\S+)", mail.outbox.pop().body)
    page = stranger.get(path, follow=True)
    form = {"password1": "seven quiet herons", "password2": "seven quiet herons"}
    stranger.post(page.redirect_chain[-1][0], form)
    links_of_only_mail()


def test_a_notice_of_a_second_factor(admin: User, client: Client) -> None:
    TOTP.activate(admin, generate_totp_secret())
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    client.post("/accounts/2fa/totp/deactivate/")
    links_of_only_mail()
    assert mail.outbox[0].to == [admin.email]


def test_an_invitation_of_a_list(client: Client, benchmark: Benchmark, django_capture_on_commit_callbacks: Any) -> None:
    group = ExpertGroupFactory(benchmark=benchmark, name="A")
    sent = {"text": "email,name\nbo@example.org,Bo", "role": "annotator", "group": group.public_id}
    shown = client.post("/b/cardio/groups/people/", {**sent, "step": "preview"})
    form = shown.context["form"]
    fields = {name: form.initial.get(name) or "" for name in ("text", "role", "group", "digest")}
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/b/cardio/groups/people/", {**fields, "step": "add"})
    assert any(link.startswith(f"{SITE}/welcome/") for link in links_of_only_mail())


def test_a_mail_about_a_new_device(stranger: Client) -> None:
    ana = UserFactory(email="ana@example.org")
    for browser in (stranger, Client(headers={"host": f"{CANARY}:6666"})):
        browser.post("/accounts/login/", {"login": "ana@example.org", "password": PASSWORD})
    tasks.mail_at_once(Notification.objects.get(user=ana).pk)
    assert any(link.startswith(f"{SITE}/notifications/") for link in links_of_only_mail())
    assert "Sign-in on a new device" in mail.outbox[0].subject


MAILS_OF_ALLAUTH = sorted(
    str(path).rpartition("/templates/")[2].removesuffix("_message.txt")
    for path in Path(allauth.__file__).parent.glob("templates/*/email/*_message.txt")
    if path.name != "base_message.txt"
)


@pytest.mark.parametrize("name", MAILS_OF_ALLAUTH)
def test_every_mail_that_allauth_knows(name: str, rf: Any) -> None:
    """Also those that nothing sends today."""
    reader = UserFactory(email="ana@example.org")
    request = rf.get("/", headers={"host": f"{CANARY}:6666"})
    request.user = reader
    site = get_current_site(request)
    values = {"user": reader, "current_site": site, "ip": "203.0.113.9", "timestamp": timezone.now()}
    values |= {"from_email": "a@example.org", "to_email": "b@example.org", "deleted_email": "a@example.org"}
    with request_context(request):
        get_adapter().send_mail(name, "ana@example.org", values)
    links_of_only_mail()


def test_no_web_request_waits_for_a_mail_server(
    client: Client, admin: User, benchmark: Benchmark, monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    given: dict[Any, Any] = {tasks.mail_account_notice: [], tasks.mail_invitation: []}
    for task, calls in given.items():
        monkeypatch.setattr(task, "delay_on_commit", lambda *args, calls=calls: calls.append(args))
    form = {"oldpassword": PASSWORD, "password1": "seven quiet herons", "password2": "seven quiet herons"}
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/password/change/", form)
        client.post("/b/cardio/people/", INVITING["researcher"][1])
    assert mail.outbox == []
    row = Invitation.objects.get()
    assert given[tasks.mail_invitation] == [(row.pk,)]  # the broker sees no link
    assert row.token_hash == ""
    for task, calls in given.items():
        task(*calls[0])
    assert [sent.to for sent in mail.outbox] == [[admin.email], ["bo@example.org"]]
    tasks.mail_invitation(row.pk)  # a task may come twice
    assert len(mail.outbox) == 2


def test_an_invitation_whose_task_was_lost_is_mailed_by_the_sweep(client: Client, benchmark: Benchmark) -> None:
    client.post("/b/cardio/people/", INVITING["researcher"][1])
    row = Invitation.objects.get()
    assert row.sent_at is not None
    for after, sent in ((timedelta(seconds=9), 0), (timedelta(days=1), 0), (timedelta(seconds=11), 1)):
        assert invitations.sweep_invitations(at=row.sent_at + after) == sent
    assert invitations.sweep_invitations(at=row.sent_at + timedelta(seconds=11)) == 0
    (path,) = [link for link in links_of_only_mail() if "/welcome/" in link][:1]
    assert Client().get(path.removeprefix(SITE), headers={"host": "localhost:8131"}).status_code == 200


def test_a_notice_in_the_readers_daily_mail(settings: Any) -> None:
    reader = UserFactory(email="ana@example.org", last_login=timezone.now())
    now = timezone.now()
    notifications.notify(
        user=reader, kind="new_work", benchmark_title="Cardiology pilot", url="/work/", at=now - timedelta(days=2),
        count=1, batch="First",
    )  # fmt: skip
    assert deliveries.sweep_mails(at=now) == 1
    assert any(link.startswith(f"{SITE}/notifications/") for link in links_of_only_mail())


# Unknown addresses ----------------------------------------------------------------------------------------------------


def reset(address: str) -> tuple[Any, ...]:
    visitor = Client()
    answer = visitor.post("/accounts/password/reset/", {"email": address})
    page = re.sub(r'csrfmiddlewaretoken" value="[^"]+|nonce="[^"]+|X-CSRFToken": "[^"]+', "", after(visitor, answer))
    return answer.status_code, answer["Location"], sorted(answer.headers), page


def after(visitor: Client, answer: Any) -> str:
    return str(visitor.get(answer["Location"]).content.decode())


@pytest.mark.usefixtures("password_links")
@pytest.mark.parametrize("server", ["up", "down", "none"])
def test_an_unknown_address_gets_the_same_answer_and_no_mail(server: str, settings: Any) -> None:
    UserFactory(email="ana@example.org")
    UserFactory(email="gone@example.org", is_active=False)
    if server == "down":
        settings.EMAIL_BACKEND = "tests.accounts.refusing.EmailBackend"
    elif server == "none":
        settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    known = reset("ana@example.org")
    assert len(mail.outbox) == (1 if server == "up" else 0)
    mail.outbox.clear()
    assert known[:2] == (302, "/accounts/password/reset/done/")
    assert reset("nobody@example.org") == known
    assert reset("gone@example.org") == known
    assert mail.outbox == []


def test_a_request_gives_a_worker_one_id_whether_or_not_there_is_an_account(password_links: list[int | None]) -> None:
    ana = UserFactory(email="ana@example.org")
    reset("ana@example.org")
    reset("nobody@example.org")
    assert password_links == [ana.pk, None]  # no token and no address goes through the broker


def test_a_request_does_the_same_in_the_database_for_every_address(
    password_links: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.mail_password_link, "delay_on_commit", password_links.append)
    UserFactory(email="ana@example.org")
    statements: list[list[str]] = []
    for address in ("ana@example.org", "nobody@example.org"):
        with CaptureQueriesContext(connection) as queries:
            Client().post("/accounts/password/reset/", {"email": address})
        statements.append([SET_ANEW.sub("", query["sql"].replace(address, "")) for query in queries])
    assert statements[0] == statements[1]
    assert len(password_links) == 2


def test_a_request_opens_no_connection_to_the_mail_server(settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = silent.getsockname()
        settings.EMAIL_TIMEOUT = 0.2
        UserFactory(email="ana@example.org")
        assert reset("ana@example.org")[0] == 302
        silent.settimeout(0)
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_a_mail_server_that_hangs_is_left_after_ten_seconds() -> None:
    assert get_connection("django.core.mail.backends.smtp.EmailBackend").timeout == 10


@pytest.mark.django_db(transaction=True)
def test_a_worker_mails_the_link_that_a_request_asked_for(start_worker: Any, tmp_path: Path) -> None:
    ana = UserFactory(email="ana@example.org")
    worker = start_worker(EMAIL_URL=f"filemail:///{tmp_path}", SITE_URL="https://study.example.org")
    Client().post("/accounts/password/reset/", {"email": "nobody@example.org"})
    Client().post("/accounts/password/reset/", {"email": "ana@example.org"})
    wait_until(lambda: any(b"https://study.example.org" in path.read_bytes() for path in tmp_path.iterdir()))
    worker.kill()
    (sent,) = tmp_path.iterdir()
    (path,) = re.findall(r"https://study.example.org(/accounts/password/reset/key/\S+)", sent.read_text())
    visitor = Client()
    page = visitor.get(path, follow=True)
    visitor.post(page.redirect_chain[-1][0], {"password1": "seven quiet herons", "password2": "seven quiet herons"})
    ana.refresh_from_db()
    assert ana.check_password("seven quiet herons")


def test_no_mail_asks_anybody_to_sign_up(client: Client) -> None:
    page = Client().get("/accounts/signup/").content.decode()
    assert "Ask your study coordinator to add you" in page
    assert 'href="/accounts/login/"' in page
