"""Random public identifiers: the only ones that stand in a URL, so that nothing can be read from their order."""

import secrets
import string

ALPHABET = string.ascii_letters + string.digits
LENGTH = 14


def new_public_id() -> str:
    """14 characters of base 62, about 83 bits: neither guessable nor ordered."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
