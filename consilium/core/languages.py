"""Languages by their own names."""

from __future__ import annotations

from functools import lru_cache

from django.utils.translation import get_language_info


@lru_cache(maxsize=256)
def language_name(code: str) -> str:
    """``zh`` → 简体中文, ``en`` → English; an unknown code stays as it is."""
    try:
        return str(get_language_info("zh-hans" if code == "zh" else code)["name_local"])
    except KeyError:
        return code
