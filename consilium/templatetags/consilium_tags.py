"""Template tags and filters of the project; all of them escape their input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from django import template
from django.template.defaultfilters import stringfilter
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy, pgettext

from consilium.core import i18n, languages, navigation
from consilium.core import markdown as core_markdown
from consilium.core.clock import clock
from consilium.core.labels import OUTCOME_LABELS, STATUS_LABELS
from consilium.statistics.case_numbers import (
    CASES_FOR_A_CLAIM,
    CASES_FOR_RARE_EVENTS,
    MINIMUM_EFFECTIVE_CASES,
    MINIMUM_RESAMPLED_CASES,
    rounded,
)

if TYPE_CHECKING:
    from django.core.paginator import Page
    from django.template import Context

register = template.Library()

# Django's own words, so that the project's catalogue gives their Chinese: "3 天前", not "3 日前".
TIMES: dict[str, Any] = {
    "year": ngettext_lazy("%(num)d year", "%(num)d years", "num"),
    "month": ngettext_lazy("%(num)d month", "%(num)d months", "num"),
    "week": ngettext_lazy("%(num)d week", "%(num)d weeks", "num"),
    "day": ngettext_lazy("%(num)d day", "%(num)d days", "num"),
    "hour": ngettext_lazy("%(num)d hour", "%(num)d hours", "num"),
    "minute": ngettext_lazy("%(num)d minute", "%(num)d minutes", "num"),
}

DASH = "–"
MINUS = "\N{MINUS SIGN}"
RECENT_DAYS = 7


@register.filter
def markdown(text: str | None) -> SafeString:
    """``{{ response.text|markdown }}``: text from outside as inert HTML; wrap it in ``<div class="prose">``."""
    return core_markdown.markdown(text)


@register.inclusion_tag("components/marked_text.html")
def marked_text(before: str, changed: str, behind: str, gap: str = "", why: str = "") -> dict[str, Any]:
    """``{% marked_text before changed behind %}``: Markdown with a part of it marked.

    Without that part ``gap`` is marked in its place, with the title ``why``.
    """
    open_mark = format_html('<mark class="pair-mark" title="{}">', why) if why else '<mark class="pair-mark">'
    html = core_markdown.marked_markdown(before, changed, behind, open_mark=open_mark, gap=gap)
    return {"html": html, "before": before, "changed": changed, "behind": behind, "gap": gap, "why": why}


@register.filter
def flowing_markdown(text: str | None) -> SafeString:
    """``{{ benchmark.guidelines|flowing_markdown }}``: the same, with paragraphs that an editor broke into lines."""
    return core_markdown.markdown(text, rewrap=True)


def _decimal(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


@register.filter
def number(value: Any, digits: int = 0) -> str:
    """``{{ kappa|number:3 }}``: fixed decimals, thousands set off, a true minus; a dash where there is no number.

    Put it in an element with the class ``num``, which sets tabular figures.
    """
    amount = _decimal(value)
    if amount is None:
        return DASH
    text = f"{amount:,.{int(digits)}f}"
    if text.startswith("-"):
        text = text[1:] if not text.strip("-0.,") else MINUS + text[1:]
    return text


@register.filter
def half_up(value: Any, digits: int = 2) -> str:
    """As `number`, for a figure that stands beside those it is the mean of: 0.575 is 0.58, as by hand.

    `number` rounds the binary fraction, which for 0.575 is a little less.
    """
    amount = _decimal(value)
    if amount is None:
        return DASH
    return number(Decimal(repr(amount)).quantize(Decimal(1).scaleb(-int(digits)), ROUND_HALF_UP), digits)


@register.filter
def signed(value: Any) -> str:
    """``{{ item.points|signed }}``: ``+8``, ``−6``."""
    amount = _decimal(value)
    return DASH if amount is None else ("+" if amount > 0 else "") + number(amount)


@register.filter
def percent(value: Any, digits: int = 1) -> str:
    """``{{ rate|percent }}``: a share between 0 and 1 as ``34.0%``; a dash where there is none."""
    amount = _decimal(value)
    return DASH if amount is None else f"{number(amount * 100, digits)}%"


# Punctuation between parts of a sentence that are not in one message, as the reader's language has it: "：" for ": ".


@register.filter(is_safe=True)
def stopped(text: Any) -> str:
    """``{{ reason|stopped }}``: a text with its full stop."""
    return pgettext("end of a sentence", "%(text)s.") % {"text": text}


@register.filter(is_safe=True)
def comma(text: Any) -> str:
    """``{{ name|comma }}``: a text with a comma, before the next of a list."""
    return pgettext("before the next of a list", "%(text)s,") % {"text": text}


@register.filter(is_safe=True)
def colon(text: Any) -> str:
    """``{{ label|colon }} <a>…</a>``: a text with its colon, before something that is no plain text."""
    return pgettext("before a value", "%(text)s:") % {"text": text}


@register.filter
def labels(label: Any, value: Any) -> str:
    """``{{ title|labels:slice }}``: a label, a colon, and its value."""
    return _("%(label)s: %(value)s") % {"label": label, "value": value}


@register.filter(is_safe=True)
def bracketed(text: Any) -> str:
    """``{{ form|bracketed }}``: a text in brackets."""
    return pgettext("in brackets", "(%(text)s)") % {"text": text}


@register.filter
def in_words(text: Any) -> str:
    """``{{ fault.message|in_words }}``: a message of pure code (`consilium.core.phrases`), in the reader's language."""
    return i18n.translate(text)


