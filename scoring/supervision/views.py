"""Views of the supervision export: a form and the ZIP that it returns, and the script that trains on it."""

from __future__ import annotations

from pathlib import Path

from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from scoring.supervision.export import zipped_supervision
from scoring.supervision.forms import SupervisionForm

SCRIPT = Path(__file__).with_name("fine_tune.py")


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


@require_safe
@signed_in
def training_script(request: SignedInRequest, slug: str) -> FileResponse:
    """The script that fine-tunes a model on the exported files."""
    get_benchmark(request.user, slug)
    return FileResponse(SCRIPT.open("rb"), as_attachment=True, filename=SCRIPT.name, content_type="text/x-python")
