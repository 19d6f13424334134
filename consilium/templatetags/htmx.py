"""Template tag for htmx's configuration, a meta tag of the page."""

from __future__ import annotations

import json
from typing import Any

from django import template

register = template.Library()

# Nothing inserted into a page may bring scripts or styles with it: the content security policy forbids them. Refused
# (422) and conflicting (409) requests answer with a part of the page and the reason, so it is swapped in too. htmx
# knows a new form only once the swap has settled: with a delay, keys pressed in between would send it as a page.
CONFIG: dict[str, Any] = {
    "defaultSettleDelay": 0,
    "includeIndicatorStyles": False,
    "attributesToSettle": ["class"],
    "allowEval": False,
    "allowScriptTags": False,
    "selfRequestsOnly": True,
    "historyCacheSize": 0,  # copies of pages in the browser's storage would stay after the sign-out
    "responseHandling": [
        {"code": "204", "swap": False},
        {"code": "[23]..", "swap": True},
        {"code": "(409|422)", "swap": True, "error": False},
        {"code": "...", "swap": False, "error": True},
    ],
}


@register.simple_tag
def htmx_config() -> str:
    """``<meta name="htmx-config" content="{% htmx_config %}">``."""
    return json.dumps(CONFIG, separators=(",", ":"))
