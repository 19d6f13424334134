"""The registry of report kinds, one module each, in the order of the pages."""

from __future__ import annotations

from agreement.kinds import (
    acuity,
    acuity_formats,
    acuity_judge,
    acuity_uncertainty,
    agreement,
    alternative,
    calibration,
    cohort,
    comparison,
    composition,
    consensus,
    coverage,
    drafting,
    failures,
    fidelity,
    frontier,
    items,
    meta_evaluation,
    modes,
    pairs,
    powered,
    refinement,
    repeats,
    scores,
)
from agreement.kinds.kind import Figure, Kind
from agreement.models import Report

__all__ = ["KINDS", "Figure", "Kind", "kind_of", "kinds_in"]

KINDS: dict[str, Kind] = {
    kind.value: kind
    for kind in (
        agreement.KIND,
        fidelity.KIND,
        comparison.KIND,
        alternative.KIND,
        items.KIND,
        calibration.KIND,
        scores.KIND,
        powered.KIND,
        frontier.KIND,
        acuity.KIND,
        acuity_uncertainty.KIND,
        acuity_formats.KIND,
        acuity_judge.KIND,
        coverage.KIND,
        pairs.KIND,
        refinement.KIND,
        drafting.KIND,
        cohort.KIND,
        composition.KIND,
        meta_evaluation.KIND,
        consensus.KIND,
        repeats.KIND,
        modes.KIND,
        failures.KIND,
    )
}


def kind_of(report: Report) -> Kind:
    """The definition of a report's kind."""
    return KINDS[report.kind]


def kinds_in(section: str) -> list[Kind]:
    """The kinds whose reports are shown in a section."""
    return [kind for kind in KINDS.values() if kind.section == section]
