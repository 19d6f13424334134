"""Bar charts as inline SVG: sizes as attributes, colours by class (``static/css/dashboard.css``), words in a title."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from annotation.dashboard.counts import Work
from annotation.dashboard.forecast import is_working_day


def stacked_bar(work: Work) -> SafeString:
    """All stages of the work in one bar; its length is the whole, so that empty stages take no room."""
    total = work.total
    if not total:
        return format_html('<span class="muted">{}</span>', _("nothing assigned"))
    parts, x = [], 0.0
    for stage, _word, number in work.stages:
        if number:
            width = 200 * number / total
            parts.append((round(x, 2), round(max(width - 0.8, 0.4), 2), stage))
            x += width
    words = ", ".join(f"{word}: {number:,}" for _stage, word, number in work.stages if number)
    return format_html(
        '<svg class="stages-bar" viewBox="0 0 200 10" preserveAspectRatio="none" role="img"><title>{}</title>{}</svg>',
        words,
        format_html_join("", '<rect x="{}" y="0" width="{}" height="10" class="is-{}"></rect>', parts),
    )


def days_chart(days: Sequence[tuple[date, int]]) -> SafeString:
    """A column for each day, its number above it; weekends have a darker ground; today is hollow: it is not over."""
    step, base, height = 46, 128, 100
    highest = max((number for _day, number in days), default=0) or 1
    columns = []
    for place, (day, number) in enumerate(days):
        x, tall = place * step, round(height * number / highest, 1)
        columns.append(
            (
                "" if is_working_day(day) else format_html(
                    '<rect class="weekend" x="{}" y="14" width="{}" height="{}"></rect>', x, step, base - 14
                ),
                "today" if place == len(days) - 1 else "day", x + 9, round(base - tall, 1), step - 18, tall,
                date_format(day, pgettext("date", "D j N")), f"{number:,}", x + step // 2, round(base - tall - 5, 1),
                f"{number:,}" if number else "", x + step // 2, base + 16, date_format(day, "D"),
                x + step // 2, base + 31, date_format(day, "j"),
            )
        )  # fmt: skip
    words = _("Submitted on each of the last %(days)d days; at most %(highest)d a day.") % {
        "days": len(days),
        "highest": max((number for _day, number in days), default=0),
    }
    return format_html(
        '<svg class="days-chart" viewBox="0 0 {} {}" width="{}" height="{}" role="img"><title>{}</title>{}'
        '<line x1="0" y1="{}" x2="{}" y2="{}"></line></svg>',
        step * len(days), base + 38, step * len(days), base + 38, words,
        format_html_join(
            "",
            '{}<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>'
            '<text x="{}" y="{}">{}</text><text class="tick" x="{}" y="{}">{}</text>'
            '<text class="tick" x="{}" y="{}">{}</text>',
            columns,
        ),
        base, step * len(days), base,
    )  # fmt: skip
