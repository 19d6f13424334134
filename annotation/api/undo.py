"""Undo of a submission, an acceptance or the end of an adjudication.

The pages offer it for ten seconds, and for a minute while the message has the pointer or the focus. Five seconds more
are accepted, for a request that is long on its way.
"""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from annotation import access, services

UNDONE = {204: None}


def _me(request: Request) -> User:
    assert isinstance(request.user, User)  # every endpoint asks for a signed-in user
    return request.user


@extend_schema(request=None, responses=UNDONE)
@api_view(["POST"])
def submit(request: Request, public_id: str) -> Response:
    """Undo submitting work, within 65 seconds and before someone else continues with it; else 409."""
    row = access.get_own_assignment(request.user, public_id)
    services.undo_submit(assignment=row, annotator=_me(request), at=timezone.now())
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(request=None, responses=UNDONE)
@api_view(["POST"])
def accept(request: Request, public_id: str) -> Response:
    """Undo accepting a check, within 65 seconds and before someone else continues with it; else 409."""
    assignment = access.get_own_check(request.user, public_id)
    services.undo_accept(assignment=assignment, checker=_me(request), at=timezone.now())
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(request=None, responses=UNDONE)
@api_view(["POST"])
def finish(request: Request, public_id: str) -> Response:
    """Undo ending an adjudication, within 65 seconds and before someone else continues with it; else 409."""
    row = access.get_own_adjudication(request.user, public_id)
    services.undo_finish(adjudication=row, adjudicator=_me(request), at=timezone.now())
    return Response(status=status.HTTP_204_NO_CONTENT)
