"""Scales and label schemes as the database stores them, as the values that readers and figures use."""

from __future__ import annotations

from rubrics.acuity.scales import Level, Scale
from rubrics.acuity.schemes import How, Mapped, Scheme
from rubrics.models import AcuityScale, LabelScheme


def scale_of(row: AcuityScale) -> Scale:
    """The scale of a row."""
    return Scale(row.name, tuple(Level(**level) for level in row.levels))


def scheme_of(row: LabelScheme) -> Scheme:
    """The scheme of a row, on its scale."""
    rules = {rule.source_label: Mapped(How(rule.how), rule.low, rule.high) for rule in row.rules.all()}
    return Scheme(row.name, scale_of(row.scale), rules)
