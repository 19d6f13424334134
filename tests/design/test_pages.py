"""Pages in a real browser: axe, both themes, two widths, the keyboard, the CSP."""

from __future__ import annotations

import base64
import hmac
import struct
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from playwright.sync_api import expect

from accounts.models import User
from consilium.core import navigation
from tests.axe import axe_violations
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory

if TYPE_CHECKING:
    from playwright.sync_api import Page

NewPage = Callable[..., "Page"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("tests.design.style_urls"), pytest.mark.slow]

# Every page is looked at in tests/access/test_axe_everywhere.py; these show what none of them does.
SIGNED_OUT = ["/accounts/login/", "/accounts/signup/"]
SIGNED_IN = ["/style", "/split", "/nothing-here"]


@pytest.fixture
def ana() -> User:
    """A physician who also runs a benchmark, so that its top bar is on the pages."""
    user: User = UserFactory(email="ana@example.org", name="Ana Ruiz")
    BenchmarkFactory(title="Cardiology pilot", admin=user)
    return user


@pytest.fixture(autouse=True)
def sections(monkeypatch: pytest.MonkeyPatch) -> None:
    """The top bar is full, as on the widest of real pages."""
    names = {
        "": ["Overview"],
        "content": ["Cases", "Candidates", "Imports"],
        "work": ["Groups", "Batches", "Progress", "Conflicts", "Quality"],
        "results": ["Judges", "Agreement", "Calibration"],
    }
    places = [(section, name) for section, listed in names.items() for name in listed]
    items = {
        name: navigation.Item(name, "section", frozenset({"admin"}), order, section)
        for order, (section, name) in enumerate(places)
    }
    monkeypatch.setattr(navigation, "_items", items)


