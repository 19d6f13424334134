"""Invitations by mail: their text, and their link used once, twice, late and tampered with."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import Invitation, Notification, User
from rubrics.models import Benchmark
from tests.factories import PASSWORD, BenchmarkFactory, ExpertGroupFactory, UserFactory

pytestmark = pytest.mark.django_db
NEW = {"password": "seven quiet herons", "again": "seven quiet herons", "language": "en", "time_zone": "Asia/Shanghai"}
Capture = Any


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="cardio", title="Cardiology pilot", admin=UserFactory(name="Ada Admin"))


@pytest.fixture
def admin(benchmark: Benchmark, client: Client) -> Client:
    client.force_login(benchmark.roles.get().user)
    return client


@pytest.fixture
def group(benchmark: Benchmark) -> str:
    return f"/b/cardio/groups/{ExpertGroupFactory(benchmark=benchmark, name='Group A').public_id}/"


@pytest.fixture
def commit(mails_at_once: None, django_capture_on_commit_callbacks: Any) -> Any:
    """Mails leave after the transaction."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


def add(admin: Client, group: str, email: str = "bo@example.org", role: str = "annotator") -> Any:
    return admin.post(f"{group}members/", {"email": email, "name": "", "role": role}, follow=True)


def link() -> str:
    """The path of the link in the last mail."""
    (path,) = re.findall(r"http://localhost:8000(/welcome/\S+)", mail.outbox[-1].body)
    return str(path)


@pytest.mark.slow
def test_an_unknown_address_gets_a_mail_that_says_who_what_and_how_long(admin: Client, group: str, commit: Any) -> None:
    with commit():
        page = add(admin, group).content.decode()
    (sent,) = mail.outbox
    assert sent.to == ["bo@example.org"]
    assert sent.subject == "Your invitation to “Cardiology pilot”"
    for phrase in ("Ada Admin invites you", "as annotator", "works once and expires after 14 days"):
        assert phrase in sent.body
        assert phrase in sent.alternatives[0].content
    assert "invited" in page
    row = Invitation.objects.get()
    assert row.token_hash not in sent.body
    assert link().rstrip("/").rpartition("/")[2] not in row.token_hash


@pytest.mark.slow
def test_staff_are_invited_too(admin: Client, commit: Any) -> None:
    with commit():
        admin.post("/b/cardio/people/", {"email": "rae@example.org", "name": "Rae", "role": "researcher"})
    assert "as researcher" in mail.outbox[0].body
    assert "invited" in admin.get("/b/cardio/people/").content.decode()
    page = Client().get(link()).content.decode()
    assert "licence_country" not in page  # asked of physicians alone


@pytest.mark.slow
def test_the_link_makes_a_password_signs_in_and_leads_to_the_work(admin: Client, group: str, commit: Any) -> None:
    with commit():
        add(admin, group)
    visitor = Client()
    page = visitor.get(link()).content.decode()
    assert "Ada Admin invites you to join “Cardiology pilot” as annotator" in page
    assert '<option value="DE">Germany</option>' in page
    in_chinese = Client(headers={"accept-language": "zh-hans"}).get(link()).content.decode()
    assert '<option value="DE">德国</option>' in in_chinese
    profile = {"specialty": "Cardiology", "licence_country": "CN", "years_in_practice": "12"}
    answer = visitor.post(link(), {"name": "Bo Li", **NEW, **profile}, follow=True)
    assert answer.redirect_chain[-1][0] == "/work/"
    user = User.objects.get(email="bo@example.org")
    assert (user.name, user.time_zone, user.language) == ("Bo Li", "Asia/Shanghai", "en")
    assert (user.physician_profile.specialty, user.physician_profile.licence_country) == ("Cardiology", "CN")
    assert Client().login(email="bo@example.org", password=NEW["password"])

    again = Client()
    used = again.get(link())
    assert used.status_code == 410
    assert "has already been used" in used.content.decode()
    again.post(link(), {"name": "Eve", **NEW, "password": "another one here", "again": "another one here"})
    user.refresh_from_db()
    assert user.name == "Bo Li"
    assert not Client().login(email="bo@example.org", password="another one here")
    assert "accepted" in admin.get(group).content.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"again": "something else entirely"}, "again"),
        ({"password": "short", "again": "short"}, "password"),
        ({"password": "1234567890123", "again": "1234567890123"}, "password"),
        ({"licence_country": "Germany"}, "licence_country"),
        ({"name": ""}, "name"),
    ],
)
def test_a_refused_form_names_the_field_and_uses_nothing_up(
    admin: Client, group: str, commit: Any, change: dict[str, str], field: str
) -> None:
    with commit():
        add(admin, group)
    answer = Client().post(link(), {"name": "Bo Li", **NEW, **change})
    assert answer.status_code == 422
    assert f'id="id_{field}_error"' in answer.content.decode()
    assert Invitation.objects.get().accepted_at is None
    assert Client().get(link()).status_code == 200


