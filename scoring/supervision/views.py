"""View of the supervision export: a form, and the ZIP that it returns."""

from __future__ import annotations

from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from scoring.supervision.export import zipped_supervision
from scoring.supervision.forms import SupervisionForm


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def supervision(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Choose what is to be written; a valid choice is answered by the file."""
    benchmark = get_benchmark(request.user, slug)
    form = SupervisionForm(request.POST if request.method == "POST" else None, benchmark=benchmark)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                archive = zipped_supervision(benchmark=benchmark, terms=form.terms())
            except DomainError as error:
                form.add_error(None, str(error))
                status = error.status_code
            else:
                return FileResponse(archive, as_attachment=True, filename=f"{slug}-supervision.zip")
    return render(
        request, "scoring/supervision/supervision.html", {"benchmark": benchmark, "form": form}, status=status
    )
