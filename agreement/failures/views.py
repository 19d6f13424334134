"""The page of the responses in which a failure was marked."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agreement.failures.responses import in_order, marks_of_code
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_code_book
from rubrics.codes.selectors import lines_of

PER_PAGE = 30


@require_safe
@signed_in
def responses(request: SignedInRequest, slug: str, version: int, code: str) -> HttpResponse:
    """Each response with who marked the failure, and the words that show it."""
    book = get_code_book(request.user, slug, version)
    line = next((line for line in lines_of(book) if line.key == code), None)
    if line is None:
        raise Http404
    marks = marks_of_code(book, code)
    page = Paginator(in_order(marks).select_related("case", "candidate"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "benchmark": book.benchmark,
        "book": book,
        "line": line,
        "n": len(marks),
        "rows": [{"response": response, "marks": marks[response.pk]} for response in page],
        "page_obj": page,
    }
    return render(request, "agreement/failures/responses.html", context)
