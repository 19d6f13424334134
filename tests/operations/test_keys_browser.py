"""The page of keys in every width and scheme, and a key that an operator grants from the form of a judge."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from playwright.sync_api import Page, expect

from scoring.models import Judge, KeyGrant
from scoring.tasks import ask_on_trial
from tests.axe import axe_violations
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, UserFactory
from tests.scoring.endpoint_trials.trials import newest_trial

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def operator(settings: Any) -> Any:
    """An operator who is the admin of a benchmark as well, as on a machine of one's own."""
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    settings.ENDPOINT_KEYS = ["LOOPBACK_API_KEY@127.0.0.1:9", "OTHER_API_KEY@a-long-name-of-a-host.example.org:8443"]
    benchmark = BenchmarkFactory(slug="own", title="Cardiology cases of the spring")
    KeyGrant.objects.create(name="OTHER_API_KEY", benchmark=benchmark, granted_at=timezone.now())
    KeyGrant.objects.create(name="OTHER_API_KEY", granted_at=timezone.now())
    user = UserFactory(is_superuser=True)
    BenchmarkRoleFactory(benchmark=benchmark, user=user, role="admin")
    return user


def ask_as_a_worker() -> None:
    """Do what a worker does with the trial that was begun last."""
    try:
        ask_on_trial(newest_trial().pk)
    finally:
        connection.close()


def test_nothing_of_the_page_is_cut(new_page: Callable[..., Page], operator: Any) -> None:
    for scheme in ("light", "dark"):
        page = new_page(operator, color_scheme=scheme)
        for width in (390, 768, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto("/server/keys/")
            expect(page.get_by_role("heading", level=1)).to_have_text("Keys of endpoints")
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (scheme, width)
        assert axe_violations(page) == []


def test_an_operator_grants_a_key_without_leaving_the_form(
    new_page: Callable[..., Page], operator: Any, watch: Any
) -> None:
    watch.allow("422")
    page = new_page(operator)
    page.goto("/b/own/judges/new/chat/")
    page.get_by_label("Name", exact=True).fill("keyed")
    page.get_by_label("Model", exact=True).fill("m")
    page.get_by_label("Endpoint").fill("http://127.0.0.1:9/v1")
    page.get_by_label("Environment variable for the key").fill("LOOPBACK_API_KEY")
    page.get_by_role("button", name="Create judge").click()
    expect(page.get_by_text("LOOPBACK_API_KEY is not granted to this benchmark")).to_be_visible()
    page.get_by_role("button", name="Grant LOOPBACK_API_KEY to this benchmark").click()
    expect(page.get_by_text("LOOPBACK_API_KEY is granted to Cardiology cases of the spring.")).to_be_visible()
    page.get_by_role("button", name="Create judge").click()
    expect(page.locator(".trial-waiting")).to_be_visible()
    with ThreadPoolExecutor(1) as worker:  # where no event loop of Playwright runs
        worker.submit(ask_as_a_worker).result()
    expect(page.get_by_text("LOOPBACK_API_KEY is not set where")).to_be_visible()
    page.get_by_label("Save without checking").check()
    page.get_by_role("button", name="Create judge").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("keyed")
    assert Judge.objects.get().config["key_env"] == "LOOPBACK_API_KEY"
