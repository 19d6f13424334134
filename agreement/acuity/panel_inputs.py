"""The frozen votes of a reference set, as panels."""

from __future__ import annotations

from dataclasses import replace

from agreement.acuity.readings import AcuityData
from annotation.acuity.panel import PanelCase
from annotation.acuity.selectors import panel_of_item
from annotation.models import ReferenceItem, ReferenceSet


def with_panel(data: AcuityData, reference_set: ReferenceSet) -> AcuityData:
    """``data`` with the votes of its cases, by key, as the set froze them."""
    return replace(data, panel=_panels(reference_set, data.n_levels))


def _panels(reference_set: ReferenceSet, n_levels: int) -> dict[str, PanelCase]:
    items = ReferenceItem.objects.filter(reference_set=reference_set, case__excluded_at=None)
    rows = items.exclude(votes=[], n_cannot_tell=0).values_list("case__key", "votes", "n_cannot_tell", "status")
    # A case with a ruling is ambiguous whatever the rule of the set, and so is one with a flag where that is the rule.
    panels = {
        case: replace(
            panel_of_item(case, votes, n_cannot_tell, n_levels),
            is_ambiguous_in_set=status == ReferenceItem.Status.AMBIGUOUS,
        )
        for case, votes, n_cannot_tell, status in rows
    }
    return {case: panels[case] for case in sorted(panels)}
