"""Where a form leads whose preview was made into a batch before."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotation.services.previews import AlreadyMade


def to_made_batch(request: HttpRequest, slug: str, made: AlreadyMade) -> HttpResponse:
    """Whoever sends a preview once more is led to the batch that was made of it."""
    messages.info(request, str(made))
    return redirect("annotation:batch", slug, made.batch.public_id)
