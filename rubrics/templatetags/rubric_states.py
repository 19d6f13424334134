"""Rubric states in lists of cases; a ``blocktranslate`` in each row would cost five times as much."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

register = template.Library()


@register.filter
def published_as(version: int) -> str:
    """``{{ case.published_version|published_as }}``: that a rubric is published, and in which version."""
    return _("Published v%(version)s") % {"version": version}


@register.filter
def criteria(number: int) -> str:
    """``{{ case.criterion_count|criteria }}``: the number of criteria."""
    return ngettext("%(n)s criterion", "%(n)s criteria", number) % {"n": number}
