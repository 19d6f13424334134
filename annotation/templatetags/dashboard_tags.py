"""Template tags for the bars of the dashboard."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from annotation.dashboard.bar_charts import stacked_bar
from annotation.dashboard.counts import Work

register = template.Library()


@register.filter
def stages_bar(work: Work) -> SafeString:
    """``{{ line.work|stages_bar }}``: all stages in one bar, their numbers in words in its title."""
    return stacked_bar(work)
