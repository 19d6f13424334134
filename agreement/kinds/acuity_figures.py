"""The figures of a report of acuity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Any

from django.utils.translation import gettext as _

from agreement.kinds.acuity_page import FORMATS, acuity_rows, format_label, frontier_rows, in_order, readings_url
from agreement.kinds.kind import Figure
from agreement.models import Report
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from consilium.figures.calibration_curve import CurvePoint, calibration_curve
from consilium.figures.charts import Line
from consilium.figures.frontier import FrontierPoint, frontier
from consilium.figures.render import Drawing
from consilium.figures.style import Palette
from consilium.figures.triage import CostPoint, Matrix, TriageErrors, confusion_panels, cost_curves, triage_bars

# Curves that can be told apart by colour and shape, and matrices that a page has room for; the files have all.
MAX_SERIES = 6
BINS = 10  # of `reliability.csv`, at most


def figures(report: Report) -> Iterator[Figure]:
    order = in_order(report)
    yield from _errors(report, order)
    yield from _curves(report, order)
    yield from _confusion(report, order)
    yield from _reliability(report, order)
    yield from _frontiers(report)


def _errors(report: Report, order: Sequence[tuple[str, str]]) -> Iterator[Figure]:
    rows = {
        (row["candidate"], row["format"]): row
        for row in acuity_rows(report)
        if row["aggregate"] == "expected" and row["over"] is not None
    }
    several = len({format_ for _name, format_ in order}) > 1
    errors = [
        TriageErrors(
            f"{name} · {format_label(format_)}" if several else name,
            *(rows[name, format_][figure] for figure in ("under", "over", "severe_under", "severe_over")),
        )
        for name, format_ in order
        if (name, format_) in rows
    ]
    if not errors:
        return

    def drawing(palette: Palette) -> object:
        return triage_bars(
            errors,
            palette,
            x_title=_("← too low · share of cases · too high →"),
            description=_("How often each candidate advises a level too low or too high, and by how much."),
        )

    yield Figure(
        "errors",
        _("Over-triage (too high) and under-triage (too low)"),
        _("Each case counts as 1, over usable readings. The lowest cost over all questions asked comes first."),
        "acuity",
        drawing,
    )


def _curves(report: Report, order: Sequence[tuple[str, str]]) -> Iterator[Figure]:
    rows = [row for row in table_of(report, "cost_curve").dicts() if row["cost"] is not None]
    ratio = report.result["facts"]["ratio"]
    for format_ in FORMATS:
        names = [name for name, own in order if own == format_][:MAX_SERIES]
        own = [row for name in names for row in rows if (row["candidate"], row["format"]) == (name, format_)]
        if not own:
            continue
        yield Figure(
            f"cost-{format_}",
            _("Cost of errors: %(format)s") % {"format": format_label(format_)},
            _(
                "Mean cost per case by the relative cost of a level too low, in units of one level too "
                "high, with 95%% intervals over cases. Only usable readings count: refusals and other answers "
                "without a level are not included, but the ranking above includes them. Circles mark where two "
                "curves cross."
            )
            % {},
            "cost_curve",
            _CostCurves(own, list(_crossing_points(report, own, format_)), ratio),
        )


def _crossing_points(report: Report, rows: Sequence[Row], format_: str) -> Iterator[tuple[float, float, str]]:
    """Where curves that are drawn cross, if within the figure: at the height of both, as they are drawn."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        curves.setdefault(row["candidate"], []).append((row["ratio"], row["cost"]))
    for row in table_of(report, "crossings").dicts():
        first, second = curves.get(row["first"]), curves.get(row["second"])
        if row["format"] != format_ or row["ratio"] is None or not first or not second:
            continue
        if first[0][0] <= row["ratio"] <= first[-1][0]:
            heights = [_height(curve, row["ratio"]) for curve in (first, second)]
            # On the cases of both the curves may cross elsewhere than as they are drawn, each on its own cases.
            if abs(heights[0] - heights[1]) < 1e-6 * max(1.0, *heights):
                words = _("%(first)s and %(second)s cross at %(ratio)s") % {
                    "first": row["first"],
                    "second": row["second"],
                    "ratio": f"{row['ratio']:.2f}",
                }
                yield row["ratio"], heights[0], words


def _height(curve: Sequence[tuple[float, float]], ratio: float) -> float:
    """The cost at a ratio; it is linear."""
    (start, low), (end, high) = curve[0], curve[-1]
    return low + (high - low) * (ratio - start) / (end - start)


class _CostCurves:
    """Curves waiting for their colours."""

    def __init__(self, rows: Sequence[Row], crossings: list[tuple[float, float, str]], ratio: float) -> None:
        self.points = [
            CostPoint(row["candidate"], row["ratio"], row["cost"], row["cost_low"], row["cost_high"]) for row in rows
        ]
        self.crossings, self.ratio = crossings, ratio

    def __call__(self, palette: Palette) -> Any:
        return cost_curves(
            self.points,
            self.crossings,
            palette,
            x_title=_("relative cost of a level too low"),
            y_title=_("cost per case"),
            description=_("The mean cost of each candidate by the relative cost of a level too low."),
            line=Line(self.ratio, f"{self.ratio:g} : 1"),
        )


