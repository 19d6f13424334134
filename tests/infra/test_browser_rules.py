"""What answers tell browsers and caches: cookies, headers, redirects; and what the web tier does not give away."""

from __future__ import annotations

import contextlib
import html
import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from tests.factories import PASSWORD, UserFactory
from tests.infra.over_https import HOST
from tests.processes import ROOT

ADDRESS = "ana@example.org"
YEAR = 31_536_000
STYLES = "/static/css/components.css"


@pytest.mark.slow
def test_over_https_cookies_are_of_this_host_pages_are_redirected_and_the_api_is_not(
    transactional_db: None, process_environment: dict[str, str]
) -> None:
    UserFactory(email=ADDRESS)
    environment = {**process_environment, "DJANGO_SETTINGS_MODULE": "tests.settings", "SITE_URL": f"https://{HOST}"}
    command = [sys.executable, "-m", "tests.infra.over_https", ADDRESS, PASSWORD]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    answers, cookies = result["answers"], result["cookies"]
    assert [answers[name]["status"] for name in ("sign-in", "saved", "language", "api")] == [302, 302, 302, 200]

    assert {"__Host-sessionid", "__Host-csrftoken", "__Host-django_language", "__Host-messages"} <= set(cookies)
    for name, cookie in cookies.items():
        assert name.startswith("__Host-"), name
        assert (cookie["secure"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "Lax", "/", ""), name
    assert cookies["__Host-sessionid"]["httponly"] and cookies["__Host-messages"]["httponly"]

    for name in ("page", "profile", "api"):
        age, *others = answers[name]["headers"]["Strict-Transport-Security"].split("; ")
        assert int(age.removeprefix("max-age=")) >= YEAR and "includeSubDomains" in others

    assert answers["page by http"]["status"] == 301
    assert answers["page by http"]["headers"]["Location"] == f"https://{HOST}/accounts/login/"
    for name in ("api by http", "write to the api by http"):
        assert answers[name]["status"] == 403
        assert "https alone" in json.loads(answers[name]["text"])["detail"]


@pytest.mark.django_db
def test_nothing_of_a_person_is_kept_by_browsers(client: Client) -> None:
    client.force_login(UserFactory())
    for path in ("/", "/profile/", "/notifications/", "/api/v1/benchmarks/", "/no-such-page/", "/accounts/login/"):
        assert "no-store" in client.get(path).headers["Cache-Control"], path
    with contextlib.closing(client.get(STYLES)) as styles:
        assert "no-store" not in styles.headers["Cache-Control"]


@pytest.mark.django_db
def test_no_other_origin_may_read_or_embed(client: Client) -> None:
    UserFactory()
    headers = {"origin": "https://elsewhere.example"}
    for path in ("/accounts/login/", "/api/v1/benchmarks/", "/healthz"):
        for answer in (client.get(path, headers=headers), client.options(path, headers=headers)):
            assert "Access-Control-Allow-Origin" not in answer.headers, path
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "geolocation=()" in answer.headers["Permissions-Policy"]


@pytest.mark.django_db
def test_no_page_is_copied_into_the_storage_of_the_browser(client: Client) -> None:
    UserFactory()
    page = client.get("/accounts/login/").content.decode()
    (config,) = re.findall(r'<meta name="htmx-config" content="([^"]*)">', page)
    assert json.loads(html.unescape(config))["historyCacheSize"] == 0


@pytest.mark.django_db
def test_text_names_its_charset(client: Client) -> None:
    UserFactory()
    for path in ("/healthz", "/accounts/login/", "/no-such-page/"):
        assert re.fullmatch(r"text/(html|plain); charset=utf-8", client.get(path).headers["Content-Type"]), path
    with contextlib.closing(client.get(STYLES)) as styles:
        assert styles.headers["Content-Type"] == 'text/css; charset="utf-8"'


@pytest.mark.django_db
def test_no_folder_is_listed_and_nothing_is_echoed(client: Client) -> None:
    UserFactory()
    for path in ("/static/", "/static/css/", "/media/", "/.git/config", "/.env"):
        assert client.get(path).status_code == 404, path
    answer = client.trace("/accounts/login/", headers={"x-secret": "seven-herons"})
    assert "seven-herons" not in answer.content.decode()


@pytest.mark.django_db
def test_who_finds_a_vulnerability_reads_whom_to_tell(client: Client, settings: Any) -> None:
    UserFactory()
    path = "/.well-known/security.txt"
    assert client.get(path).status_code == 404
    settings.SECURITY_CONTACT = "mailto:security@example.org"
    answer = client.get(path)
    fields = dict(line.split(": ", 1) for line in answer.content.decode().splitlines())
    assert fields["Contact"] == "mailto:security@example.org"
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=30) < expires - datetime.now(UTC) < timedelta(days=365)  # RFC 9116 advises under a year
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
