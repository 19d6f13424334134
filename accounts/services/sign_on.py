"""Matches a single sign-on identity (OpenID Connect) to an account, by the provider's claims."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from accounts.models import User

GOOGLE = "https://accounts.google.com"


class SignOnRefused(Exception):
    """Nobody is signed in; ``reason`` is no_email, not_verified, unconfirmed, no_account, other_identity, other_domain
    or no_sign_in (somebody tried to connect an identity in an open session).
    """

    def __init__(self, reason: str, email: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.email = email


def account_for(claims: Mapping[str, Any], *, trust_email: bool) -> User:
    """The active account of the address in ``claims``; `SignOnRefused` gives the reason if there is none.

    ``claims``: as allauth keeps them, ``userinfo`` and ``id_token`` or one of the two. ``trust_email``: accept an
    address even if the provider does not say whether it is verified; Microsoft Entra does not. An address that the
    provider calls *not* verified is always refused: anybody who can type an address there could otherwise take over the
    account of another person.
    """
    sources = [source for name in ("userinfo", "id_token") if isinstance(source := claims.get(name), Mapping)]
    email = next((str(source["email"]).strip() for source in sources if source.get("email")), "")
    try:
        validate_email(email)
    except ValidationError as error:
        raise SignOnRefused("no_email") from error
    stating = [source for source in sources if source.get("email_verified") is not None]
    if not all(is_verified(source["email_verified"]) for source in stating):
        raise SignOnRefused("not_verified", email)
    is_confirmed = any(str(source.get("email", "")).strip().lower() == email.lower() for source in stating)
    if not is_confirmed and not trust_email:
        raise SignOnRefused("unconfirmed", email)
    user = User.objects.filter(email__iexact=email, is_active=True).first()
    if user is None:
        raise SignOnRefused("no_account", email)
    return user


def refuse_other_domains(claims: Mapping[str, Any], *, domains: Collection[str]) -> None:
    """`SignOnRefused` for people of other ``domains``, in lower case; an empty list refuses nobody.

    Anybody may have an account of Google with an address of another domain. Google says in ``hd`` which organisation
    manages the account, so that counts there. Other providers are those of one organisation.
    """
    if not domains:
        return
    sources = [source for name in ("userinfo", "id_token") if isinstance(source := claims.get(name), Mapping)]
    email = next((str(source["email"]).strip() for source in sources if source.get("email")), "")
    domain = email.rpartition("@")[2]
    if any(str(source.get("iss", "")) == GOOGLE for source in sources):
        domain = next((str(source["hd"]) for source in sources if source.get("hd")), "")
    if domain.lower() not in domains:
        raise SignOnRefused("other_domain", email)


def is_verified(value: object) -> bool:
    """Whether ``email_verified`` is true. Some providers send a text, and even "false" is true in Python."""
    return value is True or (isinstance(value, str) and value.strip().lower() == "true")
