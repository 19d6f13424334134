"""Without a mail server: admins get the link of an invitation once, on record; nobody's link ends in the log."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Invitation, InvitationEvent, Notification, PasswordLink, User
from accounts.notices import words_of
from rubrics.models import Benchmark
from tests.factories import PASSWORD, BenchmarkFactory, ExpertGroupFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
NEW = {"password": "seven quiet herons", "again": "seven quiet herons", "language": "en", "time_zone": "UTC"}
RESET = "/accounts/password/reset/"


@pytest.fixture(autouse=True)
def _no_mail_server(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"


@pytest.fixture(autouse=True)
def _nothing_in_the_log(capfd: pytest.CaptureFixture[str]) -> Any:
    """What the web process prints is its log; no test of this module may leave a link there."""
    yield
    printed = "".join(capfd.readouterr())
    assert not re.search(r"/welcome/(?!\[)|/reset/key/(?!\[)", printed)


@pytest.fixture
def ada() -> User:
    return UserFactory(name="Ada Admin", last_login=timezone.now())


@pytest.fixture
def benchmark(ada: User) -> Benchmark:
    return BenchmarkFactory(slug="cardio", title="Cardiology pilot", admin=ada)


@pytest.fixture
def admin(ada: User, benchmark: Benchmark, client: Client) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def group(benchmark: Benchmark) -> str:
    return f"/b/cardio/groups/{ExpertGroupFactory(benchmark=benchmark, name='Group A').public_id}/"


def link_of(answer: Any) -> str:
    """The path of the link that the page shows, once."""
    (link,) = re.findall(r"http://localhost:8000(/welcome/[^<\s]+)", unescape(answer.content.decode()))
    return str(link)


def add(admin: Client, group: str, role: str = "annotator") -> Any:
    return admin.post(f"{group}members/", {"email": "bo@example.org", "name": "Bo Li", "role": role})


@pytest.mark.parametrize(
    ("address", "role"),
    [("{group}members/", "annotator"), ("/b/cardio/people/", "researcher"), ("/b/cardio/people/", "admin"),
     ("/b/cardio/people/authors/", "author"), ("/b/cardio/people/authors/", "auditor")],
)  # fmt: skip
def test_whoever_invites_gets_the_link_instead_of_a_mail(
    admin: Client, ada: User, group: str, address: str, role: str
) -> None:
    page = admin.post(address.format(group=group), {"email": "bo@example.org", "name": "Bo Li", "role": role})
    text = page.content.decode()
    assert page.status_code == 200
    assert "No mail server is set up, so no email was sent to bo@example.org." in text
    assert "has been sent" not in text
    assert "no-store" in page["Cache-Control"]
    link = link_of(page)
    row = Invitation.objects.get()
    assert (row.sent_at, row.link_shown_to) == (None, ada)
    assert row.link_shown_at is not None
    # The link is nowhere else: not on the next page, not in the session or a cookie, and only hashed in the table.
    token = link.split("/")[2]
    listed = admin.get(address.format(group=group).replace("members/", "")).content.decode()
    assert token not in listed
    assert "link created" in listed
    assert "shown to Ada Admin" in listed
    assert token not in json.dumps(dict(admin.session.items()), default=str)
    assert all(token not in morsel.value for morsel in admin.cookies.values())
    assert token not in str(Invitation.objects.values().get())
    assert Client().get(link).status_code == 200


def test_the_link_lets_its_reader_in_once(admin: Client, group: str) -> None:
    link = link_of(add(admin, group))
    visitor = Client()
    visitor.post(link, {"name": "Bo Li", **NEW})
    assert visitor.get("/session").json()["signed_in"]
    assert Client().get(link).status_code == 410
    assert Client().login(email="bo@example.org", password=NEW["password"])


def test_send_again_makes_a_new_link_and_the_former_no_longer_works(admin: Client, group: str) -> None:
    former = link_of(add(admin, group))
    page = admin.get(group).content.decode()
    assert "New link" in page
    assert "Send again" not in page
    row = Invitation.objects.get()
    newer = link_of(admin.post(f"/b/cardio/invitations/{row.public_id}/again/", {"next": group}))
    assert newer != former
    assert Client().get(former).status_code == 410
    assert Client().get(newer).status_code == 200
    admin.post(f"/b/cardio/invitations/{row.public_id}/withdraw/", {"next": group})
    assert Client().get(newer).status_code == 410


def test_who_took_which_link_stays_on_record(admin: Client, ada: User, benchmark: Benchmark, group: str) -> None:
    add(admin, group)
    eva = UserFactory(name="Eva", last_login=timezone.now())
    benchmark.roles.create(user=eva, role="admin")
    other = Client()
    other.force_login(eva)
    other.post(f"/b/cardio/invitations/{Invitation.objects.get().public_id}/again/", {"next": group})
    events = InvitationEvent.objects.exclude(link_shown_at=None).order_by("pgh_id")
    assert [event.link_shown_to_id for event in events] == [ada.pk, eva.pk]
    assert "token_hash" not in {field.name for field in InvitationEvent._meta.get_fields()}


def test_a_second_part_leaves_the_link_as_it_is(admin: Client, group: str) -> None:
    link = link_of(add(admin, group))
    Invitation.objects.update(link_shown_at=timezone.now() - timedelta(days=2))
    answer = admin.post(f"{group}members/", {"email": "bo@example.org", "name": "", "role": "checker"}, follow=True)
    assert "A link for bo@example.org already exists." in answer.content.decode()
    assert Client().get(link).status_code == 200


def test_somebody_who_was_added_without_an_invitation_gets_one_from_the_list(admin: Client, group: str) -> None:
    add(admin, group)
    person = Invitation.objects.get().user_id
    Invitation.objects.all().delete()
    assert "Create a link" in admin.get(group).content.decode()
    assert Client().get(link_of(admin.post("/b/cardio/invitations/", {"person": person}))).status_code == 200


def _with_a_password(person: User) -> None:
    person.set_password(PASSWORD)
    person.save()


def _who_creates_benchmarks(person: User) -> None:
    person.is_staff = True
    person.save()


def _with_a_part_elsewhere(person: User) -> None:
    BenchmarkFactory(slug="neuro").roles.create(user=person, role="researcher")


def _invited_elsewhere(person: User) -> None:
    at = timezone.now()
    Invitation.objects.create(
        user=person, scope="neuro", title="Neuro", part="annotator", created_at=at, expires_at=at
    )  # fmt: skip


MORE = [_with_a_password, _who_creates_benchmarks, _with_a_part_elsewhere, _invited_elsewhere]


@pytest.mark.parametrize("more", MORE)
def test_no_admin_gets_the_link_of_an_account_that_holds_more_than_their_benchmark(
    admin: Client, group: str, more: Any
) -> None:
    bo = UserFactory(email="bo@example.org", last_login=None)
    bo.set_unusable_password()
    bo.save()
    more(bo)
    answer = admin.post(f"{group}members/", {"email": "bo@example.org", "name": "", "role": "annotator"}, follow=True)
    assert "Ask the server administrator for a link." in answer.content.decode()
    assert "/welcome/" not in answer.content.decode()
    assert bo.memberships.filter(role="annotator").exists()  # the part is given all the same
    row = Invitation.objects.get(scope="cardio")
    answer = admin.post(f"/b/cardio/invitations/{row.public_id}/again/", {"next": group}, follow=True)
    assert "Ask the server administrator for a link." in answer.content.decode()
    assert "/welcome/" not in answer.content.decode()


@pytest.mark.parametrize("more", MORE)
def test_a_link_that_an_admin_holds_ends_when_the_account_gets_more(admin: Client, group: str, more: Any) -> None:
    link = link_of(add(admin, group))
    more(User.objects.get(email="bo@example.org"))
    answer = Client().post(link, {"name": "Eve", **NEW})
    assert answer.status_code == 410
    assert "This link no longer works" in answer.content.decode()
    assert not Client().login(email="bo@example.org", password=NEW["password"])


@pytest.fixture
def neuro() -> Benchmark:
    return BenchmarkFactory(
        slug="neuro", title="Neurology pilot", admin=UserFactory(name="Nia", last_login=timezone.now())
    )


WARNING = (
    "bo@example.org: this account was opened with an invitation link that Ada Admin passed on for Cardiology pilot. "
    "The person who opened the link chose the password. Keep this person only if you are sure that they chose it "
    "themselves."
)


def opened_by_link(admin: Client, group: str) -> None:
    """Somebody, perhaps the admin, opens Bo's link and chooses the password."""
    Client().post(link_of(add(admin, group)), {"name": "Bo Li", **NEW})


