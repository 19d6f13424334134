"""Text from outside is shown and does nothing."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st

from config.urls import urlpatterns as project_urlpatterns
from consilium.core.markdown import markdown, marked_markdown

PAYLOADS = [
    "<script>window.hit = 1</script>",
    "<img src=x onerror=window.hit=1>",
    "<svg onload=window.hit=1><script>window.hit=1</script></svg>",
    "<b onmouseover=window.hit=1>bold</b>",
    "[click](javascript:window.hit=1)",
    "[click](JaVaScRiPt:window.hit=1)",
    "[click](&#106;avascript:window.hit=1)",
    "[click](java\nscript:window.hit=1)",
    "[click](data:text/html;base64,PHNjcmlwdD53aW5kb3cuaGl0PTE8L3NjcmlwdD4=)",
    "[click](vbscript:window.hit=1)",
    "[click](file:///etc/passwd)",
    "[click](/accounts/logout/)",
    "[click](//outside.example/x)",
    '[click](https://ok.example "x\\" onmouseover=window.hit=1")',
    "<javascript:window.hit=1>",
    "![beacon](http://outside.example/pixel.png)",
    "![](http://outside.example/pixel.png)",
    "[![beacon](http://outside.example/pixel.png)](https://ok.example)",
    "![beacon][ref]\n\n[ref]: http://outside.example/pixel.png",
    "<div hx-get='/accounts/logout/' hx-trigger='load' data-hx-get='/x' data-fill='sign-in'>x</div>",
    "<form action=/accounts/logout/ method=post><button>go</button></form>",
    "<style>body{display:none}</style><link rel=stylesheet href=http://outside.example/x.css>",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    "<meta http-equiv=refresh content='0;url=http://outside.example'>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hit=1>",
    "`<script>window.hit=1</script>`",
    "    <script>window.hit=1</script>",
    '```" onmouseover=window.hit=1\ncode\n```',
    "|a|\n|-|\n|<img src=x onerror=window.hit=1>|",
    "<a id=main name=body class=toast style='position:fixed'>clobber</a>",
]
# What CommonMark with tables can need; written down here apart from the allow-list of the product.
TAGS = {
    *("h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s"),
    *("ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {("a", "href"), ("a", "title"), ("a", "rel"), ("ol", "start")}


class Inspector(HTMLParser):
    """Notes everything in a piece of HTML that is not plain, dead formatting."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.links: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            if (tag, name) not in ATTRIBUTES:
                self.faults.append(f"{tag}[{name}]")
            if name == "href" and not (value or "").lower().startswith(("http://", "https://", "mailto:")):
                self.faults.append(f"href={value}")
        if tag == "a":
            self.links.append(dict(attrs))

    def handle_comment(self, data: str) -> None:
        self.faults.append("comment")


def inspect(html: str) -> Inspector:
    inspector = Inspector()
    inspector.feed(html)
    inspector.close()
    return inspector


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payload_becomes_dead_text(payload: str) -> None:
    assert inspect(markdown(payload)).faults == []


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from([*PAYLOADS, "*", "_", "`", "|", ">", "- ", "1. ", "\n", "\n\n", "    ", "<", ">", '"', "中文"])
    )
)
def test_any_mixture_of_payloads_is_dead_too(parts: list[str]) -> None:
    assert inspect(markdown("".join(parts))).faults == []


@pytest.mark.slow
@given(st.text())
def test_any_text_gives_dead_html(text: str) -> None:
    assert inspect(markdown(text)).faults == []


def test_links_tell_nothing_to_where_they_lead() -> None:
    (link,) = inspect(markdown("[guideline](https://example.org/g?a=1&b=2)")).links
    assert link["href"] == "https://example.org/g?a=1&b=2"
    assert set((link["rel"] or "").split()) >= {"nofollow", "noopener"}


def test_formatting_that_physicians_and_models_write_is_kept() -> None:
    html = markdown(
        "# Plan\n\n1. **Press** firmly\n2. *Wait*\n\n| INR | do |\n|---|---|\n| 5 | call |\n\nline one\nline two"
    )
    for piece in (
        "<h3>Plan</h3>",
        "<strong>Press</strong>",
        "<em>Wait</em>",
        "<td>call</td>",
        "line one<br>",
    ):
        assert piece in html


