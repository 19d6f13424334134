"""What two renderings of a page differ in, but for white space that no reader sees."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

_BLOCK_TAGS = """
html head body title meta link script style noscript template header footer main nav section article aside div p
ul ol li dl dt dd table caption colgroup col thead tbody tfoot tr th td form fieldset legend details summary
dialog h1 h2 h3 h4 h5 h6 hr pre blockquote figure figcaption option optgroup datalist search address br
svg g path circle line rect text tspan title desc use defs
"""
_VOID_TAGS = "area base br col embed hr img input link meta source track wbr"
# White space at the border of these is not shown.
BLOCK = frozenset(_BLOCK_TAGS.split())
VOID = frozenset(_VOID_TAGS.split())
# Inside these each character counts.
VERBATIM_TAGS = frozenset(["pre", "textarea", "script", "style"])
# The style sheets keep white space or line ends inside elements of these classes,
VERBATIM_CLASSES = frozenset(
    ["citation", "criterion-body", "diff-text", "kept-text", "note", "reason", "sent", "words"]
)
# but not inside these of the same names.
FOLDED = frozenset([("details", "note"), ("div", "reason"), ("td", "words")])
# Made anew for each response: nonces of the content security policy, CSRF tokens.
SECRETS = re.compile(r'nonce="[^"]*"|"nonce":\s*"[^"]*"|[A-Za-z0-9]{64}')


class Markup(NamedTuple):
    """``content``: tags and texts in order; ``spaces``: whether white space is shown before each of them."""

    content: list[tuple[str, ...]]
    spaces: list[bool]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.markup = Markup([], [])
        self._open: list[tuple[str, bool]] = []  # tags, and whether white space counts inside
        self._space = False
        self._at_border = True

    @property
    def _verbatim(self) -> bool:
        return any(verbatim for _, verbatim in self._open)

    def _add(self, part: tuple[str, ...], *, border: bool) -> None:
        self.markup.content.append(part)
        self.markup.spaces.append(self._space and not (self._at_border or border))
        self._space = False
        self._at_border = border

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        for name in {"title", "hx-trigger"} & values.keys():
            values[name] = " ".join(values[name].split())
        for name in ("class", "accept"):
            if name in values:
                values[name] = " ".join(values[name].replace(",", " ").split())
        named = tuple(f"{name}={value}" for name, value in sorted(values.items()))
        self._add(("<", tag, *named), border=tag in BLOCK)
        if tag not in VOID:
            classes = set(values.get("class", "").split()) & VERBATIM_CLASSES
            shown = any((tag, name) not in FOLDED for name in classes)
            verbatim = tag in VERBATIM_TAGS or shown or "data-s" in values
            self._open.append((tag, verbatim))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass
        self._add((">", tag), border=tag in BLOCK)

    def handle_data(self, data: str) -> None:
        if self._verbatim:
            if data.strip() or self._open[-1][1]:
                self._add(("verbatim", data), border=False)
            return
        words = data.split()
        self._space = self._space or data[:1].isspace()
        if words:
            self._add(("text", " ".join(words)), border=False)
        self._space = data[-1:].isspace()


def read(html: str) -> Markup:
    """The tags and texts of ``html``, its secrets blanked out."""
    reader = _Reader()
    reader.feed(SECRETS.sub("…", html))
    reader.close()
    return reader.markup


def difference(before: str, after: str) -> str | None:
    """The first place where tags or texts differ, in words for a test's message; None where there is none."""
    old, new = read(before).content, read(after).content
    if old == new:
        return None
    common = min(len(old), len(new))
    at = next((index for index in range(common) if old[index] != new[index]), common)
    return f"before: {old[max(0, at - 2) : at + 3]}\n after: {new[max(0, at - 2) : at + 3]}"


def new_spaces(before: str, after: str) -> list[str]:
    """The places beside inline elements and texts where white space is shown now and was not, or the other way."""
    old, new = read(before), read(after)
    if old.content != new.content:
        return []
    pairs = zip(old.spaces, new.spaces, strict=True)
    return [str(new.content[max(0, at - 2) : at + 2]) for at, (was, is_now) in enumerate(pairs) if was != is_now]
