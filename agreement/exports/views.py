"""Download of a rater's decisions."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from agreement.exports.decisions import decisions_file
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark


@require_safe
@signed_in
def decisions_csv(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """The decisions of the rater in the query (``rater``), in the columns that an import takes."""
    try:
        return decisions_file(get_benchmark(request.user, slug), request.GET.get("rater", ""))
    except DomainError as error:
        messages.error(request, str(error))
        return redirect("agreement:reports", slug)