def test_lines_of_an_editor_flow_and_lines_that_somebody_typed_stay() -> None:
    wrapped = "It counts as met if you could show a colleague the words\nthat say so. No hint does.\n\nNext paragraph."
    assert str(markdown(wrapped, rewrap=True)).split("\n")[:2] == [
        "<p>It counts as met if you could show a colleague the words that say so. No hint does.</p>",
        "<p>Next paragraph.</p>",
    ]
    assert "words<br>" in markdown(wrapped)  # of a response, each line break is kept
    in_list = f"- {wrapped.partition(chr(10) * 2)[0].replace(chr(10), chr(10) + '  ')}"
    assert "the words that say so" in markdown(in_list, rewrap=True)
    typed = "Ask about fever.\nNever name a dose, unless the guideline of the country names it.\nSay when to come back."
    assert markdown(typed, rewrap=True).count("<br>") == 2
    chinese = "只有当您能向同事指出回答中的原文时，才算满足该条标准；"
    chinese += "仅有暗示、推断或者语气上的倾向，一律不能算作满足，\n也不加分。"
    assert "算作满足，也不加分。" in markdown(chinese, rewrap=True)


def test_raw_html_is_shown_as_typed_not_swallowed() -> None:
    # A grader must see what the candidate wrote, tags included.
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in markdown("<script>alert(1)</script>")


def test_description_of_an_image_stays_readable() -> None:
    html = markdown("See ![a chart of INR](http://outside.example/x.png)")
    assert "a chart of INR" in html
    assert "outside.example" not in html


@pytest.mark.parametrize(
    ("before", "changed", "behind", "html"),
    [
        ("Take **two** ", "tablets", " a day.", "<p>Take <strong>two</strong> <M>tablets</M> a day.</p>"),
        ("- one\n", "- two\n", "- three", "<li><M>two</M></li>"),
        ("**", "鉴别", "诊断**", "<strong><M>鉴别</M>诊断</strong>"),
        ("", "# Dose\n\nTake **two**", " a day", "<h3><M>Dose</M></h3>\n<p><M>Take </M><strong><M>two</M></strong> a"),
        ("Take two.", "", " Rest.", "<p>Take two.<M>[…]</M> Rest.</p>"),
        ("a < b & ", "<b>c</b>", "", "<p>a &lt; b &amp; <M>&lt;b&gt;c&lt;/b&gt;</M></p>"),
    ],
)
def test_a_part_of_a_text_is_marked(before: str, changed: str, behind: str, html: str) -> None:
    marked = marked_markdown(before, changed, behind, open_mark="<mark>", gap="[…]")
    assert html.replace("M>", "mark>") in (marked or "")


@pytest.mark.parametrize(
    ("before", "changed", "behind"),
    [("Take *", "*two** ", "tablets"), ("[a](http://x.example '", "title", "')"), ("\ue000", "a", "b")],
)
def test_a_part_that_cuts_through_marks_is_not_marked(before: str, changed: str, behind: str) -> None:
    assert marked_markdown(before, changed, behind, open_mark="<mark>") is None


@given(*[st.text(alphabet="ab *_`#->|\n<&\"'()[]中", max_size=12)] * 3)
def test_marking_changes_nothing_else(before: str, changed: str, behind: str) -> None:
    marked = marked_markdown(before, changed, behind, open_mark="<mark>")
    if marked is not None:
        assert marked.replace("<mark>", "").replace("</mark>", "") == markdown(before + changed + behind)


def _payload_page(request: HttpRequest) -> HttpResponse:
    template = engines["django"].from_string(
        '{% extends "base.html" %}{% load consilium_tags %}{% block content %}'
        '{% for text in texts %}<div class="prose" hx-disable>{{ text|markdown }}</div>{% endfor %}'
        '<p id="end">end</p>{% endblock %}'
    )
    return HttpResponse(template.render({"texts": PAYLOADS}, request))


urlpatterns = [path("payloads", _payload_page), *project_urlpatterns]


@pytest.mark.urls(__name__)
@pytest.mark.django_db(transaction=True)
def test_payloads_in_a_real_browser_run_nothing_and_call_nowhere(new_page, watch) -> None:  # type: ignore[no-untyped-def]
    page = new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto("/payloads")
    page.locator("#end").wait_for()
    page.locator(".prose").first.hover()
    for link in page.get_by_role("link", name="click").all():
        link.hover()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.hit") is None
    assert [url for url in requests if "outside" in url or "logout" in url] == []
    assert watch.verdict() == ""