def open_quietly(new_page: NewPage, user: User | None, scheme: str, width: int) -> Page:
    return new_page(user, color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce")


def faults(page: Page, addresses: list[str]) -> dict[str, Any]:
    faults_by_address: dict[str, Any] = {}
    for address in addresses:
        page.goto(address)
        wrong = axe_violations(page)
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wider > 0:
            wrong.append(f"scrolls sideways by {wider} px")
        if wrong:
            faults_by_address[address] = wrong
    return faults_by_address


def test_pages_are_accessible_and_fit(new_page: NewPage, watch: Any, ana: User) -> None:
    watch.allow("status of 404")
    assert faults(open_quietly(new_page, ana, "light", 1280), SIGNED_IN) == {}
    assert faults(open_quietly(new_page, None, "light", 768), SIGNED_OUT) == {}


def test_components_are_accessible_and_fit_in_the_dark_on_a_tablet(new_page: NewPage, ana: User) -> None:
    page = open_quietly(new_page, ana, "dark", 768)
    assert faults(page, ["/split", "/profile/", "/style"]) == {}
    page.locator("details[data-menu] > summary").click()
    assert axe_violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Close batch").first.click()
    assert axe_violations(page) == []


def totp(secret: str) -> str:
    """The code of RFC 6238 for now: SHA-1, 30 seconds, 6 digits."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), "sha1")
    start = digest[-1] & 15
    return f"{(int.from_bytes(digest[start : start + 4], 'big') & 0x7FFFFFFF) % 10**6:06}"


def test_two_step_sign_in_from_set_up_to_a_recovery_code(new_page: NewPage, ana: User, settings: Any) -> None:
    settings.MFA_TOTP_TOLERANCE = 1  # the 30 seconds of a code may end between its making and its check
    page = open_quietly(new_page, None, "light", 1280)
    page.goto("/accounts/login/?next=/accounts/2fa/totp/activate/")
    page.get_by_label("Email").fill("ana@example.org")
    page.locator("main").get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.locator("img.qr").wait_for()  # the sign-in was a proof of who is there
    expect(page.locator("img.qr")).to_have_js_property("complete", True)
    assert page.evaluate("document.querySelector('img.qr').naturalWidth") > 0  # the CSP lets the code through
    assert axe_violations(page) == []
    secret = page.get_by_label("Authenticator secret").input_value()
    page.get_by_label("Authenticator code").fill(totp(secret))
    page.get_by_role("button", name="Activate").click()
    page.get_by_role("heading", name="Recovery Codes").wait_for()
    assert axe_violations(page) == []
    page.goto("/accounts/2fa/recovery-codes/")
    recovery_code = page.get_by_label("Unused codes").input_value().split()[0]
    for address in ("/accounts/2fa/", "/accounts/2fa/totp/deactivate/", "/accounts/2fa/recovery-codes/generate/"):
        page.goto(address)
        assert axe_violations(page) == [], address
    page.goto("/accounts/logout/")
    page.get_by_role("button", name="Sign out").last.click()
    page.get_by_label("Email").fill("ana@example.org")
    page.locator("main").get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("heading", name="Second step").wait_for()
    assert axe_violations(page) == []
    page.get_by_role("textbox").fill(recovery_code)
    page.get_by_role("button", name="Sign In").click()
    page.get_by_role("heading", name="Welcome, Ana Ruiz").wait_for()


def test_every_answer_has_the_strict_policy(ana: User) -> None:
    client = Client(raise_request_exception=False)
    anonymous = [client.get(address) for address in SIGNED_OUT]
    client.force_login(ana)
    for response in [*anonymous, *(client.get(address) for address in [*SIGNED_IN, "/session"])]:
        policy = response["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "style-src 'self'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy


def test_htmx_is_set_up_safely_and_gets_the_token_once(new_page: NewPage, ana: User) -> None:
    page = new_page(ana)
    page.goto("/style")
    config = page.evaluate("Object.assign({}, htmx.config)")
    assert config["allowEval"] is False
    assert config["allowScriptTags"] is False
    assert config["selfRequestsOnly"] is True
    assert config["includeIndicatorStyles"] is False
    assert page.evaluate("htmx.version").startswith("2.")
    assert page.locator("[hx-headers]").count() == 1
    assert page.evaluate("JSON.parse(document.body.getAttribute('hx-headers'))['X-CSRFToken'].length") == 64


def test_theme_follows_the_system_until_chosen_and_is_there_before_the_first_paint(
    new_page: NewPage, ana: User
) -> None:
    page = new_page(ana, color_scheme="light")
    page.goto("/")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(ground) == "rgb(251, 250, 248)"
    page.locator("details[data-menu] > summary").click()
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(ground) == "rgb(20, 24, 29)"
    # The attribute stands when the parser reaches <body>, before anything can have been painted.
    page.add_init_script(
        "new MutationObserver((_, observer) => { if (!document.body) return;"
        " window.themeAtBody = document.documentElement.dataset.theme; observer.disconnect(); })"
        ".observe(document, {childList: true, subtree: true});"
    )
    page.reload()
    assert page.evaluate("window.themeAtBody") == "dark"
    assert page.evaluate(ground) == "rgb(20, 24, 29)"
    page.locator("details[data-menu] > summary").click()
    assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="System").click()
    assert page.evaluate(ground) == "rgb(251, 250, 248)"


def test_menu_and_dialog_work_from_the_keyboard(new_page: NewPage, ana: User) -> None:
    page = new_page(ana)
    page.goto("/style")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    summary = page.locator("details[data-menu] > summary")
    summary.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Profile").wait_for()
    page.keyboard.press("Escape")
    assert not page.get_by_role("link", name="Profile").is_visible()
    assert summary.evaluate("element => element === document.activeElement")
    button = page.get_by_role("button", name="Close batch").first
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Close this batch?")
    dialog.wait_for()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert button.evaluate("element => element === document.activeElement")


def test_language_is_switched_and_the_page_stays(new_page: NewPage, ana: User) -> None:
    page = new_page(ana)
    page.goto("/profile/")
    page.locator("details[data-menu] > summary").click()
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    assert page.url.endswith("/profile/")


def test_demo_sign_in_fills_the_form(new_page: NewPage, ana: User, monkeypatch: pytest.MonkeyPatch) -> None:
    from demo import context

    person = SimpleNamespace(role="Annotator", email="ana@example.org", password=PASSWORD)
    monkeypatch.setattr(context, "_sign_ins", lambda: [person])
    page = new_page()
    page.goto("/accounts/login/")
    assert axe_violations(page) == []
    page.get_by_role("button", name="Annotator").click()
    assert page.get_by_label("Email").input_value() == "ana@example.org"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Welcome, Ana Ruiz").wait_for()


def test_a_session_that_ended_opens_a_dialog_and_goes_on_after_signing_in(
    new_page: NewPage, watch: Any, ana: User
) -> None:
    watch.allow("status of 401", "Response Status Error Code 401")
    page = new_page(ana)
    page.goto("/style")
    old = page.evaluate("document.body.getAttribute('hx-headers')")
    page.context.clear_cookies()
    page.evaluate("htmx.ajax('GET', '/refused', {target: '#main', swap: 'none'})")
    dialog = page.get_by_role("dialog", name="You have been signed out")
    dialog.wait_for()
    assert axe_violations(page) == []
    dialog.get_by_role("button", name="I have signed in").click()
    dialog.get_by_text("You are not signed in yet").wait_for()
    client = Client()
    client.force_login(ana)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": page.url.removesuffix("/style")}]
    )
    dialog.get_by_role("button", name="I have signed in").click()
    dialog.wait_for(state="hidden")
    assert page.evaluate("document.body.getAttribute('hx-headers')") != old


def test_file_drop_names_the_chosen_file(new_page: NewPage, ana: User) -> None:
    page = new_page(ana)
    page.goto("/style")
    page.locator("input[type=file]").set_input_files(
        {"name": "cases.jsonl", "mimeType": "application/jsonl", "buffer": b"x" * 2048}
    )
    page.get_by_text("cases.jsonl (2 KB)").wait_for()


def test_chinese_labels_have_a_weight_that_windows_draws_as_text(new_page: NewPage, ana: User) -> None:
    """Microsoft YaHei has 400 and 700 alone, and a browser draws anything above 500 as 700 (CSS Fonts 4, 5.2)."""
    User.objects.filter(pk=ana.pk).update(language="zh-hans")
    page = new_page(ana)
    page.goto("/profile/")
    weights = "elements => elements.map(element => Number(getComputedStyle(element).fontWeight))"
    labels = page.locator(".field label").evaluate_all(weights)
    assert labels and max(labels) <= 500
    assert min(page.locator("h1").evaluate_all(weights)) >= 600
