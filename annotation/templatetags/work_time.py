"""Template filter that formats time on task."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def work_time(seconds: int) -> str:
    """``5025`` → ``1 h 23 min``; below a minute ``< 1 min``."""
    hours, minutes = divmod(int(seconds) // 60, 60)
    if hours:
        return _("%(hours)d h %(minutes)02d min") % {"hours": hours, "minutes": minutes}
    return _("%(minutes)d min") % {"minutes": minutes} if minutes else _("< 1 min")
