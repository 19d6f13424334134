"""Views of the languages of cases: a list to look through, several corrected at once, and detection."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.languages import language_choices
from rubrics import access
from rubrics.forms import CaseLanguageFilters
from rubrics.selectors import lists
from rubrics.services.case_languages import detect_languages, set_language

PER_PAGE = 100


@require_safe
@signed_in
def case_languages(request: SignedInRequest, slug: str) -> HttpResponse:
    """The cases with their languages; admins correct them."""
    benchmark = access.get_benchmark(request.user, slug)
    form = CaseLanguageFilters(request.GET, benchmark=benchmark)
    rows = form.narrowed(lists.listed_cases(benchmark)).order_by("language", "key")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    known = lists.languages(benchmark)
    context = {
        "benchmark": benchmark,
        "form": form,
        "page_obj": page,
        "languages": language_choices(*known),
        "without": benchmark.cases.filter(language="").count(),
        "query": request.GET.urlencode(),
        "administers": access.is_admin(request.user, benchmark),
    }
    return render(request, "rubrics/cases/languages.html", context)


@require_POST
@signed_in
def set_languages(request: SignedInRequest, slug: str) -> HttpResponse:
    """Give the chosen cases (``case``) the posted ``language``; ``none`` takes theirs away."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    cases, language = request.POST.getlist("case"), request.POST.get("language", "")
    try:
        if not language:
            raise DomainError(_("Choose a language."))
        count = set_language(
            benchmark=benchmark,
            cases=[key.replace("\x00", "") for key in cases],
            language="" if language == "none" else language,
        )
    except DomainError as refused:
        messages.error(request, str(refused))
    else:
        words = ngettext("The language of %(n)d case was saved.", "The languages of %(n)d cases were saved.", count)
        messages.success(request, words % {"n": count})
    if request.POST.get("next") == "case" and len(cases) == 1:
        return redirect("rubrics:case", slug, access.get_case(request.user, slug, cases[0]).public_id)
    return _back(request, slug)


@require_POST
@signed_in
def detect(request: SignedInRequest, slug: str) -> HttpResponse:
    """Detect the languages of the cases that have none."""
    benchmark = access.get_administered_benchmark(request.user, slug)
    detected, missing = detect_languages(benchmark=benchmark)
    words = ngettext("A language was detected for %(n)d case.", "A language was detected for %(n)d cases.", detected)
    text = words % {"n": detected}
    if missing:
        left = ngettext(
            "%(n)d case still has none: its text is too short or mixes languages.",
            "%(n)d cases still have none: their texts are too short or mix languages.",
            missing,
        )
        text = f"{text} {left % {'n': missing}}"
    messages.success(request, text)
    return _back(request, slug)


def _back(request: SignedInRequest, slug: str) -> HttpResponse:
    """The list as it was filtered."""
    query = request.POST.get("query", "")[:500]
    address = reverse("rubrics:case-languages", args=[slug])
    return redirect(f"{address}?{query}" if query else address)
