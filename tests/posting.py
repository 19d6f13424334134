"""The same form sent many times at the same moment, over HTTP to a running web server."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from urllib.parse import urlencode

from django.test import Client

from accounts.models import User

AT_ONCE = 50
TOKEN = "t" * 32


def at_once(
    port: int, user: User, path: str, body: Mapping[str, Any], *, as_json: bool = False, times: int = AT_ONCE
) -> list[tuple[int, str]]:
    """Post the same ``times`` times, all connections at the same moment; status and address or body of each answer."""
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    headers = {
        "Cookie": f"sessionid={session}; csrftoken={TOKEN}",
        "X-CSRFToken": TOKEN,
        "Content-Type": "application/json" if as_json else "application/x-www-form-urlencoded",
    }
    sent = (json.dumps(body) if as_json else urlencode(body, doseq=True)).encode()
    barrier = Barrier(times)

    def post(_number: int) -> tuple[int, str]:
        web = http.client.HTTPConnection("localhost", port, timeout=120)
        web.connect()
        barrier.wait(60)
        web.request("POST", path, sent, headers)
        answer = web.getresponse()
        text = answer.read().decode()
        web.close()
        return answer.status, answer.getheader("Location") or text

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(post, range(times)))
