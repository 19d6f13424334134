"""Home, profile, session and signing in, through the front."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.test import Client
from django.urls import path

from accounts.models import User
from config.urls import urlpatterns as project_urlpatterns
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory


def _clock(request: HttpRequest) -> HttpResponse:
    moment = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    template = engines["django"].from_string(
        "{% load i18n consilium_tags %}{{ t|at }} {% get_current_language as l %}{{ l }}"
    )
    return HttpResponse(template.render({"t": moment}, request))


urlpatterns = [path("clock", _clock), *project_urlpatterns]
pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


@pytest.mark.parametrize("address", ["/", "/profile/"])
def test_strangers_are_asked_to_sign_in(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 302
    assert response["Location"] == f"/accounts/login/?next={address}"


def test_people_sign_in_with_their_address_and_land_at_home(client: Client) -> None:
    UserFactory(email="ana@example.org", name="Ana Ruiz")
    response = client.post("/accounts/login/", {"login": "Ana@Example.org", "password": PASSWORD}, follow=True)
    assert response.redirect_chain[-1][0] == "/"
    assert b"Welcome, Ana Ruiz" in response.content


def test_a_wrong_password_shows_an_error_beside_the_form(client: Client) -> None:
    UserFactory(email="ana@example.org")
    response = client.post("/accounts/login/", {"login": "ana@example.org", "password": "wrong"})
    assert response.status_code == 200
    assert b'role="alert"' in response.content
    assert not json.loads(client.get("/session").content)["signed_in"]


def test_home_without_a_benchmark_says_why_and_what_next(client: Client) -> None:
    client.force_login(UserFactory(name=""))
    page = client.get("/").content.decode()
    assert "No benchmark yet" in page
    assert "once your study coordinator adds you" in page


def test_nobody_signs_up(client: Client) -> None:
    form = {"email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD}
    client.post("/accounts/signup/", form)
    assert not User.objects.filter(email="new@example.org").exists()


def test_profile_is_saved_and_holds_for_times_and_words(client: Client) -> None:
    user = UserFactory()
    client.force_login(user)
    response = client.post("/profile/", {"name": "Bo Li", "time_zone": "Asia/Tokyo", "language": "zh-hans"})
    assert response.status_code == 302
    user.refresh_from_db()
    assert (user.name, user.time_zone, user.language) == ("Bo Li", "Asia/Tokyo", "zh-hans")
    page = client.get("/clock").content.decode()
    # 23:30 UTC is 08:30 on the next day in Tokyo.
    assert "08:30" in page
    assert page.endswith("zh-hans")


def test_language_of_the_profile_holds_on_a_new_browser_and_yields_to_its_choice(client: Client) -> None:
    client.force_login(UserFactory(language="zh-hans"))
    assert client.get("/clock").content.decode().endswith("zh-hans")
    client.post("/i18n/setlang/", {"language": "en", "next": "/clock"})
    assert client.get("/clock").content.decode().endswith(" en")


def test_the_language_chosen_in_the_menu_is_the_language_of_the_profile(client: Client) -> None:
    user = UserFactory(language="zh-hans")
    client.force_login(user)
    client.post("/i18n/setlang/", {"language": "en", "next": "/profile/"})
    user.refresh_from_db()
    assert user.language == "en"
    assert '<option value="en" selected>English</option>' in client.get("/profile/").content.decode()
    client.post("/i18n/setlang/", {"language": "xx", "next": "/profile/"})
    user.refresh_from_db()
    assert user.language == "en"


def test_the_profile_form_has_the_language_that_the_browser_chose_before_signing_in(client: Client) -> None:
    user = UserFactory(language="zh-hans")
    client.post("/i18n/setlang/", {"language": "en", "next": "/accounts/login/"})
    client.force_login(user)
    page = client.get("/profile/").content.decode()
    assert '<option value="en" selected>English</option>' in page
    assert "selected>简体中文" not in page


def test_the_toast_after_saving_the_profile_is_in_the_new_language(client: Client) -> None:
    client.force_login(UserFactory(language="en"))
    form = {"name": "Bo Li", "time_zone": "UTC", "language": "zh-hans"}
    page = client.post("/profile/", form, follow=True).content.decode()
    assert "Your profile was saved." not in page
    assert "个人资料已保存" in page


def test_one_readers_zone_does_not_leak_to_the_next(client: Client) -> None:
    client.force_login(UserFactory(time_zone="Asia/Tokyo"))
    assert "08:30" in client.get("/clock").content.decode()
    assert "23:30" in Client().get("/clock").content.decode()


def test_a_zone_that_this_machine_does_not_know_reads_as_utc(client: Client) -> None:
    client.force_login(UserFactory(time_zone="Mars/Olympus"))
    assert "23:30" in client.get("/clock").content.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [{"time_zone": "Nowhere/Else"}, {"language": "xx"}, {"name": "n" * 201}],
    ids=lambda change: next(iter(change)),
)
def test_a_refused_profile_names_the_field_and_changes_nothing(client: Client, change: dict[str, str]) -> None:
    user = UserFactory(name="Ana")
    client.force_login(user)
    response = client.post("/profile/", {"name": "Eve", "time_zone": "UTC", "language": "en", **change})
    assert response.status_code == 422
    (field,) = change
    assert f'id="id_{field}_error"' in response.content.decode()
    user.refresh_from_db()
    assert (user.name, user.time_zone, user.language) == ("Ana", "UTC", "en")


@pytest.mark.slow
def test_fields_outside_the_form_cannot_be_set(client: Client) -> None:
    user = UserFactory()
    client.force_login(user)
    client.post(
        "/profile/",
        {"name": "Ana", "time_zone": "UTC", "language": "en", "is_staff": "on", "is_superuser": "on", "email": "x@y.z"},
    )
    user.refresh_from_db()
    assert not user.is_staff
    assert not user.is_superuser
    assert user.email != "x@y.z"


def test_session_tells_whether_somebody_is_signed_in_and_gives_a_token_that_works() -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.get("/session").json()["signed_in"] is False
    client.force_login(UserFactory())
    answer = client.get("/session")
    assert answer.json()["signed_in"] is True
    assert "no-store" in answer["Cache-Control"]
    form = {"name": "Ana", "time_zone": "UTC", "language": "en"}
    assert client.post("/profile/", form).status_code == 403
    assert client.post("/profile/", form, headers={"X-CSRFToken": answer.json()["csrf_token"]}).status_code == 302


def test_demo_sign_ins_are_shown_only_where_the_demo_is_loaded(client: Client) -> None:
    from demo import SIGN_INS

    assert SIGN_INS
    passwords = {password for _role, _email, password in SIGN_INS}
    page = client.get("/accounts/login/").content.decode()
    assert not any(password in page for password in passwords)
    BenchmarkFactory(slug="demo", is_demo=False)  # somebody's own benchmark of that name
    assert "Try the demo" not in client.get("/accounts/login/").content.decode()


def test_demo_sign_ins_are_shown_with_the_demo(client: Client) -> None:
    from demo import SIGN_INS

    BenchmarkFactory(slug="demo", is_demo=True)
    page = client.get("/accounts/login/").content.decode()
    assert page.count('data-fill="sign-in"') == len(SIGN_INS)
    assert all(role in page and email in page for role, email, _password in SIGN_INS)
    page = client.get("/accounts/login/", headers={"Accept-Language": "zh-hans"}).content.decode()
    shown = re.findall(r'<span class="role">([^<]+)</span>', page)
    assert len(shown) == len(SIGN_INS)
    assert shown[:3] == ["管理员", "研究者", "标注医师，Group A"]
    assert not {role for role, _email, _password in SIGN_INS} & set(shown)


@pytest.mark.django_db
@pytest.mark.slow
def test_a_deactivated_person_reads_whom_to_ask() -> None:
    person = UserFactory(email="ana@example.org", is_active=False)
    person.set_password("a long pass phrase 71")
    person.save()
    body = {"login": "ana@example.org", "password": "a long pass phrase 71"}
    page = Client().post("/accounts/login/", body, follow=True).content.decode()
    assert "This account is deactivated" in page
    assert "ask your study coordinator or the server administrator" in page
    assert "ana@example.org" not in page
