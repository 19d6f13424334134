"""`{% table_formats %}`: the formats in which every table of a report is downloaded."""

from __future__ import annotations

from django import template

from agreement.reports import files

register = template.Library()


@register.simple_tag
def table_formats() -> list[tuple[str, str]]:
    """Ending and label of each format, in the order of the page."""
    return [(ending, table_format.label) for ending, table_format in files.TABLE_FORMATS.items()]
