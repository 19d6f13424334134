"""What must hold whatever happens. ``CONSILIUM_CHAOS=full`` runs the full sizes; the default is a twentieth."""

import os

FULL = os.environ.get("CONSILIUM_CHAOS") == "full"
