"""Renders Markdown from outside as safe HTML: CommonMark without raw HTML, then an allow-list.

Cases, responses, criteria and guidelines all come from files that strangers wrote. This is the only place of the
project that makes safe HTML of such a text.
"""

from __future__ import annotations

from functools import lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

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


def markdown(text: str | None) -> SafeString:
    """Render ``text`` (CommonMark with tables and strikethrough) as inert HTML: no scripts, no images, no styles,
    no ``data-`` or ``hx-`` attributes; links only to http, https and mailto addresses, with ``rel="nofollow noopener
    noreferrer"``. Raw HTML in the text is shown as it was typed.
    """
    if not text:
        return SafeString("")
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            # The page's own headings are h1 and h2; a text must not break their order for a screen reader.
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        for child in token.children or []:
            if child.type == "image":
                child.type, child.tag, child.attrs = "text", "", {}
                child.content = child.content or "image"
    html = parser.renderer.render(tokens, parser.options, {})
    return mark_safe(_cleaner().clean(html))  # noqa: S308  # sanitised on this line
