"""Example files beside the form of an import."""

from __future__ import annotations

from typing import Any

from django import template

from rubrics.imports import find
from rubrics.imports.examples import examples_of

register = template.Library()


@register.inclusion_tag("rubrics/imports/_examples.html")
def import_examples(kind: str, slug: str) -> dict[str, Any]:
    """Links to the examples of a kind of file: ``{% import_examples "acuity" benchmark.slug %}``."""
    known = find(kind)
    return {"slug": slug, "examples": [(known.kind, known.label, examples_of(known))]}
