"""Figures with a line for each candidate: worst-at-k over k, and scores over difficulty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext as _

from agreement.kinds.kind import Figure
from agreement.kinds.scores_rows import (
    DIGITS,
    LIMITS,
    drawn_candidates,
    drawn_words,
    evidence_url,
    labels_of,
    measure_words,
    rows_of,
)
from agreement.models import Report
from agreement.reports.tables import Row
from consilium.figures import charts
from consilium.figures.interval_lines import MAX_LINES, LinePoint, Place, interval_lines
from consilium.figures.style import Palette
from scoring.scores.sheet import OVERALL


def worst_figure(report: Report) -> Iterator[Figure]:
    """Worst-at-k over k; nothing where no candidate has two samples of a case."""
    rows = [row for row in rows_of(report, "worst_at_k") if row["slice"] == OVERALL]
    # A report that is older than the intervals has a table without them.
    if not rows or max(row["k"] for row in rows) < 2 or "worst_at_k_low" not in rows[0]:
        return
    drawn, n_all = drawn_candidates(report, MAX_LINES)
    of_drawn = [row for row in rows if row["candidate"] in drawn and row["worst_at_k"] is not None]
    last = max((row["k"] for row in of_drawn), default=0)
    if last < 2:
        return
    ks = range(1, last + 1)
    places = [Place(str(k), _counted([row["n_cases"] for row in of_drawn if row["k"] == k])) for k in ks]
    by_place = {(row["candidate"], row["k"]): row for row in of_drawn}
    points = [
        _point(report, name, k - 1, by_place.get((name, k)), "worst_at_k", "n_cases") for name in drawn for k in ks
    ]

    def drawing(palette: Palette) -> object:
        return interval_lines(
            points,
            places,
            palette,
            x_title=_("k, samples of a case; below: cases"),
            y_title=_("worst-at-k"),
            description=_("Worst-at-k of each candidate for every k, with one line per candidate."),
            digits=3,
        )

    sentences = [
        _(
            "The expected lowest rubric score among k samples of a case, averaged over the cases with at least k "
            "samples. A line that falls steeply belongs to a candidate whose samples differ."
        ),
        _interval_words(points),
        drawn_words(report, drawn, n_all),
    ]
    caption = " ".join(filter(None, sentences))
    yield Figure("worst_at_k", _("Worst-at-k for every k"), caption, "worst_at_k", drawing)


def _point(report: Report, name: str, place: int, row: Row | None, figure: str, n: str, part: str = "") -> LinePoint:
    href = evidence_url(report, name, part)
    if row is None:
        return LinePoint(name, place, None)
    low, high = (f"{figure}_low", f"{figure}_high") if figure != "value" else ("low", "high")
    return LinePoint(name, place, row[figure], row[low], row[high], n=row[n], href=href)


def _interval_words(points: Sequence[LinePoint]) -> str:
    if any(point.low is not None for point in points):
        return _("Vertical lines are 95% intervals over cases.")
    return _("There are no intervals; the table says why.")


def _counted(counts: Sequence[int]) -> str:
    if not counts:
        return ""
    least, most = min(counts), max(counts)
    return f"n = {least:,}" if least == most else f"n = {least:,}–{most:,}"


def difficulty_figures(report: Report) -> Iterator[Figure]:
    """Each figure by difficulty, a line for each candidate, and how far each falls from the easiest to the hardest."""
    rows = [row for row in rows_of(report, "values") if row["kind"] == "difficulty"]
    slices = list(dict.fromkeys(row["slice"] for row in rows))
    if len(slices) < 2:
        return
    words = measure_words(report)
    drawn, n_all = drawn_candidates(report, MAX_LINES)
    shown = {(row["measure"], row["candidate"], row["slice"]): row for row in rows if row["candidate"] in drawn}
    is_first = True
    for measure, label in words.items():
        if not any(row["value"] is not None for (own, _name, _part), row in shown.items() if own == measure):
            continue
        lines = _ByDifficulty(report, measure, label, drawn, slices, shown)
        yield Figure(
            f"difficulty-{measure}",
            _("%(measure)s by difficulty") % {"measure": label},
            " ".join(filter(None, [*_of_difficulty(), lines.interval_words, drawn_words(report, drawn, n_all)])),
            "values",
            lines,
            choice="difficulty",
            option=label,
            is_on_request=not is_first,
        )
        is_first = False
    yield from _drops(report)


def _of_difficulty() -> list[str]:
    return [_("From the easiest cases on the left to the hardest. No case has two difficulties.")]


class _ByDifficulty:
    """Lines over difficulties, waiting for their colours."""

    def __init__(
        self,
        report: Report,
        measure: str,
        label: str,
        drawn: Sequence[str],
        slices: Sequence[str],
        shown: Mapping[tuple[str, str, str], Row],
    ) -> None:
        self.measure, self.label = measure, label
        words = labels_of("difficulty", slices)
        self.points = [
            _point(report, name, place, shown.get((measure, name, part)), "value", "n", part)
            for name in drawn
            for place, part in enumerate(slices)
        ]
        self.places = [
            Place(
                words[part],
                _counted([row["n"] for name in drawn if (row := shown.get((measure, name, part))) and row["n"]]),
            )
            for part in slices
        ]

    @property
    def interval_words(self) -> str:
        return _interval_words(self.points)

    def __call__(self, palette: Palette) -> object:
        return interval_lines(
            self.points,
            self.places,
            palette,
            x_title=_("difficulty; below: responses per candidate"),
            y_title=self.label,
            description=_("Scores of each candidate by difficulty, with one line per candidate."),
            digits=DIGITS[self.measure],
            limits=LIMITS[self.measure],
        )


def _drops(report: Report) -> Iterator[Figure]:
    words = measure_words(report)
    # Figures of 100 on one axis: rubric scores and Pass@k are times 100.
    series = {name: words[name] for name in ("rubric_accuracy", "cacs_at_k")}
    rows = [row for row in rows_of(report, "difficulty") if row["measure"] in series]
    points = [
        charts.Point(
            row["candidate"],
            row["drop"],
            row["drop_low"],
            row["drop_high"],
            series=series[row["measure"]],
            href=evidence_url(report, row["candidate"], f"difficulty:{row['hardest']}"),
        )
        for row in rows
    ]
    ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    if not ends:
        return
    most = max(1.0, *map(abs, ends)) * 1.08

    def drawing(palette: Palette) -> object:
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=_("easiest minus hardest, percentage points"),
            description=_("Scores on the easiest cases minus those on the hardest, for each candidate."),
            line=charts.Line(0.0, _("no difference")),
            domain=(-most, most),
        )

    sentences = [
        _("Figures on the easiest cases minus those on the hardest: right of zero, harder cases score lower."),
        _("The cases are different ones, so the 95% intervals take both sides as independent.")
        if any(point.low is not None for point in points)
        else _("There are no intervals; the table says why."),
    ]
    yield Figure("difficulty_drop", _("Fall from easy to hard cases"), " ".join(sentences), "difficulty", drawing)
