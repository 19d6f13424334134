"""What must hold whatever happens. ``CONSILIUM_CHAOS=full`` runs the full sizes; the default is a small part.

``CONSILIUM_CHAOS_KILLS`` sets another number of kills, and ``CONSILIUM_CHAOS_SEED`` other moments.
"""

import os

FULL = os.environ.get("CONSILIUM_CHAOS") == "full"
SEED = int(os.environ.get("CONSILIUM_CHAOS_SEED", "4"))


def kills(*, full: int, small: int) -> int:
    """How many processes a test kills: ``full`` in full size, ``small`` otherwise, or as the environment says."""
    return int(os.environ.get("CONSILIUM_CHAOS_KILLS", full if FULL else small))
