"""Who runs the server and who may create benchmarks."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services import security_log
from consilium.core.errors import DomainError


class LastOperator(DomainError):
    """Nobody would be left who runs the server."""


def refuse_without_operator(*, besides: User) -> None:
    """`LastOperator` if ``besides`` is the only active operator. The caller's transaction then changes the account.

    Locks the rows of all operators: of two requests that take the right from two operators, the second waits here, and
    then sees what the first left.
    """
    operators = User.objects.select_for_update(no_key=True).filter(is_superuser=True, is_active=True).order_by("pk")
    numbers = list(operators.values_list("pk", flat=True))
    if numbers == [besides.pk]:
        raise LastOperator(_("The server needs at least one operator. Make someone else an operator first."))


@transaction.atomic
def set_rights(
    *,
    person: User,
    creates_benchmarks: bool,
    operator: bool,
    by: User | None,
    at: datetime,
    request: HttpRequest | None = None,
) -> bool:
    """Let ``person`` create benchmarks and run the server, or withdraw it; whether that is a change.

    `LastOperator` if nobody else runs the server.
    """
    if not operator:
        refuse_without_operator(besides=person)
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    if (person.is_staff, person.is_superuser) == (creates_benchmarks, operator):
        return False
    person.is_staff, person.is_superuser = creates_benchmarks, operator
    person.save(update_fields=["is_staff", "is_superuser"])
    security_log.record(
        "rights_changed",
        at=at,
        user=person,
        by=by,
        request=request,
        creates_benchmarks=creates_benchmarks,
        operator=operator,
    )
    return True
