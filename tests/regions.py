"""The regions of a page, which readers of a screen reader tell apart by name."""

from __future__ import annotations

import re


def region_names(page: str) -> list[str]:
    """The names of the regions of a page's HTML, in its order."""
    return re.findall(r'role="region" aria-label="([^"]*)"', page)
