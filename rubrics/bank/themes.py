"""The theme of a cluster of criteria: by the benchmark's map ``cluster``, else by the beginning of its name.

The names of HealthBench's clusters (Arora et al. 2025) begin with their theme, in the words of its tags ``theme:…``:
``hedging_no-uncertainty_accurate`` is of the theme ``hedging``.
"""

from __future__ import annotations

from collections.abc import Mapping

MAP = "cluster"  # the name of the benchmark's map from clusters to themes
CLUSTER = "cluster:"  # begins the tag of a criterion that names its cluster
THEMES = (
    "emergency_referrals",
    "context_seeking",
    "global_health",
    "health_data_tasks",
    "communication",
    "hedging",
    "complex_responses",
)


def theme_of(cluster: str, themes: Mapping[str, str]) -> str:
    """The theme of a cluster, named with or without ``cluster:``, as are those of the map; empty where it has none."""
    name = cluster.removeprefix(CLUSTER)
    mapped = themes.get(name) or themes.get(f"{CLUSTER}{name}")
    if mapped:
        return mapped
    return next((theme for theme in THEMES if name == theme or name.startswith(f"{theme}_")), "")


def theme_order(theme: str) -> tuple[int, str]:
    """Sorts themes: HealthBench's own in the order of its paper, then others by name, and at last no theme."""
    if not theme:
        return len(THEMES) + 1, ""
    return (THEMES.index(theme), "") if theme in THEMES else (len(THEMES), theme)