@register.filter
def remark(text: str | None) -> str:
    """``{{ figure.reason|remark }}``: why a figure is undefined, in the reader's language
    (`consilium.core.reasons`).
    """
    return i18n.translate_remark(text or "")


@register.filter
def when(moment: datetime | None) -> SafeString | str:
    """``{{ batch.created_at|when }}``: how long ago, for a week; then the date. The exact time in the reader's zone
    is in the tooltip, the instant itself in ``datetime``.
    """
    if moment is None:
        return DASH
    local = timezone.localtime(moment)
    now = timezone.now()
    exact = f"{date_format(local, 'DATETIME_FORMAT')} {local.tzname() or ''}".strip()
    age = now - moment
    if abs(age.total_seconds()) < 60:
        words = _("just now")
    elif age.days >= RECENT_DAYS or age.days < -RECENT_DAYS:
        words = date_format(local, "DATE_FORMAT")
    elif age.total_seconds() > 0:
        words = _("%(time)s ago") % {"time": timesince(moment, now, time_strings=TIMES, depth=1)}
    else:
        words = _("in %(time)s") % {"time": timesince(now, moment, time_strings=TIMES, depth=1)}
    return format_html('<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact, words)


@register.filter
def saved_time(moment: datetime | None, precision: str = "seconds") -> str:
    """``{{ row.saved_at|saved_time }}``: the time of today, or the day and the time; empty without one.

    ``{{ row.saved_at|saved_time:"minutes" }}`` has no seconds.
    """
    return clock(moment, seconds=precision == "seconds") if moment else ""


@register.filter
def at(moment: datetime | None) -> SafeString | str:
    """``{{ decision.created_at|at }}``: the date and the time of day in the reader's zone."""
    if moment is None:
        return DASH
    local = timezone.localtime(moment)
    return format_html('<time datetime="{}">{}</time>', moment.isoformat(), date_format(local, "DATETIME_FORMAT"))


@register.simple_tag
def status_badge(status: Any, label: Any = "") -> SafeString:
    """``{% status_badge assignment.status %}``: a status as a badge; ``label`` replaces its usual word."""
    key = slugify(str(status)).replace("-", "_")
    return format_html('<span class="badge is-{}">{}</span>', key, label or STATUS_LABELS.get(key, str(status)))


@register.simple_tag
def outcome_label(outcome: str) -> str:
    """``{% outcome_label "not_met" %}``: the word for an outcome."""
    return str(OUTCOME_LABELS[outcome])


@register.simple_tag
def outcome_chip(outcome: Any, label: Any = "") -> SafeString:
    """``{% outcome_chip decision.outcome %}``: met (blue), not met (amber), cannot assess (violet), invalid, faulty."""
    key = slugify(str(outcome or "")).replace("-", "_")
    if not key:
        return format_html('<span class="outcome">{}</span>', label or pgettext("criterion", "Open"))
    return format_html('<span class="outcome {}">{}</span>', key, label or OUTCOME_LABELS.get(key, str(outcome)))


@register.inclusion_tag("components/progress.html")
def progress_bar(done: Any, total: Any, label: Any = "", text: Any = "", paused: bool = False) -> dict[str, Any]:
    """``{% progress_bar done total label=_("Cases graded") %}``: a progress bar with ``13 of 30`` beside it."""
    return {"done": done or 0, "total": total or 0, "label": label or _("Progress"), "text": text, "paused": paused}


@register.inclusion_tag("components/effective_cases.html")
def effective_cases(
    n: float | None, percentile: Any = False, most: float | None = None, of: str = ""
) -> dict[str, Any]:
    """``{% effective_cases facts.effective %}``: what can rest on so many effective cases; nothing where None.

    ``percentile``: whether the intervals are percentile intervals. ``most``: each figure rests on ``n`` to so many.
    ``of``: the one figure that the cases are behind, where the figures below are based on others.
    """
    least, most = (rounded(cases) if cases else None for cases in (n, most))
    return {
        "n": least,
        "of": of,
        "most": most if most != least else None,
        "whole": 1 if least == 1 else 2,
        "percentile": bool(percentile),
        "interval": MINIMUM_EFFECTIVE_CASES,
        "resampled": MINIMUM_RESAMPLED_CASES,
        "claim": CASES_FOR_A_CLAIM,
        "rare": CASES_FOR_RARE_EVENTS,
    }


@register.inclusion_tag("components/topnav.html", takes_context=True)
def benchmark_navigation(context: Context, path: str = "") -> dict[str, Any]:
    """The links of the page's ``benchmark``, by the reader's roles; nothing on a page without one.

    ``path``: the address of the page under which this one is, where its own address does not say so.
    """
    request, benchmark = context.get("request"), context.get("benchmark")
    if request is None or benchmark is None or not hasattr(benchmark, "slug"):
        return {"links": []}
    links, below = navigation.in_sections(navigation.links(request, benchmark, path))
    return {"links": links, "below": below, "benchmark": benchmark}


@register.filter
def initials(name: Any) -> str:
    """``Ana Ruiz`` → ``AR``; a name without spaces gives its first character."""
    words = [word for word in str(name).split() if word[0].isalnum()]
    if not words:
        return "?"
    return (words[0][0] + (words[-1][0] if len(words) > 1 else "")).upper()


@register.filter(is_safe=True)
@stringfilter
def trim(text: str) -> str:
    """``{% filter trim %}…{% endfilter %}``: the content without white space around it, so that `:empty` can match."""
    return text.strip()


@register.filter
@lru_cache(maxsize=256)
def language_tag(language: str | None) -> str:
    """A stored language (``zh``, ``zh-hans``, ``en-GB``) as a value for ``lang``; empty stays empty."""
    parts = [part for part in str(language or "").replace("_", "-").split("-") if part.isalnum()]
    return "-".join([parts[0].lower(), *(p.title() if len(p) == 4 else p.upper() for p in parts[1:])]) if parts else ""


@register.filter
def tag_chips(tags: Sequence[str], most: int) -> SafeString:
    """``{{ case.tags|tag_chips:4 }}``: the first of them as chips, and a sign that there are more."""
    chips = "".join(f'<span class="tag">{escape(tag)}</span>' for tag in tags[:most])
    more = '<span class="muted">…</span>' if len(tags) > most else ""
    return SafeString(f'<span class="tags">{chips}{more}</span>')


@register.filter
def language_name(language: str | None) -> str:
    """The name of a stored language in the reader's language; empty stays empty."""
    return languages.language_name(language) if language else ""


@register.filter
def language_names(tags: Sequence[str]) -> str:
    """The names of several languages, in the reader's language; empty for none."""
    return languages.language_names(tags)


@register.filter
def listed(names: Sequence[Any]) -> str:
    """Names in a line of text, with the mark of the reader's language between them; empty for none."""
    return i18n.listed(map(str, names))


@register.simple_tag
def pages_around(page: Page[Any]) -> list[int]:
    """Page numbers to show: the first, the last, and two on each side; 0 is a gap."""
    last = page.paginator.num_pages
    numbers = sorted({1, last, *range(max(1, page.number - 2), min(last, page.number + 2) + 1)})
    shown: list[int] = []
    for number_ in numbers:
        if shown and number_ - shown[-1] > 1:
            shown.append(0)
        shown.append(number_)
    return shown
