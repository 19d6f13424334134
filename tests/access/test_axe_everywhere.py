"""axe finds nothing on any page, in either theme and either language, no code or withdrawn phrase is shown, all fits.

Every page that the list of endpoints knows is opened in a real browser by the role that sees the most of it. One page
after the other is looked at in light English in full, in the dark with what a theme can break, in Chinese with what
words can break; then the window is made narrow, as on a phone, at a zoom of 200% and on a tablet, and nothing may be
cut off. What is shown contains no phrase of `tests/design/withdrawn_phrases.py`, and no code of an axis, a slice, a
language or a week. The full size (``CONSILIUM_CHAOS=full``) looks at each in all four combinations, all widths, and
every dialog.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import pytest
from django.conf import settings
from playwright.sync_api import Error

from tests.access.pages import Page as Listed
from tests.access.pages import pages
from tests.access.words import stored_texts, texts_in
from tests.access.world import build_world
from tests.axe import SCRIPT, axe_violations
from tests.chaos import FULL
from tests.design.withdrawn_phrases import CHINESE, ENGLISH, withdrawn_phrases
from tests.overflow import NARROW_WIDTHS, cut_off

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., "Page"]

OF_THE_THEME = ["color-contrast", "link-in-text-block"]
OF_THE_WORDS = [
    "html-has-lang", "html-lang-valid", "valid-lang", "document-title", "label", "select-name", "button-name",
    "link-name", "input-button-name", "summary-name", "image-alt", "svg-img-alt", "role-img-alt", "aria-command-name",
    "aria-dialog-name", "aria-input-field-name", "aria-progressbar-name", "aria-toggle-field-name",
    "form-field-multiple-labels", "empty-heading", "empty-table-header", "page-has-heading-one", "landmark-unique",
]  # fmt: skip
WIDTH, HEIGHT = 1280, 900
# Pages have words for them; files and the texts of requests (`.sent`) have the codes, and so has the page that asks
# for tags of safety.
CODES = re.compile(
    r"\b(?:axis(?!:safety)|register|difficulty|language|sign):[a-z]\w*|\b\d{4}-W\d\d\b"
    r"|\b(?:communication_quality|context_awareness|instruction_following)\b"
)
BANK = Path(settings.BASE_DIR) / "rubrics" / "bank" / "consensus.jsonl"


def test_no_page_has_a_violation_in_any_theme_or_language(new_page: NewPage, live_server: Any) -> None:
    world = build_world()
    contents = [*stored_texts(), *bank_texts()]
    by_role: dict[str, list[Listed]] = defaultdict(list)
    for entry in pages(world):
        if "." not in entry.url.rpartition("/")[2]:  # no file
            by_role[entry.role].append(entry)
    looks = [everything] if FULL else [in_light_english, in_the_dark, in_chinese]
    turn = 0
    faults: list[str] = []
    for role, listed in by_role.items():
        page = new_page(world.users[role], reduced_motion="reduce", viewport={"width": WIDTH, "height": HEIGHT})
        page.add_init_script(path=SCRIPT)
        for entry in listed:
            try:
                findings = looks[turn % len(looks)](page, f"{live_server.url}{entry.url}")
                findings += withdrawn_on(page, contents)
                findings += codes_on(page)
                findings += in_narrow_windows(page)
            except NoDocument:
                continue
            turn += 1
            faults += [f"{entry.name} as {role} ({how}): {line}" for how, line in findings]
    assert turn > 75
    assert not faults, "\n" + "\n".join(faults)


class NoDocument(Exception):
    """A fragment, data, or only the way to another address."""


def read_in(page: Page, language: str, url: str) -> None:
    # For the whole site: a cookie of an address further up would hide one of an address below it.
    site = urljoin(url, "/")
    page.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": site}])
    try:
        answer = page.goto(url)
    except Error as error:
        if "Download is starting" in error.message:
            raise NoDocument from error
        raise
    assert answer is not None
    if answer.status != 200 or answer.url != url or page.evaluate("document.doctype === null"):
        raise NoDocument


def bank_texts() -> list[str]:
    """The texts of the consensus bank, which are criteria and not words of pages; longest first."""
    texts = {text for line in BANK.read_text(encoding="utf-8").splitlines() for text in texts_in(json.loads(line))}
    return sorted((" ".join(text.split()) for text in texts if len(text) > 1), key=len, reverse=True)


def withdrawn_on(page: Page, contents: Iterable[str]) -> list[tuple[str, str]]:
    """Withdrawn phrases in what the open page shows, apart from ``contents``, which people wrote, and model prompts."""
    language, text, requests = page.evaluate(
        """() => [document.documentElement.lang, document.body.innerText,
                 [...document.querySelectorAll("textarea, pre, code")].map((element) => element.textContent)]"""
    )
    phrases = ENGLISH if language == "en" else CHINESE
    text = " ".join(text.split())
    if any(withdrawn_phrases(text, phrases)):
        for content in (*(" ".join(request.split()) for request in requests), *contents):
            text = text.replace(content, " · ")
    return [
        (language, f"{phrase!r} is withdrawn; write: {advice}") for phrase, advice in withdrawn_phrases(text, phrases)
    ]


def codes_on(page: Page) -> list[tuple[str, str]]:
    text, tags = page.evaluate(
        """() => {
            const copy = document.body.cloneNode(true);
            const codes = copy.querySelectorAll("script, style, template, textarea, pre, code, .sent");
            for (const part of codes) part.remove();
            const words = [...copy.querySelectorAll(":not(:has(*))")].map((element) => element.textContent.trim());
            return [copy.textContent, words.filter((word) => /^(en|zh|zh-hans)$/i.test(word))];
        }"""
    )
    return [("any language", f"shows the code {code!r}") for code in sorted({*CODES.findall(text), *tags})]


def wear(page: Page, theme: str) -> None:
    page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)


def in_narrow_windows(page: Page) -> list[tuple[str, str]]:
    findings = []
    for width in NARROW_WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        findings += [(f"{width} px", line) for line in cut_off(page)]
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    return findings


def in_light_english(page: Page, url: str) -> list[tuple[str, str]]:
    read_in(page, "en", url)
    return [("light, English", line) for line in [*axe_violations(page), *cut_off(page)]]


def in_the_dark(page: Page, url: str) -> list[tuple[str, str]]:
    read_in(page, "en", url)
    wear(page, "dark")
    return [("dark, English", line) for line in [*axe_violations(page, rules=OF_THE_THEME), *cut_off(page)]]


def in_chinese(page: Page, url: str) -> list[tuple[str, str]]:
    read_in(page, "zh-hans", url)
    findings = [("Chinese", line) for line in [*axe_violations(page, rules=OF_THE_WORDS), *cut_off(page)]]
    if page.locator("html").get_attribute("lang") != "zh-hans":
        findings.append(("Chinese", "does not say that it is in Chinese"))
    return findings


def everything(page: Page, url: str) -> list[tuple[str, str]]:
    """All languages, both themes, all widths, and every dialog."""
    findings = []
    for language, _name in settings.LANGUAGES:
        for width in (WIDTH, *NARROW_WIDTHS):
            page.set_viewport_size({"width": width, "height": HEIGHT})
            read_in(page, language, url)
            for theme in ("light", "dark"):
                wear(page, theme)
                place = f"{language}, {theme}, {width}"
                findings += [(place, line) for line in [*axe_violations(page), *cut_off(page)]]
                for dialog in page.evaluate("[...document.querySelectorAll('dialog[id]')].map(one => one.id)"):
                    page.evaluate("id => document.getElementById(id).showModal()", dialog)
                    findings += [(f"{place}, #{dialog}", line) for line in axe_violations(page, within=f"#{dialog}")]
                    page.evaluate("id => document.getElementById(id).close()", dialog)
    return findings
