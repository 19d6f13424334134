"""Reproducible draws: a seed and names give the same order in every database, whatever its ids.

The functions take and return plain values, and use no Django.
"""

from __future__ import annotations

import math
from fractions import Fraction
from hashlib import blake2b


def keyed(seed: int, *parts: object) -> int:
    """A number that depends on the seed and the parts alone, evenly spread over 64 bits."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8, key=str(seed).encode()[:64]).digest())


def share_of(number: int, fraction: float) -> int:
    """``fraction`` of ``number``, rounded half up, without the noise of binary fractions (0.145 of 100 is 15)."""
    return math.floor(Fraction(str(fraction)) * number + Fraction(1, 2))
