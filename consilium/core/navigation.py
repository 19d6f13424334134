"""Registry of the top bar and the home page; every app fills it in its ``AppConfig.ready``.

The base template and ``accounts`` may not import the apps above them, so those apps register here which pages they
offer to which roles. A shown link grants no access: each page fetches through its own ``access``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from django.conf import settings
from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.utils.functional import _StrPromise

    from accounts.models import User

    Text = str | _StrPromise


class BenchmarkLike(Protocol):
    """What navigation needs of a benchmark."""

    slug: Any
    title: Any


@dataclass(frozen=True)
class Item:
    """One link of the benchmark navigation; shown to those who hold at least one of ``roles``."""

    label: Text
    view: str
    roles: frozenset[str]
    order: int
    section: str = ""
    count: Callable[[Any], int] | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Link:
    """A link as the template draws it; ``active`` marks the section the reader is in.

    ``count`` is shown beside the label: how much waits there; 0 shows nothing.
    """

    label: Text
    url: str
    active: bool
    count: int = 0
    section: str = ""


# Groups of pages, because a benchmark has more pages than the bar has room for.
SECTIONS: dict[str, Text] = {"content": _("Content"), "work": _("Work"), "results": _("Results")}


@dataclass(frozen=True)
class HomeFigure:
    """A number on a home card: ``label`` and ``value``, with a link to ``url`` if there is one."""

    label: Text
    value: int | str
    url: str = ""


@dataclass(frozen=True)
class HomeCard:
    """A card of the home page. Cards with the same ``key`` (the slug of the benchmark) are merged into one.

    ``role`` says what the reader is there ("Admin", "Annotator"); ``done`` and ``total`` draw a progress bar, and
    ``counted`` says what they count;
    ``action`` is the one button of the card, as (label, url).
    """

    key: str
    title: Text
    url: str = ""
    role: Text = ""
    text: Text = ""
    figures: Sequence[HomeFigure] = ()
    done: int | None = None
    total: int | None = None
    counted: Text = ""
    action: tuple[Text, str] | None = None
    made_up: bool = False


@dataclass(frozen=True, slots=True)
class HomeAction:
    """A button beside the heading of the home page, for what belongs to no card."""

    label: Text
    url: str


_items: dict[str, Item] = {}
_role_sources: list[Callable[[User, Any], Iterable[str]]] = []
_home_sources: list[Callable[[User], Iterable[HomeCard]]] = []
_action_sources: list[Callable[[User], Iterable[HomeAction]]] = []
_start_sources: list[Callable[[User], Iterable[str]]] = []
_last_start_sources: list[Callable[[User], Iterable[str]]] = []


def register(
    *,
    label: Text,
    view: str,
    roles: Iterable[str],
    order: int,
    section: str = "",
    count: Callable[[Any], int] | None = None,
    also: Iterable[str] = (),
) -> None:
    """Offer the page ``view`` of a benchmark: a URL name whose one argument is the slug of the benchmark.

    ``section`` is one of `SECTIONS`: the bar shows the section, and its pages below while the reader is in it.
    ``count(benchmark)`` says how much waits there, in one query; it is asked on every page of the benchmark.
    ``also``: further pages of the same section, which lie at addresses of their own.
    """
    _items[view] = Item(
        label=label, view=view, roles=frozenset(roles), order=order, section=section, count=count, also=tuple(also)
    )


def register_roles(source: Callable[[User, Any], Iterable[str]]) -> None:
    """Add a source of role names: ``source(user, benchmark)`` gives those that the user holds there."""
    if source not in _role_sources:
        _role_sources.append(source)


def register_home_card(source: Callable[[User], Iterable[HomeCard]]) -> None:
    """Add a source of cards of the home page: ``source(user)`` gives the cards that this user sees."""
    if source not in _home_sources:
        _home_sources.append(source)


def register_home_actions(source: Callable[[User], Iterable[HomeAction]]) -> None:
    """Add a source of buttons beside the heading of the home page: ``source(user)`` gives those of this user."""
    if source not in _action_sources:
        _action_sources.append(source)


def register_start(source: Callable[[User], Iterable[str]], *, last: bool = False) -> None:
    """Add a source of pages on which people begin: ``source(user)`` gives the addresses of those of this person.

    Whoever has a single one is led there from the home page. An empty address keeps them on the home page.
    ``last``: it is asked only where no other source has a page.
    """
    sources = _last_start_sources if last else _start_sources
    if source not in sources:
        sources.append(source)


def start_page(user: User) -> str:
    """The page on which ``user`` begins, if there is only one; else empty, which is the home page."""
    pages = {page for source in _start_sources for page in source(user)}
    pages = pages or {page for source in _last_start_sources for page in source(user)}
    return pages.pop() if len(pages) == 1 else ""


def roles_in(user: User, benchmark: BenchmarkLike) -> frozenset[str]:
    """Names of all roles of ``user`` in ``benchmark``."""
    return frozenset(role for source in _role_sources for role in source(user, benchmark))


def links(request: HttpRequest, benchmark: BenchmarkLike, path: str = "") -> list[Link]:
    """Links of the pages of ``benchmark`` that the reader's roles open, in their order.

    ``path``: the address of the page under which the reader is, if it is another than that of the request.
    """
    if not request.user.is_authenticated:
        return []
    roles = roles_in(request.user, benchmark)
    shown = []
    for item in sorted(_items.values(), key=lambda item: item.order):
        if not item.roles & roles:
            continue
        try:
            shown.append((item, _address(item.view, benchmark.slug, settings.ROOT_URLCONF, get_script_prefix())))
        except NoReverseMatch:  # an app that is installed without its pages
            continue
    section = {url: url for _, url in shown}
    for item, url in shown:
        section |= {
            _address(view, benchmark.slug, settings.ROOT_URLCONF, get_script_prefix()): url for view in item.also
        }
    here = section.get(_current(section, path or request.path), "")
    return [
        Link(
            label=item.label,
            url=url,
            active=url == here,
            count=item.count(benchmark) if item.count else 0,
            section=item.section,
        )
        for item, url in shown
    ]


@lru_cache(maxsize=2048)
def _address(view: str, slug: str, urls: str, prefix: str) -> str:
    """Cached, since each page needs the same two dozen addresses."""
    return reverse(view, args=[slug])


def in_sections(pages: Sequence[Link]) -> tuple[list[Link], list[Link]]:
    """The bar, with a section in place of its pages, and the pages of the section that the reader is in.

    A section leads to its first page. A section with a single page is shown as that page.
    """
    together: dict[str, list[Link]] = {}
    for page in pages:
        together.setdefault(page.section or page.url, []).append(page)
    bar, below = [], []
    for name, members in together.items():
        if len(members) == 1:
            bar.append(members[0])
            continue
        active = any(page.active for page in members)
        waiting = 0 if active else sum(page.count for page in members)
        bar.append(Link(label=SECTIONS[name], url=members[0].url, active=active, count=waiting))
        if active:
            below = members
    return bar, below


def _current(urls: Iterable[str], path: str) -> str:
    """The longest of ``urls`` that ``path`` lies under: a section is preferred to the overview above it."""
    under = [url for url in urls if path == url or path.startswith(url.rstrip("/") + "/")]
    return max(under, key=len, default="")


def home_cards(user: User) -> list[HomeCard]:
    """The cards of the home page, those of one benchmark merged; work that is open comes first."""
    merged: dict[str, HomeCard] = {}
    for source in _home_sources:
        for card in source(user):
            known = merged.get(card.key)
            merged[card.key] = card if known is None else _merge(known, card)
    return sorted(merged.values(), key=lambda card: (card.action is None, str(card.title).casefold()))


def home_actions(user: User) -> list[HomeAction]:
    """The buttons beside the heading of the home page."""
    return [action for source in _action_sources for action in source(user)]


def _merge(first: HomeCard, second: HomeCard) -> HomeCard:
    roles = [str(role) for role in (first.role, second.role) if role]
    return HomeCard(
        key=first.key,
        title=first.title or second.title,
        url=first.url or second.url,
        role=", ".join(dict.fromkeys(roles)),
        text=first.text or second.text,
        figures=[*first.figures, *second.figures],
        done=first.done if first.done is not None else second.done,
        total=first.total if first.total is not None else second.total,
        counted=first.counted if first.total is not None else second.counted,
        action=first.action or second.action,
        made_up=first.made_up or second.made_up,
    )
