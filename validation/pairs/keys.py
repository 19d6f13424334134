"""Names of pairs that come without one. Pure."""

from __future__ import annotations

from collections.abc import Collection

from consilium.core.limits import MAX_KEY_LENGTH

SPARE = 10  # characters for the number


def free_key(case: str, taken: Collection[str]) -> str:
    """The case's key with the first number that is not taken."""
    base = case[: MAX_KEY_LENGTH - SPARE]
    return next(key for number in range(1, len(taken) + 2) if (key := f"{base}-{number}") not in taken)
