"""Levels too low that came with a safety net: what is advised under a condition reaches the reference.

"See your practice this week; if the pain spreads, call an ambulance" is too low for an emergency, and has a net. Only
readings that say what is advised under a condition count: those of a judge, and those of files with such a column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.packed_readings import UNKNOWN_ESCALATION
from agreement.acuity.readings import AcuityData
from consilium.core.phrases import labelled
from consilium.core.reasons import Reason
from consilium.statistics.wilson import wilson_interval

Row = dict[str, Any]
Ints = NDArray[np.int64]

NET_COLUMNS = (
    *("n_low", "n_stated", "n_net", "net_share", "net_share_low", "net_share_high", "n_emergency_net", "note"),
)
OF_MODE = {"note": labelled("net_share", Reason.MODE_WITHOUT_ESCALATION())}


@dataclass(frozen=True, eq=False)
class SafetyNets:
    """Readings too low of clear cases, by series and the level that they were sent to, (series, L).

    ``low`` are all of them; of those that say what is advised under a condition, ``known``, ``held`` reach the
    reference. ``held_emergencies`` are those of these on cases of the highest level.
    """

    low: Ints
    known: Ints
    held: Ints
    held_emergencies: Ints

    def cells(self, series: int, place: int | None = None) -> Mapping[str, Any]:
        """The cells of a row of ``missed.csv``: of one level that cases were sent to, or of all."""
        low, known, held, emergencies = (
            int(counts[series].sum() if place is None else counts[series, place])
            for counts in (self.low, self.known, self.held, self.held_emergencies)
        )
        if not known:
            why = Reason.NO_ESCALATION_KNOWN() if low else Reason.NO_READING_TOO_LOW()
            return {"n_low": low, "n_stated": 0, "note": labelled("net_share", why)}
        ends = wilson_interval(held, known)
        left_out = Reason.ESCALATION_UNKNOWN(n=low - known) if low > known else ""
        return {
            "n_low": low,
            "n_stated": known,
            "n_net": held,
            "net_share": held / known,
            "net_share_low": ends[0],
            "net_share_high": ends[1],
            "n_emergency_net": emergencies,
            "note": labelled("net_share", left_out) if left_out else "",
        }


def safety_nets(data: AcuityData) -> SafetyNets:
    """Of each series; a reading counts 1."""
    counts = np.zeros((4, len(data.series_names), data.n_levels), dtype=np.int64)
    for series in range(len(data.series_names)):
        readings = data.readings.of_series(series)
        reference = data.low[readings.case]
        is_low = readings.usable & data.is_clear[readings.case] & (readings.place < reference)
        known = is_low & (readings.escalation != UNKNOWN_ESCALATION)
        held = known & (readings.escalation >= reference)
        held_emergencies = held & (reference == data.n_levels - 1)
        for number, chosen in enumerate((is_low, known, held, held_emergencies)):
            counts[number, series] = np.bincount(readings.place[chosen], minlength=data.n_levels)
    return SafetyNets(*counts)