@pytest.mark.parametrize(
    ("address", "role"),
    [("{group}members/", "annotator"), ("/b/neuro/people/", "researcher"), ("/b/neuro/people/authors/", "author")],
)
def test_another_admin_who_adds_the_person_is_warned_of_the_link(
    admin: Client, neuro: Benchmark, group: str, address: str, role: str
) -> None:
    opened_by_link(admin, group)
    nia = Client()
    nia.force_login(neuro.roles.get().user)
    group_url = f"/b/neuro/groups/{ExpertGroupFactory(benchmark=neuro, name='B').public_id}/"
    for email, warned in (("bo@example.org", True), (UserFactory(last_login=timezone.now()).email, False)):
        form = {"email": email, "name": "", "role": role}
        page = nia.post(address.format(group=group_url), form, follow=True).content.decode()
        assert (WARNING in unescape(page)) is warned
        assert ("opened with an invitation link" in page) is warned


def test_the_api_warns_of_the_link_of_another_admin(admin: Client, neuro: Benchmark, group: str) -> None:
    opened_by_link(admin, group)
    nia = Client()
    nia.force_login(neuro.roles.get().user)
    members_url = f"/api/v1/benchmarks/neuro/groups/{ExpertGroupFactory(benchmark=neuro, name='B').public_id}/members/"
    body = {"email": "bo@example.org", "name": "", "role": "annotator"}
    answer = nia.post(members_url, body, content_type="application/json").json()
    assert (answer["invitation"], answer["link"], answer["warning"]) == ("link_elsewhere", "", WARNING)


