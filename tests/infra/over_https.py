"""A process of an installation with an https address: prints as JSON what it answers to a few requests.

python -m tests.infra.over_https ADDRESS PASSWORD
"""

from __future__ import annotations

import json
import sys
from typing import Any

import django

django.setup()

from django.test import Client  # noqa: E402  (needs the settings)

HOST = "consilium.example.org"


def main() -> None:
    """Sign in as a browser does, then ask by http and by https."""
    client = Client(headers={"host": HOST})
    cookies: dict[str, dict[str, Any]] = {}

    def ask(method: str, path: str, *, secure: bool, **form: str) -> dict[str, Any]:
        answer = getattr(client, method)(path, form, secure=secure)
        cookies.update({name: dict(morsel) for name, morsel in answer.cookies.items()})
        return {"status": answer.status_code, "headers": dict(answer.headers), "text": answer.content.decode()}

    login = {"login": sys.argv[1], "password": sys.argv[2]}
    answers = {
        "page by http": ask("get", "/accounts/login/", secure=False),
        "api by http": ask("get", "/api/v1/benchmarks/", secure=False),
        "write to the api by http": ask("post", "/api/v1/benchmarks/", secure=False),
        "page": ask("get", "/accounts/login/", secure=True),
        "sign-in": ask("post", "/accounts/login/", secure=True, **login),
        "profile": ask("get", "/profile/", secure=True),
        "saved": ask("post", "/profile/", secure=True, name="Ana", time_zone="UTC", language="en"),
        "language": ask("post", "/i18n/setlang/", secure=True, language="zh-hans"),
        "api": ask("get", "/api/v1/benchmarks/", secure=True),
    }
    print(json.dumps({"answers": answers, "cookies": cookies}))


if __name__ == "__main__":
    main()
