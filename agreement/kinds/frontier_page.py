"""The page of a report on cost and quality, and its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from agreement.kinds.kind import Context, Figure
from agreement.models import Report
from agreement.reports.links import pairs_url
from agreement.reports.numbers import Number, number
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import shown_name
from consilium.core.from_english import from_english
from consilium.core.i18n import translate
from consilium.core.phrases import Labelled, joined, parts_of
from consilium.figures import charts
from consilium.figures.frontier import FrontierPoint, frontier
from consilium.figures.progress import Release, progress
from consilium.figures.style import Palette

PER = 1_000  # pages and figures show the cost of so many responses


def measure_name(measure: str, k: int) -> str:
    """A measure as pages and figures call it."""
    names = {"rubric_score": _("Rubric score"), "rubric_accuracy": _("Rubric Accuracy"), "cacs_at_k": f"CACS@{k}"}
    return names[measure]


def _digits(measure: str) -> int:
    return 3 if measure == "rubric_score" else 1


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    digits = _digits(facts["measure"])
    rows = table_of(report, "cost_frontier").dicts()
    settings = table_of(report, "settings").dicts()
    return {
        "rater": shown_name(report.benchmark, facts["rater"]),
        "measure_name": measure_name(facts["measure"], facts["k"]),
        "per": PER,
        "basis_names": {
            "calls": _("calls, at the prices of their runs"),
            "calls_listed": _("calls, at the listed prices"),
            "tokens": _("recorded tokens, at the listed prices"),
        },
        "rows": [_shown(report, row, digits) for row in rows],
        "progress": [_shown_step(report, row, digits) for row in table_of(report, "progress").dicts()],
        "undated": facts["undated"],
        "families": [_shown(report, row, digits) for row in table_of(report, "model_families").dicts()],
        "settings": [_shown(report, row, digits) for row in settings],
        "differences": [_shown_difference(row, digits) for row in table_of(report, "setting_differences").dicts()],
        "effective": min((row["score_effective"] for row in rows if row["score_effective"] is not None), default=None),
        "effective_most": max(
            (row["score_effective"] for row in rows if row["score_effective"] is not None), default=None
        ),
    }


def _shown(report: Report, row: Row, digits: int) -> Context:
    cost = row.get("cost")
    return {
        **row,
        "url": pairs_url(report, f"candidate:{row['candidate']}") if row.get("candidate") else "",
        "shown_score": number({**row, "note": row["note"] or ""}, "score", digits=digits),
        "shown_cost": _cost(cost) if cost is not None else "",
        "shown_price": f"{row['price_out']:g}" if row.get("price_out") is not None else "",
        "size": _size(row),
        "remarks": translate(joined(*_remarks(row, "cost"))),
    }


def _cost(cost: float) -> str:
    """Of `PER` responses, with three digits that count."""
    money = cost * PER
    return f"{money:,.0f}" if money >= 1_000 else f"{money:.3g}"


def _size(row: Row) -> str:
    sizes = [f"{row[name]:g}" for name in ("size_total", "size_active") if row.get(name) is not None]
    return " / ".join(sizes)


def _remarks(row: Row, name: str) -> Iterator[str]:
    """The remarks on one figure of a row, without its name."""
    for part in parts_of(from_english(row["note"] or "")):
        if isinstance(part, Labelled) and name in part.names:
            yield part.phrase


def _shown_step(report: Report, row: Row, digits: int) -> Context:
    return {
        **_shown(report, row, digits),
        "shown_best": Number(row["best_so_far"], digits=digits).shown,
        "shown_step": number({**row, "n_cases": row["n_shared_cases"]}, "step", digits=digits, signed=True),
    }


def _shown_difference(row: Row, digits: int) -> Context:
    return {
        **row,
        "shown": number(row, "difference", digits=digits, signed=True),
        "cost_times": Number(row["cost_ratio"], digits=2).shown,
        "length_times": Number(row["length_ratio"], digits=2).shown,
    }


def figures(report: Report) -> Iterator[Figure]:
    facts = report.result["facts"]
    label = measure_name(facts["measure"], facts["k"])
    rows = table_of(report, "cost_frontier").dicts()
    yield from _cost_figure(
        rows,
        ("cost", "cost_currency", "frontier"),
        "cost_frontier",
        _("Cost and quality"),
        _("Cost of 1,000 responses, %(currency)s"),
        label,
        PER,
    )
    yield from _cost_figure(
        rows,
        ("price_out", "currency", "price_frontier"),
        "price_frontier",
        _("Output price and quality"),
        _("Price of a million output tokens, %(currency)s"),
        label,
        1,
    )
    yield from _progress_figure(table_of(report, "progress").dicts(), label)
    yield from _setting_figure(report, table_of(report, "settings").dicts(), label)
    yield from _size_figure(rows, label)


def _cost_figure(
    rows: Sequence[Row], names: tuple[str, str, str], name: str, title: str, x_title: str, label: str, times: float
) -> Iterator[Figure]:
    taken, currency, mark = names
    known = [row for row in rows if row[mark] is not None]
    if len(known) < 2:
        return
    points = [
        FrontierPoint(
            *(row["candidate"], times * row[taken], row["score"], row["score_low"], row["score_high"], row[mark])
        )
        for row in known
    ]
    axis = x_title % {"currency": known[0][currency]}

    def drawing(palette: Palette) -> object:
        description = _("%(measure)s of each candidate against what it costs; the frontier as a line.")
        return frontier(
            points, palette, x_title=axis, y_title=label, description=description % {"measure": label}, rising=True
        )

    yield Figure(
        name,
        title,
        _(
            "Filled markers lie on the frontier: no other candidate is at least as good and at most as expensive, and "
            "better in one of the two. Vertical lines show 95% intervals."
        ),
        "cost_frontier",
        drawing,
    )


def _progress_figure(rows: Sequence[Row], label: str) -> Iterator[Figure]:
    if len(rows) < 2:
        return
    releases = [
        Release(
            label=row["candidate"],
            series=row["family"] or _("Unknown"),
            day=row["release_date"],
            score=row["score"],
            low=row["score_low"],
            high=row["score_high"],
            best=row["best_so_far"],
        )
        for row in rows
    ]

    def drawing(palette: Palette) -> object:
        description = _("%(measure)s of each candidate at its release date, and the best so far as a line of steps.")
        return progress(
            releases,
            palette,
            x_title=_("Release date"),
            y_title=label,
            description=description % {"measure": label},
        )

    yield Figure(
        "progress",
        _("Progress over time"),
        _("The line is the best score so far. Vertical lines show 95% intervals."),
        "progress",
        drawing,
    )


def _setting_figure(report: Report, rows: Sequence[Row], label: str) -> Iterator[Figure]:
    if not any(row["score"] is not None for row in rows):
        return
    points = [
        charts.Point(
            f"{row['base_model']}: {row['effort'] or row['candidate']}",
            row["score"],
            row["score_low"],
            row["score_high"],
            href=pairs_url(report, f"candidate:{row['candidate']}"),
        )
        for row in rows
    ]

    def drawing(palette: Palette) -> Any:
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=label,
            description=_("%(measure)s of each setting of a model, with 95%% intervals.") % {"measure": label},
        )

    yield Figure(
        "settings",
        _("Settings side by side"),
        _("With 95% intervals over cases. Whether two settings differ is in the table of their differences."),
        "settings",
        drawing,
    )


def _size_figure(rows: Sequence[Row], label: str) -> Iterator[Figure]:
    known = [row for row in rows if row["size_total"] is not None and row["score"] is not None]
    if len(known) < 2:
        return
    points = [
        FrontierPoint(row["candidate"], row["size_total"], row["score"], row["score_low"], row["score_high"], False)
        for row in known
    ]

    def drawing(palette: Palette) -> object:
        return frontier(
            points,
            palette,
            x_title=_("Billions of parameters"),
            y_title=label,
            description=_("%(measure)s of each candidate against its total size.") % {"measure": label},
            rising=True,
        )

    yield Figure(
        "size",
        _("Size and quality"),
        _("Total size in billions of parameters. Vertical lines show 95% intervals."),
        "cost_frontier",
        drawing,
    )
