"""Creates accounts and updates profiles."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import PhysicianProfile, User
from accounts.services.security_log import record
from consilium.core.errors import Conflict, DomainError


@transaction.atomic
def update_profile(
    *, user: User, name: str, time_zone: str, language: str, credentials: Mapping[str, Any] | None = None
) -> None:
    """Store what ``user`` says about themselves; the form validated the fields.

    ``credentials``: fields of `PhysicianProfile`; None leaves them as they are.
    """
    user.name, user.time_zone, user.language = name, time_zone, language
    user.save(update_fields=["name", "time_zone", "language"])
    if credentials is not None:
        PhysicianProfile.objects.update_or_create(user=user, defaults=dict(credentials))


def choose_language(*, user: User, language: str) -> None:
    """Store the language that ``user`` chose in the menu: one of ``settings.LANGUAGES``. Emails are in it as well."""
    user.language = language
    user.save(update_fields=["language"])


@transaction.atomic
def person_of(*, email: str, name: str = "", way: str = "page") -> User:
    """The account with the address, or a new one, whose owner sets a password by "Forgot your password?".

    Addresses are stored in lower case, because allauth converts what somebody types to lower case and looks only for
    that. `DomainError` where ``email`` is not an address. ``way`` says in the security log how a new account is made:
    page, list, command or first_account.
    """
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError as error:
        raise DomainError(_("“%(email)s” is not a valid email address.") % {"email": email}) from error
    known = User.objects.filter(email__iexact=email).first()
    if known is not None:
        return known
    try:
        with transaction.atomic():
            user = User.objects.create_user(
                username=f"u-{secrets.token_hex(12)}", email=email, password=None, name=name.strip()
            )
    except IntegrityError as error:  # somebody made it in the meantime
        raise Conflict(_("This account was created a moment ago. Try again.")) from error
    record("account_made", at=user.date_joined, user=user, way=way)
    return user


@transaction.atomic
def suggest_profile(*, user: User, specialty: str, languages: Sequence[str], **more: Any) -> None:
    """Store what an admin knows of somebody who has never opened their account; all others keep their own profile.

    ``more``: other fields of `PhysicianProfile`. Empty values are not stored.
    """
    fields = {"specialty": specialty, "languages": list(languages), **more}
    given = {name: value for name, value in fields.items() if value not in (None, "", [])}
    if given and user.is_invited:
        PhysicianProfile.objects.update_or_create(user=user, defaults=given)