def test_who_passed_the_link_on_or_mailed_it_needs_no_warning(
    admin: Client, ada: User, neuro: Benchmark, group: str
) -> None:
    opened_by_link(admin, group)
    body = {"email": "bo@example.org", "name": "", "role": "researcher"}
    neuro.roles.create(user=ada, role="admin")
    assert "opened with" not in admin.post("/b/neuro/people/", body, follow=True).content.decode()
    Invitation.objects.update(sent_at=timezone.now(), link_shown_at=None, link_shown_to=None)
    nia = Client()
    nia.force_login(neuro.roles.exclude(user=ada).filter(role="admin").get().user)
    assert "opened with" not in nia.post("/b/neuro/people/", body, follow=True).content.decode()


@pytest.mark.parametrize("address", ["{group}", "/b/cardio/people/", "/b/cardio/people/authors/"])
def test_the_form_says_before_that_no_mail_goes_out(admin: Client, group: str, address: str) -> None:
    page = admin.get(address.format(group=group)).content.decode()
    assert (
        "No mail server is set up. For people who have never signed in, you receive an invitation link to pass on"
        in page
    )
    assert "receive an email" not in page


def test_the_api_answers_with_the_link_once(admin: Client, benchmark: Benchmark, group: str) -> None:
    address = f"/api/v1/benchmarks/cardio/groups/{group.split('/')[-2]}/members/"
    body = {"email": "bo@example.org", "name": "Bo Li", "role": "annotator"}
    answer = admin.post(address, body, content_type="application/json")
    assert answer.status_code == 201
    assert answer.json()["invitation"] == "link"
    assert answer["Cache-Control"] == "no-store"
    path = answer.json()["link"].removeprefix("http://localhost:8000")
    assert Client().get(path).status_code == 200
    assert "welcome" not in admin.get(address).content.decode()
    second = admin.post(address, {**body, "role": "checker"}, content_type="application/json").json()
    assert (second["invitation"], second["link"]) == ("link_before", "")
    known = UserFactory(email="kim@example.org", last_login=timezone.now())
    third = admin.post(address, {**body, "email": known.email}, content_type="application/json").json()
    assert (third["invitation"], third["link"]) == ("none", "")


