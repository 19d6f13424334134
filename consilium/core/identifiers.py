"""Random public identifiers: the only ones in URLs, since they reveal no order."""

import secrets
import string

ALPHABET = string.ascii_letters + string.digits
LENGTH = 14
_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]


def new_public_id() -> str:
    """14 characters of base 62, about 83 bits: neither guessable nor ordered."""
    # The system's randomness is read once for all characters, because an import draws thousands of identifiers. The
    # digits in base 62 of a number of 128 bits are practically uniform: one digit exceeds another by less than
    # 2 to the minus 40.
    number = int.from_bytes(secrets.token_bytes(16))
    letters = []
    for _ in range(LENGTH // 2):
        number, place = divmod(number, len(_PAIRS))
        letters.append(_PAIRS[place])
    return "".join(letters)
