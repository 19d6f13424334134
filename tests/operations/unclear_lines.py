"""Lines of the security log whose sentence leaves something out, or shows what only the software understands."""

from __future__ import annotations

import re

from accounts.models import SecurityEvent
from operations.security_log.words import sentence

QUOTED = re.compile(r"“[^”]*”")  # names that somebody gave
UNCLEAR = re.compile(r"–|_|%|None|True|False|\(\)|\w*\d\w*[a-z]\w*\d")


def unclear_lines() -> list[str]:
    """The sentences of such lines, after their kind."""
    lines = [(event.kind, sentence(event)) for event in SecurityEvent.objects.order_by("pk")]
    return [f"{kind}: {text}" for kind, text in lines if UNCLEAR.search(QUOTED.sub("", text))]
