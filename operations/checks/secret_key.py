"""Whether SECRET_KEY can be guessed."""

from __future__ import annotations

from django.conf import settings

from operations.checks.check import Check, Result, State

MIN_LENGTH = 50
MIN_DIFFERENT_CHARACTERS = 5


def look() -> Result:
    """By Django's own measure for deployments: long, of many characters, and not made for development."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    weak = [
        key
        for key in keys
        if len(key) < MIN_LENGTH or len(set(key)) < MIN_DIFFERENT_CHARACTERS or key.startswith("django-insecure-")
    ]
    if weak:
        name = "SECRET_KEY" if settings.SECRET_KEY in weak else "SECRET_KEY_FALLBACKS"
        return Result(
            State.FAILED,
            f"{name} is short or easy to guess.",
            "Set SECRET_KEY to the output of: "
            'python3 -c "import secrets; print(secrets.token_urlsafe(50))". People sign in again.',
        )
    return Result(State.OK, "SECRET_KEY is long enough.")


CHECK = Check("secret_key", "SECRET_KEY", look)
