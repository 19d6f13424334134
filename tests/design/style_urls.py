"""The project's addresses, and a page that shows every component: only tests serve it."""

from pathlib import Path

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.urls import path
from django.utils import timezone
from django.utils.safestring import mark_safe

from accounts.forms import ProfileForm
from config.urls import urlpatterns as project_urlpatterns
from consilium.core.errors import LineError
from consilium.core.labels import STATUS_LABELS
from rubrics.models import Benchmark

CHART = mark_safe(
    '<svg viewBox="0 0 600 160" width="600" height="160" role="img" aria-label="Bars">'
    + "".join(
        f'<rect x="{20 + i * 58}" y="{150 - h}" width="40" height="{h}" fill="var(--c{1 + i % 6})"/>'
        for i, h in enumerate([40, 66, 88, 120, 134, 110, 92, 60, 38, 20])
    )
    + "</svg>"
)
TEXT = """Oozing that lasts an hour **can happen** when you take a blood thinner.

1. Press firmly for *fifteen minutes*
2. Raise the hand

> Do not skip a dose.

| INR | what to do |
| --- | --- |
| 2–3 | nothing |
| > 5 | call [the clinic](https://example.org) |
"""


def style(request: HttpRequest) -> HttpResponse:
    """Every component once."""
    template = engines["django"].from_string((Path(__file__).parent / "style.html").read_text())
    form = ProfileForm({"name": "Ana", "time_zone": "Nowhere/Else", "language": "en"})
    context = {
        "benchmark": Benchmark.objects.first(),
        "form": form,
        "chart": CHART,
        "text": TEXT,
        "now": timezone.now(),
        "page_obj": Paginator(range(1000), 25).page(7),
        "statuses": list(STATUS_LABELS),
        "outcomes": ["met", "not_met", "cannot_assess", "invalid", "faulty", ""],
        "errors": [LineError(3, "points", "is 0; a criterion adds or takes away points"), LineError(0, "", "is empty")],
        "rows": [["Meridian", "0.71", "0.66–0.75"], ["Polaris", "0.64", "0.58–0.69"]],
        "columns": ["Candidate", "MF1", "95% interval"],
    }
    return HttpResponse(template.render(context, request))


def split(request: HttpRequest) -> HttpResponse:
    """A reading page."""
    template = engines["django"].from_string((Path(__file__).parent / "split.html").read_text())
    return HttpResponse(template.render({"text": TEXT * 6}, request))


def section(request: HttpRequest, slug: str) -> HttpResponse:
    """Somewhere for a link of the top bar to lead."""
    return style(request)


def refused(request: HttpRequest) -> HttpResponse:
    """What a page behind a sign-in answers to htmx when the session has ended."""
    return HttpResponse(status=401)


urlpatterns = [
    path("style", style),
    path("style/<slug>/", section, name="section"),
    path("split", split),
    path("refused", refused),
    *project_urlpatterns,
]
