"""Responses of the saving endpoints where nothing can be saved; grading, labels and writing share them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext as _

from annotation import services
from annotation.services.rules import BatchClosed
from consilium.core.errors import DomainError


def somebody_else() -> HttpResponse:
    """The error for work that the browser kept for another account than the account that is now signed in.

    It is used for labels and written responses, whose pages send the author's name; decisions get 404 instead.
    """
    return JsonResponse({"reason": "somebody-else"}, status=409)


def unsent(refused: DomainError) -> DomainError:
    """``refused`` as it is, or for a closed batch with what becomes of decisions that the browser still has."""
    if isinstance(refused, BatchClosed):
        return BatchClosed(
            _(
                "This batch is closed. Decisions that were not saved before cannot be saved any more and count in no "
                "result. Everything saved before is kept."
            )
        )
    return refused


def refusal(refused: DomainError, results: Sequence[dict[str, Any]] = (), **more: Any) -> HttpResponse:
    """A `DomainError` in the page's format.

    ``results``: the results of decisions that were handled before it; ``more``: what else the page takes up.
    ``closed`` is true where the batch is closed: nothing that waits in the browser can be sent any more.
    """
    body: dict[str, Any] = {"detail": str(refused), "results": list(results), **more}
    if isinstance(refused, services.NoLongerOpen):
        body["reason"] = "no-longer-open"
    if isinstance(refused, BatchClosed):
        body["closed"] = True
    if isinstance(refused, services.Unanswered):
        body["missing"] = refused.criteria
    return JsonResponse(body, status=refused.status_code)
