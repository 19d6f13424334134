"""What filters and tags write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.core.paginator import Paginator
from django.template import engines
from django.utils import timezone, translation

NOW = datetime(2026, 3, 10, 15, 0, tzinfo=UTC)


def render(source: str, **context: object) -> str:
    return str(engines["django"].from_string("{% load consilium_tags %}" + source).render(context))


@pytest.mark.parametrize(
    ("source", "value", "written"),
    [
        ("{{ x|number:3 }}", 0.43700, "0.437"),
        ("{{ x|number }}", 82500, "82,500"),
        ("{{ x|number:2 }}", -0.5, "−0.50"),
        ("{{ x|number:1 }}", -0.01, "0.0"),
        ("{{ x|number:2 }}", None, "–"),
        ("{{ x|number:2 }}", float("nan"), "–"),
        ("{{ x|number:2 }}", float("inf"), "–"),
        ("{{ x|half_up }}", (0.55 + 0.6) / 2, "0.58"),
        ("{{ x|half_up }}", 0.125, "0.13"),
        ("{{ x|half_up:1 }}", -0.05, "−0.1"),
        ("{{ x|half_up }}", None, "–"),
        ("{{ x|percent }}", 2904 / 8550, "34.0%"),
        ("{{ x|percent:2 }}", 2904 / 8550, "33.96%"),
        ("{{ x|percent }}", None, "–"),
        ("{{ x|join:' · '|stopped }}", ["Can't wait", "A & E"], "Can&#x27;t wait · A &amp; E."),
        ("{{ x|stopped }}", "A & E", "A &amp; E."),
        ("{{ x|signed }}", 8, "+8"),
        ("{{ x|signed }}", -6, "−6"),
        ("{{ x|initials }}", "Ana María Ruiz", "AR"),
        ("{{ x|initials }}", "王芳", "王"),
        ("{{ x|initials }}", "", "?"),
        ("{{ x|language_tag }}", "zh_hans", "zh-Hans"),
        ("{{ x|language_tag }}", "en-gb", "en-GB"),
        ("{{ x|language_tag }}", 'en" onload="x', ""),
        ("{{ x|tag_chips:2 }}", [], '<span class="tags"></span>'),
        (
            "{{ x|tag_chips:2 }}",
            ["a", '<b c="d">'],
            '<span class="tags"><span class="tag">a</span><span class="tag">&lt;b c=&quot;d&quot;&gt;</span></span>',
        ),
        (
            "{{ x|tag_chips:1 }}",
            ["a", "b"],
            '<span class="tags"><span class="tag">a</span><span class="muted">…</span></span>',
        ),
    ],
)
def test_values_are_written_as_people_read_them(source: str, value: object, written: str) -> None:
    assert render(source, x=value) == written


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=5), "5\xa0minutes ago"),
        (timedelta(hours=26), "1\xa0day ago"),
        (timedelta(hours=-3), "in 3\xa0hours"),
        (timedelta(days=9), "1 March 2026"),
    ],
)
@time_machine.travel(NOW, tick=False)
def test_when_says_how_long_ago_for_a_week(age: timedelta, words: str) -> None:
    html = render("{{ x|when }}", x=NOW - age)
    assert html.endswith(f">{words}</time>")
    assert f'datetime="{(NOW - age).isoformat()}"' in html


@pytest.mark.parametrize(("age", "words"), [(timedelta(days=3), "3\xa0天前"), (timedelta(hours=2), "2\xa0小时前")])
@time_machine.travel(NOW, tick=False)
def test_when_counts_days_in_chinese_as_people_do(age: timedelta, words: str) -> None:
    with translation.override("zh-hans"):
        assert words in render("{{ x|when }}", x=NOW - age)


def test_times_are_shown_in_the_zone_of_the_reader() -> None:
    # 23:30 UTC on 1 March is 08:30 on 2 March in Tokyo (UTC+9, no summer time).
    moment = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    with timezone.override(ZoneInfo("Asia/Tokyo")):
        assert "2 March 2026, 08:30" in render("{{ x|at }}", x=moment)
        assert 'title="2 March 2026, 08:30 JST"' in render("{{ x|when }}", x=moment)


def test_badges_and_chips_escape_what_they_are_given() -> None:
    for tag in ("status_badge", "outcome_chip"):
        html = render("{% " + tag + " x label=y %}", x='"><script>', y="<script>")
        assert "<script>" not in html
        assert html.count("<") == 2


@pytest.mark.parametrize(
    ("status", "words"),
    [("not_started", "Not started"), ("in_check", "In check"), ("returned", "Returned"), ("accepted", "Accepted")],
)
def test_statuses_have_the_words_of_the_field(status: str, words: str) -> None:
    assert render("{% status_badge x %}", x=status) == f'<span class="badge is-{status}">{words}</span>'


def test_progress_is_true() -> None:
    html = " ".join(render("{% progress_bar 1300 3000 label='Graded' %}").split())
    assert '<progress value="1300" max="3000" aria-label="Graded"' in html
    assert "1,300 of 3,000" in html


def test_progress_of_nothing_is_empty_not_full() -> None:
    assert '<progress value="0" max="1"' in " ".join(render("{% progress_bar 0 0 %}").split())


@pytest.mark.parametrize(
    ("page", "numbers"),
    [
        (1, [1, 2, 3, 0, 40]),
        (7, [1, 0, 5, 6, 7, 8, 9, 0, 40]),
        (40, [1, 0, 38, 39, 40]),
        (4, [1, 2, 3, 4, 5, 6, 0, 40]),
    ],
)
def test_pages_around(page: int, numbers: list[int]) -> None:
    pages = Paginator(range(1000), 25).page(page)
    assert render("{% pages_around p as n %}{{ n|join:' ' }}", p=pages) == " ".join(map(str, numbers))
