"""Passkeys in Chromium with a virtual authenticator, and pages that a demanded second step closes in the middle."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User, UserSession
from agreement.models import ThresholdChoice
from annotation.models import Decision
from rubrics.models import Benchmark
from tests.accounts.second_step_tools import LONG_AGO, code_of
from tests.annotation.conftest import build_workshop
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]


def plug_in_key(page: Page) -> None:
    """An authenticator inside the device, which recognises its owner at once."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def type_password(page: Page, user: User) -> None:
    page.get_by_label("Email").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.goto("/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def let_time_pass() -> None:
    """Move the proofs of every session into the past."""
    for row in UserSession.objects.all():
        data = row.get_decoded()
        if "signed_in_at" in data:
            data["signed_in_at"] -= LONG_AGO
        for record in data.get("account_authentication_methods", []):
            record["at"] -= LONG_AGO
        row.session_data = UserSession.get_session_store_class()().encode(data)  # type: ignore[attr-defined]
        row.save()


@pytest.fixture
def admin() -> User:
    return UserFactory(email="ada@example.org", name="Ada")


@pytest.fixture
def benchmark(admin: User) -> Benchmark:
    return BenchmarkFactory(slug="study", title="The study", admin=admin)


def test_a_passkey_is_added_signs_in_is_a_second_step_and_confirms_a_signature(
    new_page: NewPage, admin: User, benchmark: Benchmark, live_server: object, watch: Watch
) -> None:
    watch.allow("status of 403")  # a signature without a recent proof
    watch.origin = str(live_server).replace("127.0.0.1", "localhost")
    base = watch.origin  # keys belong to a name, not to an address
    page = new_page(base_url=base)
    plug_in_key(page)
    benchmark.second_step_from = timezone.now() - timedelta(hours=1)
    benchmark.save()

    page.goto("/b/study/")
    type_password(page, admin)
    expect(page.get_by_role("heading", name="Set up a second step for signing in")).to_be_visible()
    assert axe_violations(page) == []
    page.get_by_role("link", name="Add a passkey or security key").click()
    page.get_by_label("Name of the key").fill("Work laptop")
    assert axe_violations(page) == []
    page.get_by_role("button", name="Add the key").click()
    expect(page.get_by_label("Unused codes")).to_be_visible()
    page.get_by_role("link", name="Continue where you left off").click()
    expect(page).to_have_url(f"{base}/b/study/")

    # Rename it.
    page.goto("/accounts/2fa/webauthn/")
    assert axe_violations(page) == []
    page.get_by_role("link", name="Rename").click()
    page.get_by_label("Name of the key").fill("Laptop at work")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("rowheader", name="Laptop at work")).to_be_visible()
    # It is the last second step, so it stays.
    page.get_by_role("link", name="Remove").click()
    expect(page.get_by_text("“The study” requires a second step of you.")).to_be_visible()

    # Sign in with the key alone.
    sign_out(page)
    page.goto("/accounts/login/?next=/b/study/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page).to_have_url(f"{base}/b/study/")

    # Use it as the second step.
    sign_out(page)
    type_password(page, admin)
    assert axe_violations(page) == []
    page.get_by_role("button", name="Use a passkey or security key").click()
    expect(page).not_to_have_url(f"{base}/accounts/2fa/authenticate/")
    page.goto("/b/study/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    # Confirm a signature with it.
    page.goto("/b/study/calibration/sign/")
    page.get_by_label("Threshold k").fill("3")
    page.get_by_label("Reason").fill("Agreed in May")
    let_time_pass()
    page.get_by_role("button", name="Sign", exact=True).click()
    expect(page.get_by_role("heading", name="Confirm who you are")).to_be_visible()
    assert axe_violations(page) == []
    page.get_by_role("button", name="Confirm with a passkey or security key").click()
    expect(page.get_by_text("Signed: k = 3, version 1.")).to_be_visible()
    assert ThresholdChoice.objects.get().reason == "Agreed in May"


def test_a_key_that_is_not_there_says_so(new_page: NewPage, admin: User, live_server: object) -> None:
    page = new_page(base_url=str(live_server).replace("127.0.0.1", "localhost"))
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")  # without any authenticator, and without the browser's own window
    page.goto("/accounts/login/")
    page.evaluate(
        "() => { navigator.credentials.get = () => Promise.reject(new DOMException('', 'NotAllowedError')); }"
    )
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("The key was not used")).to_be_visible()


def test_what_was_typed_survives_a_second_step_that_is_demanded_meanwhile(new_page: NewPage, watch: Watch) -> None:
    watch.allow("status of 401")
    workshop = build_workshop()
    [work, *_rest] = workshop.queue()
    page = new_page(workshop.annotator)
    page.goto(f"/work/{work.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    workshop.benchmark.second_step_from = timezone.now() - timedelta(hours=1)
    workshop.benchmark.save()
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog", name="A second step for signing in is now required")
    expect(dialog).to_be_visible()
    assert not Decision.objects.filter(assignment=work).exists()
    dialog.get_by_role("button", name="I have set it up").click()
    expect(dialog.get_by_text("You have no second step yet.")).to_be_visible()

    with page.context.expect_page() as opened:
        dialog.get_by_role("link", name="Set it up in a new tab").click()
    tab = opened.value
    tab.get_by_role("link", name="Set up an authenticator app").click()
    secret = tab.get_by_label("Authenticator secret").input_value()
    tab.get_by_label("code").fill(code_of(secret))
    tab.get_by_role("button", name="Activate").click()
    expect(tab.get_by_label("Unused codes")).to_be_visible()
    assert Authenticator.objects.filter(user=workshop.annotator, type="totp").exists()

    dialog.get_by_role("button", name="I have set it up").click()
    expect(dialog).not_to_be_visible()
    wait_until(lambda: Decision.objects.filter(assignment=work, outcome="met").count() == 1)
