"""What an import would write: each source label with what it becomes, and the readings by candidate."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from consilium.core.i18n import translate
from rubrics.acuity.fitting import MAX_LABELS, fits
from rubrics.acuity.schemes import How
from rubrics.acuity.stored import scale_of
from rubrics.models import AcuityScale, Benchmark, LabelScheme
from rubrics.parsing.acuity_files import MAX_LINES, AcuityRecords
from rubrics.parsing.acuity_levels import State
from rubrics.parsing.faults import Faults
from scoring.acuity.selectors import schemes_on_offer

N_EXAMPLES, N_UNUSABLE = 2, 50
MAX_EXCERPT = 160


def preview_of(records: AcuityRecords, scale: AcuityScale, scheme: LabelScheme, faults: Faults) -> dict[str, Any]:
    """Plain values for a page; a label without a rule has no ``how``."""
    levels = scale_of(scale)
    unusable = [reading for reading in records.readings if reading.answer.state is not State.LEVEL]
    return {
        "scale": str(scale),
        "scheme": str(scheme),
        "scale_name": scale.name,
        "scheme_name": scheme.name,
        "labels": _labels(records, levels.values),
        "flow": _flow(records),
        "series": _series(records, levels.values),
        "unusable": [
            {
                "line": reading.line,
                "candidate": reading.candidate,
                "case": reading.case,
                "state": reading.answer.state.word,
                "text": reading.text[:MAX_EXCERPT],
            }
            for reading in unusable[:N_UNUSABLE]
        ],
        "n_unusable": len(unusable),
        "n_missing": len(records.missing),
        "missing_lines": list(dict.fromkeys(gap.line for gap in records.missing))[:MAX_LINES],
        "contradictions": records.contradictions,
        "contradiction_lines": records.first_contradictions[:10],
        "unused": sorted(records.unused),
        "faults": [
            {"line": fault.line, "field": fault.field, "message": translate(fault.message)} for fault in faults.first
        ],
        "n_faults": faults.total,
    }


def _labels(records: AcuityRecords, values: tuple[str, ...]) -> list[dict[str, Any]]:
    """A row for each source label, those without a rule first, then in the order of the file."""
    rows: list[dict[str, Any]] = [
        {
            "label": label,
            "how": "",
            "levels": "",
            "cases": n,
            "line": line,
            "lines": records.without_rule_lines[label],
            "examples": [],
        }
        for label, (line, n) in records.without_rule.items()
    ]
    cases: dict[str, list[str]] = defaultdict(list)
    for case, label in records.source_labels.items():
        cases[label].append(case)
    for label, own in cases.items():
        mapped = records.labels[own[0]]
        levels = "" if mapped.low is None or mapped.high is None else "|".join(values[mapped.low : mapped.high + 1])
        rows.append(
            {
                "label": label,
                "how": mapped.how.value,
                "levels": levels,
                "cases": len(own),
                "line": min(records.label_lines[case] for case in own),
                "examples": [
                    {"case": case, "text": records.texts.get(case, (0, ""))[1][:MAX_EXCERPT]}
                    for case in own[:N_EXAMPLES]
                ],
            }
        )
    return rows


def fitting_rows(benchmark: Benchmark, labels: Collection[str]) -> list[dict[str, Any]]:
    """The schemes that could be used instead, the best first; those without a rule for any label are left out.

    A file without labels fits none better than another.
    """
    if not labels:
        return []
    rows = fits(labels, schemes_on_offer(benchmark))
    return [asdict(row) for row in rows if row.without_rule < min(len(labels), MAX_LABELS)]


def _flow(records: AcuityRecords) -> dict[str, int]:
    """How many labelled cases the file has, and what becomes of them."""
    how = Counter(mapped.how.value for mapped in records.labels.values())
    return {
        "labelled": len(records.labels),
        **{each.value: how[each.value] for each in How},
        "without_rule": sum(n for _line, n in records.without_rule.values()),
    }


def _series(records: AcuityRecords, values: tuple[str, ...]) -> list[dict[str, Any]]:
    """A row for each candidate in one format."""
    readings: dict[tuple[str, str], list[Any]] = defaultdict(list)
    missing: Counter[tuple[str, str]] = Counter((gap.candidate, gap.format) for gap in records.missing)
    for reading in records.readings:
        readings[reading.candidate, reading.format].append(reading)
    rows = []
    for name in sorted({*readings, *missing}, key=lambda name: (name[0], name[1] != "qa")):
        own = readings[name]
        states = Counter(reading.answer.state.word for reading in own)
        levels = Counter(reading.answer.place for reading in own if reading.answer.state is State.LEVEL)
        rows.append(
            {
                "candidate": name[0],
                "format": name[1],
                "cases": len({reading.case for reading in own}),
                "samples": len({reading.sample for reading in own}),
                "readings": len(own),
                **{state.word.replace("-", "_"): states[state.word] for state in State},
                "missing": missing[name],
                "levels": [levels[place] for place in range(len(values))],
            }
        )
    return rows
