"""Permissions of the API that concern the account of whoever asks."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts import second_step
from accounts.models import User


class HasSecondStep(BasePermission):
    """Refuse the token of somebody who needs a second step and has none (403 with a code).

    Requests with a session are looked at by `accounts.second_step_middleware.demand_second_step`, which sees no tokens.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        """True for requests with a session, and for those who have a second step or need none."""
        if request.auth is None or not isinstance(request.user, User):
            return True
        if second_step.missing_at(request.user, path=request.path_info, arguments=view.kwargs):
            raise PermissionDenied(second_step.refusal())
        return True
