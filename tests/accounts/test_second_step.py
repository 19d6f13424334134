"""A second step that the server or a benchmark demands: who is led to its set-up, from where, and back."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, SecurityEvent, User
from accounts.services import second_factor
from consilium.core.errors import DomainError
from rubrics.models import Benchmark, BenchmarkRole
from tests.accounts.second_step_tools import code_of, kept_fields, let_time_pass, set_up_app, signed_in
from tests.annotation.conftest import build_workshop
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory, token_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
EXPLANATION = "/profile/second-step/"


@pytest.fixture
def admin() -> User:
    return UserFactory(email="ada@example.org", name="Ada")


@pytest.fixture
def benchmark(admin: User) -> Benchmark:
    return BenchmarkFactory(slug="study", title="The study", admin=admin)


def demand(benchmark: Benchmark, days: float = 0) -> None:
    """As if its admin had set the rule: it applies since ``days`` ago."""
    benchmark.second_step_from = timezone.now() - timedelta(days=days, seconds=1)
    benchmark.save()


def leads_to_explanation(answer: Any, page: str) -> bool:
    return bool(answer.status_code == 302 and answer["Location"] == f"{EXPLANATION}?next={page.replace('/', '%2F')}")


def test_who_has_none_is_led_to_the_explanation_and_after_the_set_up_back(admin: User, benchmark: Benchmark) -> None:
    demand(benchmark)
    client = signed_in(admin)
    assert leads_to_explanation(client.get("/b/study/cases/"), "/b/study/cases/")
    page = client.get("/b/study/cases/", follow=True).content.decode()
    assert "The benchmark “The study” requires it for its pages and data." in page
    assert 'href="/accounts/2fa/totp/activate/"' in page and 'href="/accounts/2fa/webauthn/add/"' in page
    # Right after a sign-in nobody is asked for the password again.
    secret, codes = set_up_app(client)
    assert codes.redirect_chain[-1][0] == "/accounts/2fa/recovery-codes/"
    [back] = re.findall(r'<a href="([^"]+)">Continue where you left off', codes.content.decode())
    arrived = client.get(back, follow=True)
    assert arrived.redirect_chain[-1][0] == "/b/study/cases/"
    assert arrived.status_code == 200
    # The next sign-in asks for it.
    other = Client()
    step = other.post("/accounts/login/", {"login": admin.email, "password": PASSWORD}, follow=True)
    assert step.redirect_chain[-1][0] == "/accounts/2fa/authenticate/"
    Authenticator.objects.filter(type="totp").update(last_used_at=None)
    assert other.get("/b/study/cases/").status_code == 302
    assert other.post("/accounts/2fa/authenticate/", {"code": "000000"}).status_code == 200
    assert code_of(secret)


def test_only_the_pages_of_that_benchmark_are_closed(admin: User, benchmark: Benchmark) -> None:
    BenchmarkFactory(slug="other", admin=admin)
    demand(benchmark)
    client = signed_in(admin)
    for page in ("/b/other/", "/", "/profile/", "/benchmarks/", "/notifications/", "/api/v1/benchmarks/other/"):
        assert client.get(page).status_code == 200, page
    for page in ("/b/study/", "/b/study/settings/", "/b/study/cases.csv", "/b/study/agreement/"):
        assert leads_to_explanation(client.get(page), page), page
    assert "requires a second step for signing in" in client.get("/").content.decode()


def test_the_api_refuses_with_a_code_by_session_and_by_token(admin: User, benchmark: Benchmark) -> None:
    BenchmarkFactory(slug="other", admin=admin)
    token = Client(headers={"Authorization": f"Token {token_of(admin)}"})
    demand(benchmark)
    session = signed_in(admin)
    with pytest.raises(DomainError, match="second step"):
        token_of(admin)
    for client in (session, token):
        answer = client.get("/api/v1/benchmarks/study/")
        assert (answer.status_code, answer.json()["code"]) == (403, "second_step_required")
        assert "Two-step sign-in" in answer.json()["detail"]
        assert client.get("/api/v1/benchmarks/other/").status_code == 200
    set_up_app(session)
    for client in (session, token):
        assert client.get("/api/v1/benchmarks/study/").status_code == 200


def test_a_list_of_the_api_leaves_out_what_is_closed(admin: User, benchmark: Benchmark) -> None:
    BenchmarkFactory(slug="other", admin=admin)
    token = Client(headers={"Authorization": f"Token {token_of(admin)}"})
    session = signed_in(admin)

    def listed(client: Client) -> list[str]:
        return [row["slug"] for row in client.get("/api/v1/benchmarks/").json()["results"]]

    demand(benchmark, days=-1)
    assert [listed(client) for client in (session, token)] == [["other", "study"]] * 2
    demand(benchmark)
    assert [listed(client) for client in (session, token)] == [["other"]] * 2
    set_up_app(session)
    assert [listed(client) for client in (session, token)] == [["other", "study"]] * 2


@pytest.mark.parametrize("word", ["abc", "https://elsewhere.example.com/", "//elsewhere.example.com/", "javascript:1"])
def test_only_a_path_of_this_site_is_led_to(admin: User, benchmark: Benchmark, word: str) -> None:
    client = signed_in(admin)
    demand(benchmark)
    page = "/profile/second-step/"
    assert client.get(page, {"next": word}).status_code == 200
    set_up_app(client)
    assert client.get(page, {"next": word})["Location"] == "/accounts/2fa/"
    assert client.get(page, {"next": "/b/study/"})["Location"] == "/b/study/"
    invited = UserFactory()
    benchmark.roles.create(user=invited, role="researcher")
    answer = client.post("/b/study/invitations/", {"person": invited.pk, "next": word})
    assert answer["Location"] == "/b/study/people/"


def test_a_script_gets_401_and_the_session_says_why(admin: User, benchmark: Benchmark) -> None:
    client = signed_in(admin)
    assert client.get("/session").json()["second_step_missing"] is False
    demand(benchmark)
    for headers in ({"HX-Request": "true"}, {"Accept": "application/json"}):
        answer = client.get("/b/study/cases/", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "second_step_required")
    assert client.get("/session").json()["second_step_missing"] is True


def test_a_form_that_was_sent_is_kept_and_sent_again_afterwards(admin: User, benchmark: Benchmark) -> None:
    client = signed_in(admin)
    demand(benchmark)
    sent = {"title": "New <title>", "description": "", "guidelines": "a\nb", "rule_sheet": "", "licence": ""}
    refused = client.post("/b/study/settings/", sent)
    assert refused.status_code == 403
    page = refused.content.decode()
    assert "What you sent has not been saved yet. It is kept on this page." in page
    assert kept_fields(page) == sent
    benchmark.refresh_from_db()
    assert benchmark.title == "The study"
    set_up_app(client)
    assert client.post("/b/study/settings/", kept_fields(page)).status_code == 302
    benchmark.refresh_from_db()
    assert (benchmark.title, benchmark.guidelines) == ("New <title>", "a\nb")


def test_before_its_day_there_is_a_notice_and_nothing_is_closed(admin: User, benchmark: Benchmark) -> None:
    demand(benchmark, days=-3)
    client = signed_in(admin)
    for page in ("/b/study/", "/"):
        assert "the benchmark “The study” requires a second step" in client.get(page).content.decode()
    set_up_app(client)
    assert "requires a second step" not in client.get("/b/study/").content.decode()


def test_members_of_groups_are_led_from_their_work() -> None:
    workshop = build_workshop()
    demand(workshop.benchmark)
    [work, *_rest] = workshop.queue()
    client = signed_in(workshop.annotator)
    for page in ("/work/", f"/work/{work.public_id}/"):
        assert leads_to_explanation(client.get(page), page), page
    saved = client.post(
        f"/work/{work.public_id}/decisions/", data="{}", content_type="application/json", headers={"HX-Request": "true"}
    )
    assert saved.status_code == 401
    assert client.get(f"/api/v1/work/assignments/{work.public_id}/").status_code == 403


@pytest.mark.parametrize(("rule", "closed_to"), [("all", {"ada", "olga"}), ("operators", {"olga"}), ("", set())])
def test_the_rule_of_the_server(admin: User, settings: Any, rule: str, closed_to: set[str]) -> None:
    operator = UserFactory(email="olga@example.org", is_superuser=True)
    settings.REQUIRE_SECOND_FACTOR = rule
    for name, user in (("ada", admin), ("olga", operator)):
        client = signed_in(user)
        assert leads_to_explanation(client.get("/profile/"), "/profile/") == (name in closed_to)
        assert second_factor.missing(user) == second_factor.is_required(user) == (name in closed_to)
        assert client.get("/accounts/2fa/").status_code == 200
        assert client.get("/healthz").status_code in (200, 503)
        set_up_app(client)
        assert client.get("/profile/").status_code == 200
        assert second_factor.has_factor(user)
        assert not second_factor.missing(user)


def test_the_last_step_stays_while_it_is_required(admin: User, benchmark: Benchmark) -> None:
    client = signed_in(admin)
    set_up_app(client)
    demand(benchmark)
    page = client.get("/accounts/2fa/totp/deactivate/").content.decode()
    assert "You need a second step. Add another one before you remove this one." in page
    client.post("/accounts/2fa/totp/deactivate/")
    assert Authenticator.objects.filter(type="totp").exists()
    Authenticator.objects.filter(type="totp").update(type="webauthn", data={"name": "Laptop", "credential": {}})
    key = Authenticator.objects.get(type="webauthn")
    refused = client.post(f"/accounts/2fa/webauthn/keys/{key.pk}/remove/")
    assert refused.status_code == 422
    assert "“The study” requires a second step of you." in refused.content.decode()
    assert Authenticator.objects.filter(type="webauthn").exists()
    benchmark.second_step_from = None
    benchmark.save()
    assert client.post(f"/accounts/2fa/webauthn/keys/{key.pk}/remove/").status_code == 302
    assert not Authenticator.objects.exists()  # the recovery codes go with the last step


def test_another_persons_key_is_not_there(admin: User) -> None:
    key = Authenticator.objects.create(user=UserFactory(), type="webauthn", data={"name": "Laptop"})
    client = signed_in(admin)
    assert client.post(f"/accounts/2fa/webauthn/keys/{key.pk}/remove/").status_code == 404
    assert Authenticator.objects.filter(pk=key.pk).exists()


def test_an_admin_sets_the_day_changes_it_and_takes_the_rule_back(admin: User, benchmark: Benchmark) -> None:
    client = signed_in(admin)
    page = client.get("/b/study/settings/").content.decode()
    in_a_week = (timezone.localdate() + timedelta(days=7)).isoformat()
    assert f'value="{in_a_week}"' in page
    assert "Without a second step: 1 of 1 person." in " ".join(page.split())
    address = "/b/study/settings/second-step/"
    assert client.post(address, {"action": "require", "since": "soon"}).status_code == 422
    assert client.post(address, {"action": "require", "since": "2099-01-01"}).status_code == 422
    assert client.post(address, {"action": "require", "since": in_a_week}).status_code == 302
    benchmark.refresh_from_db()
    assert benchmark.second_step_from is not None
    assert benchmark.second_step_from.isoformat() == f"{in_a_week}T00:00:00+00:00"
    assert client.get("/b/study/").status_code == 200
    assert client.post(address, {"action": "require", "since": "2020-01-01"}).status_code == 302
    assert client.get("/b/study/").status_code == 302
    set_up_app(client)
    assert client.post(address, {"action": "stop"}).status_code == 302
    benchmark.refresh_from_db()
    assert benchmark.second_step_from is None
    lines = SecurityEvent.objects.filter(scope="study").order_by("pk")
    assert [(line.kind, line.by) for line in lines] == [
        ("second_step_required", admin),
        ("second_step_required", admin),
        ("second_step_not_required", admin),
    ]
    events = benchmark.events.order_by("pgh_id")  # type: ignore[attr-defined]  # of the audit trail
    assert [event.second_step_from is None for event in events] == [True, False, False, True]


def test_the_api_sets_the_rule_as_the_page_does(admin: User, benchmark: Benchmark) -> None:
    BenchmarkRole.objects.create(benchmark=benchmark, user=UserFactory(), role="researcher")
    client = signed_in(admin)
    set_up_app(client)
    address = "/api/v1/benchmarks/study/second-step/"
    assert client.get(address).json() == {"since": None, "people": 2, "without": 1}
    later = (timezone.now() + timedelta(days=3)).replace(microsecond=0)

    def put(since: str | None) -> Any:
        return client.put(address, {"since": since}, content_type="application/json")

    assert datetime.fromisoformat(put(later.isoformat()).json()["since"]) == later
    assert put("2099-01-01T00:00:00Z").json()["errors"][0]["field"] == "since"
    now = timezone.now()
    applied = datetime.fromisoformat(put("2020-01-01T00:00:00Z").json()["since"])
    assert now <= applied <= timezone.now()
    let_time_pass(client)
    refused = put(None)
    assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_required")
    assert signed_in(admin).get("/session").json()["signed_in"] is False  # the code is still to be typed
    benchmark.refresh_from_db()
    assert benchmark.second_step_from == applied


def test_who_lost_the_step_is_let_in_by_whoever_runs_the_server(
    admin: User, benchmark: Benchmark, settings: Any, mailoutbox: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.SESSION_ENGINE = "accounts.sessions"  # as on a server
    before = signed_in(admin)
    set_up_app(before)
    token_of(admin)
    mailoutbox.clear()
    with django_capture_on_commit_callbacks(execute=True):
        call_command("remove_second_factor", "ADA@example.org")
    assert not Authenticator.objects.exists()
    assert before.get("/session").json()["signed_in"] is False
    assert ApiToken.objects.get().revoked_at is not None
    [mail] = mailoutbox
    assert mail.to == ["ada@example.org"]
    assert mail.subject == "Your second step for signing in was removed"
    assert "/accounts/2fa/" in mail.body
    line = SecurityEvent.objects.get(kind="factor_removed", values__by_command=True)
    assert (line.user, line.by, line.values["kinds"]) == (admin, None, ["totp"])
    assert signed_in(admin).get("/b/study/").status_code == 200
    with pytest.raises(CommandError, match="has no second step"):
        call_command("remove_second_factor", "ada@example.org")
    with pytest.raises(CommandError, match="No account"):
        call_command("remove_second_factor", "nobody@example.org")
