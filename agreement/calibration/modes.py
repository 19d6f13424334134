"""Hits by mode of writing: unaided, with model references, or unknown."""

from __future__ import annotations

from typing import Any

import numpy as np

from agreement.calibration.inputs import CalibrationInputs
from consilium.statistics.calibration import calibrate
from consilium.statistics.estimate import Undefined
from consilium.statistics.intervals import IntervalRule

MODES_COLUMNS = (
    "mode", "mode_name", "in_k", "n_responses", "n_by_authors", "n", "n_criteria", "k", "mean", "mean_low", "mean_high",
    "hit_rate", "note",
)  # fmt: skip
MODES_TEXT = ("mode_name", "note")
UNKNOWN = "unknown"


def mode_rows(inputs: CalibrationInputs, *, rule: IntervalRule) -> list[dict[str, Any]]:
    """A row for each mode (and name of a mode) in which responses of the candidate were written.

    ``n`` of them are graded in full by physicians who wrote none; ``in_k`` says whether the report's k is computed from
    them. A mean that is undefined says why in ``note``.
    """
    rows = []
    for (mode, name), responses in sorted(inputs.modes.items()):
        own = np.array(responses, dtype=np.int64)
        graded = inputs.hits.of(np.setdiff1d(own, inputs.by_authors)).only_complete()
        row: dict[str, Any] = {
            **dict.fromkeys(MODES_COLUMNS),
            "mode": mode or UNKNOWN,
            "mode_name": name,
            "in_k": bool(np.isin(own, inputs.chosen).all()),
            "n_responses": len(own),
            "n_by_authors": int(np.isin(own, inputs.by_authors).sum()),
            "n": len(graded.response),
            "note": "",
        }
        calibration = calibrate(graded.hits, graded.n_criteria, case=inputs.case_of(graded.response), rule=rule)
        if isinstance(calibration, Undefined):
            row["note"] = calibration.reason
        else:
            row |= {
                "n_criteria": calibration.n_criteria, "k": int(calibration.k.value or 0),
                "mean": calibration.mean.value,
                "mean_low": calibration.mean.low, "mean_high": calibration.mean.high, "hit_rate": calibration.hit_rate,
                "note": calibration.mean.note,
            }  # fmt: skip
        rows.append(row)
    return rows