def test_the_api_says_that_a_mail_went_out(admin: Client, benchmark: Benchmark, group: str, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    address = f"/api/v1/benchmarks/cardio/groups/{group.split('/')[-2]}/members/"
    body = {"email": "bo@example.org", "name": "Bo Li", "role": "annotator"}
    answer = admin.post(address, body, content_type="application/json").json()
    assert (answer["invitation"], answer["link"]) == ("mail", "")


def test_a_link_in_the_address_of_a_refused_form_is_not_logged(admin: Client, group: str) -> None:
    link = link_of(add(admin, group))
    refused = Client().post(link, {"name": "Bo Li", **NEW, "again": "another"})
    assert refused.status_code == 422  # and Django logs the address of what it refuses


# Passwords ------------------------------------------------------------------------------------------------------------


def test_the_page_for_forgotten_passwords_says_who_helps(client: Client) -> None:
    for language, words in (
        ("en", ("No mail server is set up", "Ask your study coordinator", "ask the server administrator")),
        ("zh-hans", ()),
    ):
        page = Client(headers={"accept-language": language}).get(RESET)
        assert page.status_code == 200
        assert all(word in page.content.decode() for word in words)
        assert b'type="email"' not in page.content


def test_a_request_for_a_link_prints_none(client: Client, capfd: pytest.CaptureFixture[str]) -> None:
    UserFactory(email="ana@example.org")
    answer = client.post(RESET, {"email": "ana@example.org"}, follow=True)
    assert "No mail server is set up" in answer.content.decode()
    assert "has been sent" not in answer.content.decode()
    printed = "".join(capfd.readouterr())
    assert "/reset/key/" not in printed
    assert "ana@example.org" not in printed


def test_whoever_runs_the_server_makes_a_link_that_works_once(client: Client) -> None:
    ana = UserFactory(email="ana@example.org")
    for number in range(8):  # locked out
        client.post("/accounts/login/", {"login": "ana@example.org", "password": f"guess {number}"})
    out = StringIO()
    call_command("password_link", "Ana@example.org", stdout=out, stderr=StringIO())
    link = out.getvalue().strip()
    assert link.startswith("http://localhost:8000/accounts/password/reset/key/")
    path = link.removeprefix("http://localhost:8000")
    visitor = Client()
    page = visitor.get(path, follow=True)
    form = {"password1": "seven quiet herons", "password2": "seven quiet herons"}
    visitor.post(page.redirect_chain[-1][0], form)
    assert visitor.get("/session").json()["signed_in"]
    ana.refresh_from_db()
    assert ana.check_password("seven quiet herons")
    assert not ana.check_password(PASSWORD)
    assert Client().get(path).status_code == 200
    assert "This link no longer works" in Client().get(path).content.decode()
    signing_in = Client()
    signing_in.post("/accounts/login/", {"login": "ana@example.org", "password": "seven quiet herons"})
    assert signing_in.get("/session").json()["signed_in"]


@pytest.mark.parametrize("email", ["nobody@example.org", "gone@example.org", ""])
def test_no_link_is_made_for_who_cannot_sign_in(email: str) -> None:
    UserFactory(email="gone@example.org", is_active=False)
    UserFactory(email="")
    with pytest.raises(CommandError, match="No active account"):
        call_command("password_link", email)


def password_link_of(answer: Any) -> str:
    (link,) = re.findall(
        r"http://localhost:8000(/accounts/password/reset/key/[^<\s]+)", unescape(answer.content.decode())
    )
    return str(link)


def test_an_admin_gets_a_link_to_a_new_password_once_and_on_record(admin: Client, ada: User, group: str) -> None:
    opened_by_link(admin, group)
    bo = User.objects.get(email="bo@example.org")
    assert "Password link" in admin.get(group).content.decode()
    # So does the list of everybody, for this person alone: Ada has another way.
    assert admin.get("/b/cardio/people/all/").content.decode().count('action="/b/cardio/password-links/"') == 1
    page = admin.post("/b/cardio/password-links/", {"person": bo.pk, "next": group})
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    link = password_link_of(page)
    record = PasswordLink.objects.get()
    assert (record.user, record.link_shown_to, record.scope) == (bo, ada, "cardio")
    # The owner of the account is told, and sees it after the next sign-in.
    notice = Notification.objects.get(user=bo, kind="account")
    assert (notice.url, notice.values) == ("/accounts/password/change/", {"admin": "Ada Admin"})
    assert words_of(notice).text.startswith("An admin was shown a link with which a new password")
    listed = admin.get(group).content.decode()
    assert "password link shown to Ada Admin" in listed
    assert link not in listed
    with pytest.raises(DatabaseError, match="on_record"), transaction.atomic():
        PasswordLink.objects.update(link_shown_to=bo)
    with pytest.raises(DatabaseError, match="on_record"), transaction.atomic():
        record.delete()

    visitor = Client()
    form = visitor.get(link, follow=True)
    shown = form.content.decode()
    assert "For the account of Bo Li." in shown
    assert bo.email not in shown
    visitor.post(form.redirect_chain[-1][0], {"password1": "nine calm otters", "password2": "nine calm otters"})
    assert Client().login(email="bo@example.org", password="nine calm otters")
    assert "password1" not in Client().get(link, follow=True).content.decode()


@pytest.mark.parametrize("more", [_who_creates_benchmarks, _with_a_part_elsewhere, _invited_elsewhere])
def test_a_password_link_that_an_admin_holds_ends_when_the_account_gets_more(
    admin: Client, group: str, more: Any
) -> None:
    opened_by_link(admin, group)
    bo = User.objects.get(email="bo@example.org")
    link = password_link_of(admin.post("/b/cardio/password-links/", {"person": bo.pk, "next": group}))
    assert "password1" in Client().get(link, follow=True).content.decode()
    more(bo)
    assert "password1" not in Client().get(link, follow=True).content.decode()


def test_a_newer_password_link_ends_an_older_one(admin: Client, group: str) -> None:
    opened_by_link(admin, group)
    person = {"person": User.objects.get(email="bo@example.org").pk, "next": group}
    older, newer = (password_link_of(admin.post("/b/cardio/password-links/", person)) for _number in range(2))
    assert "password1" not in Client().get(older, follow=True).content.decode()
    assert "password1" in Client().get(newer, follow=True).content.decode()


def test_no_link_to_a_new_password_where_the_account_has_more_or_a_mail_would_do(
    admin: Client, ada: User, benchmark: Benchmark, group: str, settings: Any
) -> None:
    link_of(add(admin, group))
    bo = User.objects.get(email="bo@example.org")

    def refusal(person: User) -> str:
        page = admin.post("/b/cardio/password-links/", {"person": person.pk, "next": group}, follow=True)
        assert not PasswordLink.objects.exists()
        return page.content.decode()

    assert "Create an invitation link instead." in refusal(bo)
    Client().post(link_of(admin.post(f"/b/cardio/invitations/{Invitation.objects.get().public_id}/again/")), {
        "name": "Bo Li", **NEW})  # fmt: skip
    _with_a_part_elsewhere(bo)
    assert "Ask the server administrator for a link." in refusal(bo)
    assert "Ask the server administrator for a link." in refusal(ada)
    assert admin.post("/b/cardio/password-links/", {"person": UserFactory().pk}).status_code == 404
    # Somebody who had an account before they were added: an admin could take it over by adding them.
    kim = UserFactory(email="kim@example.org", last_login=timezone.now())
    admin.post(f"{group}members/", {"email": kim.email, "name": "", "role": "checker"})
    assert "Ask the server administrator for a link." in refusal(kim)
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert "mails a link to the person" in refusal(bo)
    assert "Password link" not in admin.get(group).content.decode()


def test_another_admin_is_warned_of_a_link_to_a_new_password(admin: Client, neuro: Benchmark, group: str) -> None:
    opened_by_link(admin, group)
    Invitation.objects.update(sent_at=timezone.now(), link_shown_at=None, link_shown_to=None)
    admin.post("/b/cardio/password-links/", {"person": User.objects.get(email="bo@example.org").pk})
    nia = Client()
    nia.force_login(neuro.roles.get().user)
    form = {"email": "bo@example.org", "name": "", "role": "researcher"}
    page = unescape(nia.post("/b/neuro/people/", form, follow=True).content.decode())
    assert "Ada Admin was shown a link to set a new password for this account." in page
