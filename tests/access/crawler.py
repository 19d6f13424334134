"""A reader who follows every address that an answer names: links, htmx, data attributes, scripts, files, headers."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from django.urls import Resolver404, resolve, reverse

from tests.access.endpoints import ENDPOINTS, slug
from tests.access.pages import client_of
from tests.access.world import World

SITE = "http://testserver"
# Any attribute, and any text of a script or of JSON.
QUOTED = re.compile(r"""["'](?:http://testserver)?(/(?!/)[^"'<>\s\\{}]*|\?[^"'<>\s\\{}]+)["']""")
# What ends the session, makes a new secret at each request, or belongs to no benchmark.
LEFT_OUT = re.compile(
    r"^/(?:accounts/(?:logout|login|2fa/|.*authenticate)|static/|i18n/|jsi18n|api/v1/schema/|api/docs)"
)
# What differs from one answer to the next whoever asks.
NONCES = re.compile(r"""nonce="[^"]*"|'nonce-[^']*'""")
CSRF = re.compile(r"(?i)(csrf[^<>]{0,60}?[\"':; =]+)[a-z0-9]{64}")


@dataclass
class Visit:
    """One answer: its status, and all that it says with headers and the members of an archive."""

    status: int
    text: str
    body: str


@dataclass
class Crawl:
    """All visits of a role by address, in their order."""

    role: str
    visits: dict[str, Visit] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    @property
    def statuses(self) -> Counter[int]:
        """How many answers had each status."""
        return Counter(visit.status for visit in self.visits.values())


def body_of(response: HttpResponse) -> str:
    """What an answer holds, and of an archive the names and the texts of its files."""
    body = b"".join(response) if response.streaming else response.content
    if body[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return "\n".join(f"{name}\n{archive.read(name).decode(errors='replace')}" for name in archive.namelist())
    return body.decode(errors="replace")


def visit(client: Client, address: str) -> Visit:
    """Ask for one address."""
    response = client.get(address)
    body = CSRF.sub(r"\1", NONCES.sub("", body_of(response)))
    headers = "\n".join(
        f"{name}: {NONCES.sub('', value)}" for name, value in response.items() if name != "Content-Length"
    )
    for close in response._resource_closers:  # `close` itself would end the test's connection as well
        close()
    return Visit(response.status_code, f"{headers}\n{body}", f"{response.get('Location', '')!r}\n{body}")


def addresses_in(text: str, page: str) -> Iterator[str]:
    """The addresses of this site that a text names, without a fragment, their parameters in order."""
    for quoted in QUOTED.findall(text):
        parts = urlsplit(urljoin(page, html.unescape(quoted)))
        query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
        yield parts.path + (f"?{query}" if query else "")


def kind_of(address: str) -> tuple[str, tuple[str, ...]] | None:
    """The route of an address and the names of its parameters; None for what leads nowhere."""
    parts = urlsplit(address)
    try:
        match = resolve(parts.path)
    except Resolver404:
        return None
    return match.view_name or match.route, tuple(sorted(name for name, _ in parse_qsl(parts.query)))


def landing_pages(world: World, role: str) -> Iterator[str]:
    """The home page, then each page and list that needs no id but that of the benchmark."""
    yield reverse("accounts:home")
    for name, endpoint in ENDPOINTS.items():
        if (role in endpoint.roles or role == "anonymous") and not endpoint.writes_only and not endpoint.framework:
            if endpoint.arguments is None:
                yield reverse(name)
            elif endpoint.arguments is slug:
                yield reverse(name, kwargs=slug(world))


def crawl(world: World, role: str, *, of_a_kind: int, at_most: int) -> Crawl:
    """Follow every address from the landing pages on: ``of_a_kind`` of each route, ``at_most`` in all."""
    client, done = client_of(world, role), Crawl(role)
    waiting = list(landing_pages(world, role))
    kinds: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for address in waiting:  # which grows
        kind = kind_of(address)
        if address in done.visits or LEFT_OUT.match(address) or kind is None or kinds[kind] >= of_a_kind:
            continue
        if len(done.visits) >= at_most:
            break
        kinds[kind] += 1
        answer = done.visits[address] = visit(client, address)
        if "\0" in answer.body:  # an image or another file that names no address
            continue
        for further in addresses_in(answer.body, address):
            if further not in done.sources:
                done.sources[further] = address
                waiting.append(further)
    return done


def again(world: World, earlier: Crawl) -> dict[str, Visit]:
    """The same addresses, in the same order."""
    cache.clear()
    client = client_of(world, earlier.role)
    return {address: visit(client, address) for address in earlier.visits}
