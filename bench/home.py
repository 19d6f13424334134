"""What a physician waits for before the work begins: signing in, the home page, *My work* and the profile.

    .venv/bin/python bench/home.py [--physicians 20] [--responses 1000] [--clients 1 4] [--requests 40]

The rows of `dashboard.py`: an annotator with five batches in every state, a checker and an adjudicator. They request
the pages from the product's own web server, over as many connections at once as ``--clients`` says; one of them signs
in with a password, whose Argon2 hash is that of the settings. Queries are counted in this process.

`healthz` in the same run is the web server's floor, and *hash alone* what Argon2 takes without a request. The run ends
by saying whether the bounds hold with one client: 150 ms for a page, 400 ms for signing in, each at the 95th
percentile; else its exit status is 1.
"""

from __future__ import annotations

import argparse
import http.client
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

from authoring import cpu_of_database
from dashboard import PASSWORD, PORT, SLUG, fill
from grading import cpu_of
from processes import web_server
from scratch import quantile, scratch_product, show

PAGE_MS, SIGN_IN_MS = 150, 400
PAGES = (
    ("home, and my work", "A-annotator-0", "/"),
    ("my work", "A-annotator-0", "/work/"),
    ("my work in a benchmark", "A-annotator-0", f"/work/in/{SLUG}/"),
    ("my work of a checker", "A-checker-0", "/work/"),
    ("my work of an adjudicator", "A-adjudicator-0", "/work/"),
    ("profile", "A-annotator-0", "/profile/"),
    ("floor: healthz", "A-annotator-0", "/healthz"),
)


class Browser:
    """One keep-alive connection, which keeps its cookies."""

    def __init__(self, session: str = "") -> None:
        self.cookies = {"sessionid": session} if session else {}
        self.connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)

    def ask(self, path: str, form: dict[str, str] | None = None) -> float:
        """Seconds of one request, with that of the page to which it leads; RuntimeError if it is refused."""
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        body = None
        if form is not None:
            headers |= {"Content-Type": "application/x-www-form-urlencoded"}
            body = urlencode({**form, "csrfmiddlewaretoken": self.cookies["csrftoken"]})
        began = time.perf_counter()
        self.connection.request("GET" if form is None else "POST", path, body, headers)
        answer = self.connection.getresponse()
        answer.read()
        seconds = time.perf_counter() - began
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        if answer.status not in ((200, 302) if form is None else (302,)):
            raise RuntimeError(f"{path}: {answer.status}")
        if form is None and answer.status == 302:
            return seconds + self.ask(str(answer.getheader("Location")))
        return seconds


def sign_in(physicians: int) -> float:
    """Seconds of the request that signs one of the physicians in, in a new browser."""
    email = f"annotator{random.randrange(physicians)}.a@example.org"
    browser = Browser()
    browser.ask("/accounts/login/")
    return browser.ask("/accounts/login/", {"login": email, "password": PASSWORD})


def at_once(clients: int, requests: int, ask: Callable[[], float]) -> list[float]:
    """The seconds of ``requests`` calls of ``ask`` in as many threads as there are clients."""
    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(lambda _: ask(), range(requests)))


def measure(server: int, clients: int, requests: int, ask: Callable[[], float]) -> tuple[float, float, float, float]:
    """Median and 95th percentile of a request, CPU of the web server and of the database for it; milliseconds."""
    python, database = cpu_of(server), cpu_of_database()
    times = at_once(clients, requests, ask)
    python, database = cpu_of(server) - python, cpu_of_database() - database
    seconds = quantile(times, 0.5), quantile(times, 0.95), python / requests, database / requests
    p50, p95, python, database = (1000 * value for value in seconds)
    return p50, p95, python, database


def queries_of(path: str, username: str) -> int:
    """How many queries the page takes."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from accounts.models import User

    client = Client()
    client.force_login(User.objects.get(username=username))
    client.get(path, follow=True)
    with CaptureQueriesContext(connection) as counted:
        client.get(path, follow=True)
    return len(counted)


def session_of(username: str) -> str:
    """The cookie of a new session."""
    from django.conf import settings
    from django.test import Client

    from accounts.models import User

    client = Client()
    client.force_login(User.objects.get(username=username))
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def main() -> None:
    """Fill, serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--physicians", type=int, default=20)
    parser.add_argument("--responses", type=int, default=1000)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--requests", type=int, default=40)
    options = parser.parse_args()
    with scratch_product() as home:
        from django.contrib.auth.hashers import check_password, make_password

        from accounts.models import User

        fill(home, physicians=options.physicians, responses=options.responses, rng=random.Random(7))
        people = User.objects.filter(username__contains="-")
        people.update(password=make_password(PASSWORD))
        rows, slow = [], []
        hashes = []
        for _ in range(5):
            began = time.perf_counter()
            check_password(PASSWORD, people[0].password)
            hashes.append(time.perf_counter() - began)
        sessions = {username: session_of(username) for _, username, _ in PAGES}
        with web_server(PORT) as server:
            queries = {name: queries_of(path, username) for name, username, path in PAGES}
            for clients in options.clients:
                for name, username, path in PAGES:

                    def page(path: str = path, session: str = sessions[username]) -> float:
                        return Browser(session).ask(path)

                    at_once(clients, 6 * clients, page)  # templates are loaded, caches are warm
                    figures = measure(server.pid, clients, options.requests, page)
                    rows.append((name, clients, queries[name], *figures))
                    if clients == 1 and figures[1] > PAGE_MS:
                        slow.append(name)
                at_once(clients, 2 * clients, lambda: sign_in(options.physicians))
                figures = measure(server.pid, clients, options.requests // 2, lambda: sign_in(options.physicians))
                rows.append(("signing in", clients, 0, *figures))
                if clients == 1 and figures[1] > SIGN_IN_MS:
                    slow.append("signing in")
        p50, worst = 1000 * quantile(hashes, 0.5), 1000 * max(hashes)
        rows.append(("floor: hash alone", 1, 0, p50, worst, "", ""))
    columns = ("", "clients", "queries", "p50 ms", "p95 ms", "CPU ms: Python", "PostgreSQL")
    show("What a physician waits for", columns, rows)
    if slow:
        raise SystemExit(f"Slower than {PAGE_MS} ms for a page or {SIGN_IN_MS} ms for signing in: {', '.join(slow)}")
    print(f"Every page within {PAGE_MS} ms, signing in within {SIGN_IN_MS} ms.")


if __name__ == "__main__":
    main()
