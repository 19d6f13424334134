"""The page of a plan: number of decisions, curve of one candidate, and detectable differences."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from agreement.kinds.kind import Figure
from agreement.kinds.powered import digits_of, measure_name
from agreement.planning.study_plan import (
    ALL,
    BUDGET_COLUMNS,
    BUDGET_TEXT,
    CURVE_COLUMNS,
    CURVE_TEXT,
    DETECTABLE_COLUMNS,
    DETECTABLE_TEXT,
    Plan,
)
from agreement.reports.numbers import Number, number
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import shown_name
from consilium.core.i18n import translate
from consilium.core.phrases import Labelled, parts_of
from consilium.figures import charts
from consilium.figures.style import Palette
from rubrics.models import Benchmark

TABLES = {
    "budget": (BUDGET_COLUMNS, BUDGET_TEXT),
    "curve": (CURVE_COLUMNS, CURVE_TEXT),
    "detectable": (DETECTABLE_COLUMNS, DETECTABLE_TEXT),
}


def shown(benchmark: Benchmark, plan: Plan, *, chosen: str = "") -> dict[str, Any]:
    """The context of the page; ``chosen`` is the candidate of the curve, by default that with the widest interval."""
    own = [row for row in plan.budget if row["candidate"] != ALL]
    names = [row["candidate"] for row in own]
    if chosen not in names:
        widest = max(own, key=lambda row: row["half_width_now_alone"] or 0.0, default=None)
        chosen = widest["candidate"] if widest else ""
    digits = digits_of(plan.question.measure) + 1
    return {
        "plan": plan,
        "label": measure_name(plan.question.measure, plan.question.k),
        "judge": shown_name(benchmark, plan.judge),
        "reference": shown_name(benchmark, plan.reference),
        "budget": [_budget_row(row, digits) for row in plan.budget],
        "candidates": names,
        "chosen": chosen,
        "figure": _figure(plan, chosen),
        "curve": [
            {**row, "figures": {name: number(row, name, digits=digits) for name in ("half_width", "half_width_alone")}}
            for row in plan.curve
            if row["candidate"] == chosen
        ],
        "detectable": [
            _detectable_row(benchmark, row, digits)
            for row in plan.detectable
            if row["measure"] == "mf1" or chosen in (row["first"], row["second"])
        ],
        "notes": list(map(translate, plan.notes)),
    }


def _budget_row(row: Row, digits: int) -> dict[str, Any]:
    counts = ("responses", "decisions", "cases")
    return {
        **row,
        "is_all": row["candidate"] == ALL,
        "now": Number(row["half_width_now"], digits=digits),
        "now_alone": Number(row["half_width_now_alone"], digits=digits),
        "figures": {
            f"{name}{end}": number({**row, "note": _reason(row["note"], f"cases{end}")}, f"{name}{end}", digits=0)
            for name in counts
            for end in ("", "_alone")
        },
        "remarks": translate(_reason(row["note"], "cases") or _reason(row["note"], "cases_alone")),
    }


def _reason(note: str, name: str) -> str:
    own = (part.phrase for part in parts_of(note) if isinstance(part, Labelled) and part.label == name)
    return next(own, "")


def _detectable_row(benchmark: Benchmark, row: Row, digits: int) -> dict[str, Any]:
    places = 3 if row["measure"] == "mf1" else digits
    return {
        **row,
        "first": shown_name(benchmark, row["first"]) if row["measure"] == "mf1" else row["first"],
        "second": shown_name(benchmark, row["second"]) if row["measure"] == "mf1" else row["second"],
        "is_mf1": row["measure"] == "mf1",
        "figures": {
            "difference": number(row, "difference", digits=places),
            "detectable": number(row, "detectable", digits=places),
        },
    }


def _figure(plan: Plan, candidate: str) -> Figure | None:
    rows = [row for row in plan.curve if row["candidate"] == candidate]
    if not rows:
        return None
    label = measure_name(plan.question.measure, plan.question.k)
    series = {"half_width": _("With the judge"), "half_width_alone": _("Physicians alone")}
    drawn = [(name, row["n_cases"], row[key]) for key, name in series.items() for row in rows]

    def drawing(palette: Palette) -> object:
        return charts.lines(
            [point for point in drawn if point[2] is not None],
            palette,
            x_title=_("cases graded by physicians"),
            y_title=_("half-width of %(measure)s") % {"measure": label},
            description=_(
                "How the half-width of the 95%% interval decreases with the number of cases that physicians grade."
            )
            % {},
        )

    return Figure(
        "curve",
        _("Half-width by cases graded, %(candidate)s") % {"candidate": candidate},
        _("The two lines meet where physicians grade every case; beyond that, more cases are needed.")
        if any(row["half_width"] is not None for row in rows)
        else _("The line ends where physicians grade every case; beyond that, more cases are needed."),
        "curve",
        drawing,
    )
