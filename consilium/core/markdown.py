"""Renders Markdown from outside as safe HTML: CommonMark without raw HTML, then an allow-list.

Cases, responses, criteria and guidelines all come from files that strangers wrote. This is the only place of the
project that makes safe HTML of such a text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

ALLOWED_TAGS = {
    *("h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code"),
    *("em", "strong", "s", "ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
ALLOWED_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
ALLOWED_SCHEMES = {"http", "https", "mailto"}


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # Bare addresses stay text and images become their description: opening a page must send no request elsewhere.
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
    return parser.enable(["table", "strikethrough"])


@lru_cache(maxsize=1)
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=ALLOWED_TAGS,
        attributes=ALLOWED_ATTRIBUTES,
        url_schemes=ALLOWED_SCHEMES,
        url_relative="deny",
        link_rel="nofollow noopener noreferrer",
        clean_content_tags={"script", "style"},
        strip_comments=True,
    )


MIN_WIDTH = 50  # characters; shorter lines are meant as lines
FIRST_WIDE = "\u2e80"  # from here on, characters are written without spaces between words


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Whether each line is full: the first word of the next would have made it longer than the longest line."""
    lines = [line.strip() for line in lines]
    width = max(map(len, lines))
    if len(lines) < 2 or width < MIN_WIDTH or not all(lines):
        return False
    return all(len(line) + 1 + _length_of_first_word(after) > width for line, after in pairwise(lines))


def _length_of_first_word(line: str) -> int:
    return 1 if line[0] >= FIRST_WIDE else len(line.split(maxsplit=1)[0])


def _unwrap(children: list[Token]) -> None:
    for place, child in enumerate(children):
        if child.type == "softbreak":
            before = children[place - 1].content[-1:] if place else ""
            after = children[place + 1].content[:1] if place + 1 < len(children) else ""
            is_wide = min(before, after) >= FIRST_WIDE
            child.type, child.tag, child.content = "text", "", "" if is_wide else " "


def markdown(text: str | None, *, rewrap: bool = False) -> SafeString:
    """Render ``text`` (CommonMark with tables and strikethrough) as inert HTML: no scripts, no images, no styles,
    no ``data-`` or ``hx-`` attributes; links only to http, https and mailto addresses, with ``rel="nofollow noopener
    noreferrer"``. Raw HTML in the text is shown as it was typed.

    A line break in a paragraph is kept. With ``rewrap`` it becomes a space in a paragraph that an editor broke into
    lines of equal width, as in guidelines from a file; what somebody typed as lines of its own stays so.
    """
    if not text:
        return SafeString("")
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            # The page's own headings are h1 and h2; a text must not break their order for a screen reader.
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        if rewrap and token.children and _is_wrapped(token.content.split("\n")):
            _unwrap(token.children)
        for child in token.children or []:
            if child.type == "image":
                child.type, child.tag, child.attrs = "text", "", {}
                child.content = child.content or "image"
    html = parser.renderer.render(tokens, parser.options, {})
    return mark_safe(_cleaner().clean(html))  # noqa: S308  # sanitised on this line


START, END = "\ue000", "\ue001"  # private use: letters to the parser, and in no text
# What begins a block, where it begins a line: a mark is set behind it.
_BLOCK_START = re.compile(r"(?:[ \t]*(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t]+|[ \t]*\|[ \t]*)+")
_TAG = re.compile(r"(<[^>\"]*(?:\"[^\"]*\"[^>\"]*)*>)")


def marked_markdown(before: str, changed: str, behind: str, *, open_mark: str, gap: str = "") -> SafeString | None:
    """Render ``before + changed + behind`` as `markdown` does, with ``changed`` in ``<mark>``.

    ``open_mark`` is the tag that opens the mark. Where ``changed`` is empty, ``gap`` is marked in its place, if given.
    None where the marked place cuts through the marks of Markdown: then the text is to be shown as it is.
    """
    whole = before + changed + behind
    if START in whole or END in whole:
        return None
    if not changed:
        cut = len(before.rstrip())
        before, behind = before[:cut], before[cut:] + behind
        if not gap:
            return markdown(whole)
    lead = changed[: len(changed) - len(changed.lstrip())]
    if not before or (before + lead).endswith("\n"):
        start = _BLOCK_START.match(changed, len(lead))
        lead = changed[: start.end()] if start else lead
    core = changed[len(lead) :].rstrip()
    tail = changed[len(lead) + len(core) :]
    html = markdown(f"{before}{lead}{START}{core}{END}{tail}{behind}")
    if html.replace(START, "").replace(END, "") != markdown(whole):
        return None
    parts, inside = [], False
    for piece in _TAG.split(html):
        if piece.startswith("<"):
            if START in piece or END in piece:
                return None
            parts.append(piece)
            continue
        for text in re.split(f"({START}|{END})", piece):
            if text == START:
                inside = True
                parts.append(f"{open_mark}{escape(gap)}</mark>" if not changed else "")
            elif text == END:
                inside = False
            else:
                parts.append(f"{open_mark}{text}</mark>" if inside and text.strip() else text)
    return mark_safe("".join(parts))  # noqa: S308  # of what `markdown` made, with the mark added
