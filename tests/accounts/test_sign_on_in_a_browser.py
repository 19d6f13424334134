"""Single sign-on in a real browser, which applies the Content Security Policy to every step on the way."""

from __future__ import annotations

from typing import Any

import pytest

from tests.accounts.oidc_provider import running_provider
from tests.factories import UserFactory


@pytest.mark.django_db(transaction=True)
def test_the_button_on_the_sign_in_page_leads_through_the_provider_and_home(
    page: Any, watch: Any, live_server: Any, settings: Any
) -> None:
    UserFactory(email="ana@example.org", name="Ana Ruiz")
    with running_provider() as provider:
        settings.SOCIALACCOUNT_PROVIDERS = provider.settings()
        provider.says({"email": "ana@example.org", "email_verified": True})
        page.goto("/accounts/login/")
        page.get_by_role("link", name="Clinic sign-on").click()
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("Welcome, Ana Ruiz").wait_for()
        watch.outside[:] = [url for url in watch.outside if not url.startswith(provider.url)]
