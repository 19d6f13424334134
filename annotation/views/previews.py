"""Redirects a form whose preview was made into a batch already."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotation.services.previews import AlreadyCreated


def to_existing_batch(request: HttpRequest, slug: str, repeated: AlreadyCreated) -> HttpResponse:
    """Redirect a preview that is sent again to the batch that was made from it."""
    messages.info(request, str(repeated))
    return redirect("annotation:batch", slug, repeated.batch.public_id)
