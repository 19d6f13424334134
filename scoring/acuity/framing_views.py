"""The page of a benchmark's framings: the versions, and the form of a new one with its preview."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.acuity.framings import STARTERS
from rubrics.acuity.framings import render as render_framing
from rubrics.acuity.services import make_framing
from rubrics.models import Benchmark
from scoring.acuity.framing_forms import FramingForm


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def framings(request: SignedInRequest, slug: str) -> HttpResponse:
    """All versions, and a form that begins with the newest; ``?from=`` is a version or a language to begin with."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        text = _first_text(benchmark, request.GET.get("from", ""))
        return _page(request, benchmark, FramingForm(initial={"text": text}, benchmark=benchmark), text)
    form = FramingForm(request.POST, benchmark=benchmark)
    if not form.is_valid():
        return _page(request, benchmark, form, "", status=422)
    text = form.cleaned_data["text"]
    if "preview" in request.POST:
        return _page(request, benchmark, form, text)
    try:
        framing = make_framing(benchmark=benchmark, text=text, by=request.user, at=timezone.now())
    except DomainError as error:
        form.add_error(None, str(error))
        return _page(request, benchmark, form, text, status=error.status_code)
    messages.success(request, _("Version %(n)s of the framing has been saved.") % {"n": framing.version})
    return redirect("scoring:acuity-framings", slug)


def _first_text(benchmark: Benchmark, start: str) -> str:
    """The text of a version or the starter of a language; without either the newest version, else the starter."""
    if start in STARTERS:
        return STARTERS[start]
    texts = {str(framing.version): framing.text for framing in benchmark.framings.all()}  # the newest first
    if start in texts:
        return texts[start]
    if texts:
        return next(iter(texts.values()))
    return STARTERS["zh" if (get_language() or "").startswith("zh") else "en"]


def _page(
    request: SignedInRequest, benchmark: Benchmark, form: FramingForm, text: str, status: int = 200
) -> HttpResponse:
    """The page; without ``text`` there is nothing to preview."""
    message = None
    if text and form.preview is not None:
        message = render_framing(text, str(form.preview.conversation[0]["content"]))
    context = {
        "benchmark": benchmark,
        "form": form,
        "case": form.preview,
        "message": message,
        "versions": benchmark.framings.select_related("created_by"),
        "has_text": bool(text),
    }
    return render(request, "scoring/acuity/framings.html", context, status=status)
