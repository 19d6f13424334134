"""The first account of an installation, made on a page with a code from the terminal.

The code is printed by ``manage.py up`` and ``manage.py setup_code`` as long as nobody has an account, and nowhere else;
the table holds its hash. A trigger removes it with the first account, however that is made.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from datetime import datetime

from django.db import transaction
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from accounts.models import SetupCode, User
from accounts.services.people import person_of
from accounts.services.security_log import record
from consilium.core.errors import Conflict, DomainError
from consilium.core.locks import lock_table

logger = logging.getLogger(__name__)
# 32 letters and digits without those that are easily confused; 16 of them are 80 random bits.
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH, BLOCK_LENGTH = 16, 4


class WrongCode(DomainError):
    """The code is not the one that was printed last."""

    def __init__(self) -> None:
        super().__init__(
            _("The code is wrong. Copy the latest code from the terminal in which the server was started.")
        )


def is_first_run() -> bool:
    """Whether a code waits for the first account."""
    return SetupCode.objects.exists()


def is_current_code(code: str) -> bool:
    """Whether ``code`` is the last one, for a form that names all its faults at once; `make_first_account` asks again.

    True where no code waits any more: `make_first_account` then says that somebody has an account.
    """
    row = SetupCode.objects.first()
    return row is None or constant_time_compare(row.code_hash, _hash(code))


@transaction.atomic
def new_setup_code(*, at: datetime) -> str:
    """A new code, which replaces the one before; empty where somebody has an account."""
    lock_table(User)  # an account that is being made at this moment is waited for
    if User.objects.exists():
        return ""
    code = "".join(secrets.choice(ALPHABET) for _position in range(CODE_LENGTH))
    SetupCode.objects.update_or_create(pk=1, defaults={"code_hash": _hash(code), "created_at": at})
    return "-".join(code[start : start + BLOCK_LENGTH] for start in range(0, CODE_LENGTH, BLOCK_LENGTH))


@transaction.atomic
def make_first_account(
    *, code: str, email: str, name: str, password: str, language: str, time_zone: str, at: datetime
) -> User:
    """The first account: an operator, who may make benchmarks. The form validated the fields.

    `WrongCode` where ``code`` is not the last one; its case, blanks and hyphens do not matter. `Conflict` where
    somebody has an account by now.
    """
    # Of two requests with the code, the second waits here, and finds no row.
    row = SetupCode.objects.select_for_update().first()
    if row is None or User.objects.exists():
        raise Conflict(_("The first account already exists. Sign in, or ask its owner to invite you."))
    if not constant_time_compare(row.code_hash, _hash(code)):
        raise WrongCode
    user = person_of(email=email, name=name, way="first_account")
    user.language, user.time_zone, user.last_login = language, time_zone, at
    user.is_staff = user.is_superuser = True
    user.set_password(password)
    user.save(update_fields=["language", "time_zone", "last_login", "is_staff", "is_superuser", "password"])
    record("rights_changed", at=at, user=user, by=user, is_staff=True, is_superuser=True)
    logger.info("The first account was made", extra={"user": user.pk})
    return user


def _hash(code: str) -> str:
    # A random code of 80 bits needs no slow hash.
    typed = "".join(code.split()).replace("-", "").upper()
    return hashlib.sha256(typed.encode()).hexdigest()
