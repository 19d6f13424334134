"""Context processors of the project."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from consilium.core import limits as limits_module

# Not the module itself, which has more names than limits.
_LIMITS = {name: value for name, value in vars(limits_module).items() if name.startswith("MAX_")}


def limits(request: HttpRequest) -> dict[str, Any]:
    """``limits``: how long texts may be, for the ``maxlength`` of fields in shared parts of pages."""
    return {"limits": _LIMITS}
