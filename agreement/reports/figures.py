"""The figures of a report, from its stored tables: chart, caption, and the table behind it."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings
from django.core.cache import cache
from django.utils import translation
from django.utils.safestring import SafeString

from agreement.kinds import Figure, kind_of
from agreement.models import Report
from agreement.reports.endpoint_facts import footnote, footnoted, is_by_rules
from consilium.core.jobs import JobStatus
from consilium.core.version import VERSION
from consilium.figures.render import inline_svg

CACHED_SECONDS = 7 * 24 * 3600


def figures_of(report: Report) -> list[Figure]:
    """The figures of a finished report, in the order of its page; those without a value to show are left out."""
    figures = list(kind_of(report).figures(report)) if report.result else []
    if not is_by_rules(report):
        return figures
    return [
        replace(figure, drawing=footnoted(figure.drawing), caption=f"{figure.caption} {footnote()}")
        for figure in figures
    ]


def inline(report: Report, figure: Figure) -> SafeString:
    """The figure as markup for the page; kept, since a finished report does not change and Altair is slow to load."""
    key = f"figure-3:{report.public_id}:{figure.name}:{translation.get_language()}:{VERSION}"
    markup = cache.get(key)
    if markup is None:
        markup = str(inline_svg(figure.drawing, title=figure.title))
        cache.set(key, markup, CACHED_SECONDS)
    return SafeString(markup)


def draw_ahead(report_id: int) -> None:
    """Draw the figures of a finished report in the language of its author, so that the first look need not wait."""
    report = Report.objects.select_related("benchmark", "created_by").get(pk=report_id)
    if report.status != JobStatus.DONE:
        return
    language = report.created_by.language if report.created_by else ""
    with translation.override(language or settings.LANGUAGE_CODE):
        for figure in figures_of(report):
            if not figure.is_on_request:
                inline(report, figure)
