"""Wherever a password is chosen, one that is common, short or like the address is refused, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import User
from accounts.services.first_run import new_setup_code
from accounts.services.invitations import invite
from accounts.services.passwords import password_link
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ADDRESS = "ana.ruiz@example.org"
GOOD = "seven quiet herons"
# "qwertyuiop" is in the list of common passwords that comes with Django, and has ten characters.
WORDS = {
    "qwertyuiop": "This password is too common.",
    "too short": "at least 10 characters",
    "2718281828": "entirely numeric",
    "ana.ruiz@example.or": "too similar",
}
Choose = Callable[[str], str]


def by_invitation() -> Choose:
    person = UserFactory(email=ADDRESS, last_login=None)
    person.set_unusable_password()
    person.save()
    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    issued = invite(
        user=person, scope=benchmark.slug, title="Pilot", part="researcher", by=admin, at=timezone.now(), url="/"
    )
    assert issued is not None and issued.link
    path = urlsplit(issued.link).path

    def choose(password: str) -> str:
        form = {"name": "Ana", "password": password, "again": password, "language": "en", "time_zone": "UTC"}
        return Client().post(path, form).content.decode()

    return choose


def by_link() -> Choose:
    person = UserFactory(email=ADDRESS)
    path = urlsplit(password_link(user=person)).path

    def choose(password: str) -> str:
        visitor = Client()
        form = visitor.get(path, follow=True).request["PATH_INFO"]
        return visitor.post(form, {"password1": password, "password2": password}).content.decode()

    return choose


def by_change() -> Choose:
    client = Client()
    client.force_login(UserFactory(email=ADDRESS))

    def choose(password: str) -> str:
        form = {"oldpassword": PASSWORD, "password1": password, "password2": password}
        return client.post("/accounts/password/change/", form).content.decode()

    return choose


def by_setting_one_after_single_sign_on() -> Choose:
    person = UserFactory(email=ADDRESS)
    person.set_unusable_password()
    person.save()
    client = Client()
    client.force_login(person)

    def choose(password: str) -> str:
        form = {"password1": password, "password2": password}
        return client.post("/accounts/password/set/", form).content.decode()

    return choose


def by_first_account() -> Choose:
    code = new_setup_code(at=timezone.now())

    def choose(password: str) -> str:
        form = {
            "code": code,
            "email": ADDRESS,
            "name": "Ana",
            "password": password,
            "again": password,
            "language": "en",
            "time_zone": "UTC",
        }
        return Client().post("/first-run/", form).content.decode()

    return choose


def by_command() -> Choose:
    def choose(password: str) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PASSWORD", password)
            try:
                call_command("add_person", ADDRESS)
            except CommandError as refused:
                return str(refused)
        return ""

    return choose


@pytest.mark.parametrize(
    "way",
    [by_invitation, by_link, by_change, by_setting_one_after_single_sign_on, by_first_account, by_command],
)
def test_a_weak_password_is_refused_and_a_good_one_is_stored(way: Callable[[], Choose], settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"  # so that the link is shown
    choose = way()

    def stored() -> str:
        return next(iter(User.objects.filter(email=ADDRESS).values_list("password", flat=True)), "")

    before = stored()
    for password, words in WORDS.items():
        answer = choose(password)
        assert words in answer, (password, answer[:300])
        assert stored() == before
    choose(GOOD)
    assert User.objects.get(email=ADDRESS).check_password(GOOD)
