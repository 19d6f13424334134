"""Claims the next response of a batch: an open response first, otherwise a free slot of the pool."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation import access
from annotation.services import slots
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in


@require_POST
@signed_in
def take(request: SignedInRequest, public_id: str) -> HttpResponse:
    """Open the annotator's next response in the batch; a free response is taken for them."""
    batch = access.get_batch_to_take_from(request.user, public_id)
    try:
        row = slots.claim_next(annotator=request.user, batch=batch, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
        return redirect("annotation:work")
    if row is None:
        messages.info(request, _("There is no work for you in “%(batch)s” at the moment.") % {"batch": batch.title})
        return redirect("annotation:work")
    return redirect("annotation:grade", row.public_id)