@pytest.mark.slow
def test_links_that_lie_are_late_or_were_taken_back_let_nobody_in(
    admin: Client, group: str, commit: Any, settings: Any
) -> None:
    with commit():
        add(admin, group)
    first = link()
    for wrong in (first[:-2] + "/", "/welcome/nonsense/"):
        assert Client().get(wrong).status_code == 404
        assert Client().post(wrong, {"name": "Eve", **NEW}).status_code == 404
    row = Invitation.objects.get()

    def read_refusal(path: str) -> str:
        answer = Client().post(path, {"name": "Eve", **NEW})
        assert answer.status_code == 410
        return answer.content.decode()

    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "has expired" in read_refusal(first)
    assert "invitation expired" in admin.get(group).content.decode()
    Invitation.objects.update(sent_at=timezone.now() - timedelta(days=15))
    with commit():
        admin.post(f"/b/cardio/invitations/{row.public_id}/again/", {"next": group})
    second = link()
    assert "only the latest email works" in read_refusal(first)
    backend = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert "only the latest link works" in read_refusal(first)
    assert "inbox" not in read_refusal(first)
    settings.EMAIL_BACKEND = backend
    assert Client().get(second).status_code == 200
    admin.post(f"/b/cardio/invitations/{row.public_id}/withdraw/", {"next": group})
    assert "was withdrawn" in read_refusal(second)
    assert "invitation withdrawn" in admin.get(group).content.decode()
    assert not User.objects.get(email="bo@example.org").has_usable_password()


@pytest.mark.slow
def test_a_second_mail_has_to_wait_and_two_parts_need_one(admin: Client, group: str, commit: Any) -> None:
    with commit():
        add(admin, group)
        add(admin, group, role="checker")
    assert len(mail.outbox) == 1
    row = Invitation.objects.get()
    page = admin.post(f"/b/cardio/invitations/{row.public_id}/again/", {"next": group}, follow=True)
    assert "less than five minutes ago" in page.content.decode()
    assert len(mail.outbox) == 1


@pytest.mark.slow
def test_who_has_signed_in_gets_a_notification_instead(admin: Client, group: str, commit: Any) -> None:
    known = UserFactory(email="bo@example.org", last_login=timezone.now())
    with commit():
        add(admin, group)
    assert not Invitation.objects.exists()
    assert Notification.objects.get().kind == "invitation"
    assert known.check_password(PASSWORD)
    theirs = Client()
    theirs.force_login(known)
    assert "You were added as annotator." in theirs.get("/notifications/").content.decode()


@pytest.mark.slow
def test_a_mail_that_could_not_be_sent_is_shown(admin: Client, group: str, commit: Any, settings: Any) -> None:
    settings.EMAIL_BACKEND = "tests.accounts.refusing.EmailBackend"
    with commit():
        add(admin, group)
    assert "email not sent" in admin.get(group).content.decode()


def test_invitations_of_another_benchmark_are_not_there(admin: Client) -> None:
    BenchmarkFactory(slug="other")
    other = Invitation.objects.create(
        user=UserFactory(), scope="other", title="Other", part="annotator",
        created_at=timezone.now(), expires_at=timezone.now(),
    )  # fmt: skip
    for what in ("again", "withdraw"):
        assert admin.post(f"/b/cardio/invitations/{other.public_id}/{what}/").status_code == 404
    assert admin.post("/b/cardio/invitations/", {"person": other.user_id}).status_code == 404