def _confusion(report: Report, order: Sequence[tuple[str, str]]) -> Iterator[Figure]:
    levels = [level["value"] for level in report.result["facts"]["levels"]]
    counts: dict[tuple[str, str], list[list[float]]] = {}
    for row in table_of(report, "confusion").dicts():
        if row["aggregate"] == "pooled":
            matrix = counts.setdefault((row["candidate"], row["format"]), [[0.0] * len(levels) for _level in levels])
            matrix[levels.index(row["reference"])][levels.index(row["level"])] = row["n"]
    names = list(dict.fromkeys(name for name, _format in order))
    for place, name in enumerate(names[:MAX_SERIES], start=1):
        matrices = [
            Matrix(
                format_label(format_),
                counts[name, format_],
                _cell_links(report, (name, format_), counts[name, format_]),
            )
            for format_ in FORMATS
            if any(map(any, counts.get((name, format_), [])))
        ]
        if not matrices:
            continue
        yield Figure(
            f"confusion-{place}",
            _("Levels advised for the cases of each reference level: %(candidate)s") % {"candidate": name},
            _(
                "Rows are reference levels, columns are advised levels. Each reading counts as 1 and is "
                "shown with its share of the row. Outlined: right. Amber: too low. Blue: too high."
            ),
            "confusion",
            _Confusion(matrices, list(ascii_uppercase[: len(levels)]), name),
        )


def _cell_links(report: Report, series: tuple[str, str], counts: Sequence[Sequence[float]]) -> list[list[str]]:
    """The page of the readings in each cell that has some."""
    levels = [level["value"] for level in report.result["facts"]["levels"]]
    return [
        [readings_url(report, series, reference, level) if n else "" for level, n in zip(levels, row, strict=True)]
        for reference, row in zip(levels, counts, strict=True)
    ]


class _Confusion:
    """Matrices waiting for their colours."""

    def __init__(self, matrices: list[Matrix], letters: list[str], candidate: str) -> None:
        self.matrices, self.letters, self.candidate = matrices, letters, candidate

    def __call__(self, palette: Palette) -> Any:
        return confusion_panels(
            self.matrices,
            self.letters,
            palette,
            y_title=_("reference"),
            x_title=_("advised"),
            description=_("Levels advised by %(candidate)s for the cases of each reference level.")
            % {"candidate": self.candidate},
        )


def _reliability(report: Report, order: Sequence[tuple[str, str]]) -> Iterator[Figure]:
    rows = [row for row in table_of(report, "reliability").dicts() if row["bins"] == "mass"]
    sources = {
        "stated": _("stated"),
        "logprobs": _("log probabilities"),
        "samples": _("share of the most frequent level"),
    }
    line = _(
        "Wilson’s intervals are shown for the first candidate. On the line, confidence equals the share that is right."
    )
    for format_ in FORMATS:
        for source, label in sources.items():
            points = [
                CurvePoint(name, row["mean_confidence"], row["accuracy"], row["n"], row["low"], row["high"])
                for name in [name for name, own in order if own == format_][:MAX_SERIES]
                for row in rows
                if (row["candidate"], row["format"], row["confidence_source"]) == (name, format_, source)
            ]
            if points:
                yield Figure(
                    f"reliability-{format_}-{source}",
                    _("Confidence, %(source)s: %(format)s") % {"source": label, "format": format_label(format_)},
                    f"{bins_in_words(points)} {line}",
                    "reliability",
                    _reliability_drawing(points),
                )


def bins_in_words(points: Sequence[CurvePoint]) -> str:
    """How many bins there are, and how large: answers with the same confidence are never in two bins."""
    numbers = Counter(point.series for point in points)
    sizes = [point.n for point in points]
    if set(numbers.values()) == {BINS}:
        return _("Ten bins with as many answers each as possible: %(sizes)s answers in a bin.") % {
            "sizes": _span(sizes),
        }
    return _(
        "At most ten bins. Answers with the same confidence are in one bin: here %(bins)s bins for each candidate, "
        "with %(sizes)s answers in a bin."
    ) % {"bins": _span(list(numbers.values())), "sizes": _span(sizes)}


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _reliability_drawing(points: Sequence[CurvePoint]) -> Drawing:
    def drawing(palette: Palette) -> object:
        return calibration_curve(
            points,
            palette,
            x_title=_("mean confidence"),
            y_title=_("share right"),
            description=_("The share of answers that are right, by confidence."),
        )

    return drawing


def _frontiers(report: Report) -> Iterator[Figure]:
    """For each format price and latency against the cost of errors, where at least one candidate has both."""
    for format_ in FORMATS:
        rows = [row for row in frontier_rows(report) if row["format"] == format_ and row["cost_all"] is not None]
        currencies = {row["currency"] for row in rows if row["price_1000"] is not None}
        if len(currencies) == 1:
            yield from _frontier(
                rows,
                "price",
                format_,
                _("Price and errors: %(format)s") % {"format": format_label(format_)},
                _("Price per 1,000 answers, %(currency)s") % {"currency": currencies.pop()},
            )
        yield from _frontier(
            rows,
            "latency",
            format_,
            _("Latency and errors: %(format)s") % {"format": format_label(format_)},
            _("Median latency per answer, seconds"),
        )


def _frontier(rows: Sequence[Row], by: str, format_: str, title: str, x_title: str) -> Iterator[Figure]:
    taken = {"price": "price_1000", "latency": "latency_median"}[by]
    points = [
        FrontierPoint(
            row["candidate"],
            row[taken],
            row["cost_all"],
            row["cost_all_low"],
            row["cost_all_high"],
            bool(row[f"{by}_frontier"]),
        )
        for row in rows
        if row[taken] is not None
    ]
    if not points:
        return

    def drawing(palette: Palette) -> object:
        return frontier(
            points,
            palette,
            x_title=x_title,
            y_title=_("Cost of errors per case, refusals included"),
            description=_(
                "Price or latency of each candidate’s answers against the cost of its errors; lower is better."
            ),
        )

    yield Figure(
        f"frontier-{by}-{format_}",
        title,
        _(
            "Filled markers lie on the frontier: no other candidate is at least as low on both and lower on "
            "one. Lines show intervals."
        ),
        "frontier",
        drawing,
    )
