"""The figures of a report of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from agreement.kinds.kind import Figure
from agreement.kinds.scores_cases import case_figures
from agreement.kinds.scores_lines import difficulty_figures, worst_figure
from agreement.kinds.scores_rows import DIGITS, LIMITS, evidence_url, measure_words, rows_of, short
from agreement.kinds.scores_values import value_figures
from agreement.models import Report
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import shown_name
from consilium.figures import charts
from consilium.figures.heat_map import Cell, heat_map
from consilium.figures.slope import Ranked, slope
from consilium.figures.style import Palette
from scoring.scores.sheet import OVERALL

MAX_SLOPES = 4
FEW_RESPONSES = 10  # a candidate with fewer gets a remark beside its rank


def figures(report: Report) -> Iterator[Figure]:
    yield from _coverage(report)
    yield from _families(report)
    yield from _registers(report)
    yield from _slopes(report)
    yield from _length(report)
    yield from _adjusted(report)
    yield from worst_figure(report)
    yield from difficulty_figures(report)
    yield from value_figures(report)
    yield from case_figures(report)


def ends_of(rows: Sequence[Row], name: str) -> dict[str, tuple[float, float]]:
    """Candidate → the ends of the interval of a figure, where it has one."""
    low, high = f"{name}_low", f"{name}_high"
    return {row["candidate"]: (row[low], row[high]) for row in rows if row.get(low) is not None}


def _coverage(report: Report) -> Iterator[Figure]:
    rows = [row for row in table_of(report, "scoreboard").dicts() if row["rubric_accuracy"] is not None]
    k = report.result["facts"]["k"]
    if any(row["cacs_at_k"] is not None for row in rows):

        def drawing(palette: Palette) -> object:
            return charts.scatter(
                [
                    (
                        row["candidate"],
                        row["rubric_accuracy"],
                        row["cacs_at_k"],
                        evidence_url(report, row["candidate"]),
                    )
                    for row in rows
                ],
                palette,
                x_title=_("Rubric Accuracy"),
                y_title=f"CACS@{k}",
                description=_("CACS against Rubric Accuracy, with one dot per candidate."),
                x_ends=ends_of(rows, "rubric_accuracy"),
                y_ends=ends_of(rows, "cacs_at_k"),
                diagonal=_("CACS = Rubric Accuracy"),
            )

        threshold = _(
            "For candidates that are one above another, the threshold shows a difference that partial credit does not."
        )
        shown = (
            _("Lines are 95% intervals over cases; on the dashed diagonal, where visible, both are equal.")
            if ends_of(rows, "cacs_at_k") or ends_of(rows, "rubric_accuracy")
            else _("On the dashed diagonal, where visible, both are equal. There are no intervals.")
        )
        yield Figure(
            "coverage",
            _("Coverage against partial credit"),
            f"{threshold} {shown}",
            "scoreboard",
            drawing,
        )


def _families(report: Report) -> Iterator[Figure]:
    rows = rows_of(report, "families")
    # Where nearly nobody reaches k, deviations of CACS are meaningless; Rubric Accuracy still has a value.
    given = [row for row in rows if row["rubric_accuracy_deviation"] is not None]
    if not given:
        return
    families = list(dict.fromkeys(row["family"] for row in rows))
    candidates = list(dict.fromkeys(row["candidate"] for row in rows))
    # The longer side runs downwards, so that the figure stays within a page.
    upright = len(families) > len(candidates)

    def cells() -> list[Cell]:
        value = {(row["family"], row["candidate"]): row["rubric_accuracy_deviation"] for row in rows}
        pairs = (
            [(family, name) for family in families for name in candidates]
            if upright
            else [(family, name) for name in candidates for family in families]
        )
        return [
            Cell(
                short(family) if upright else name,
                name if upright else short(family),
                value.get((family, name)),
                href=evidence_url(report, name, family),
            )
            for family, name in pairs
        ]

    def drawing(palette: Palette) -> object:
        return heat_map(
            cells(),
            palette,
            description=_(
                "How far the Rubric Accuracy of each candidate in each family differs from its overall value."
            ),
            key_title=_("difference from the candidate’s overall score, points"),
        )

    yield Figure(
        "families",
        _("Strengths and weaknesses of each candidate relative to its own overall score"),
        _(
            "Rubric Accuracy in each family minus that over all responses, in percentage points: blue "
            "above, amber below. Intervals and numbers of responses are in the table."
        ),
        "families",
        drawing,
    )


def _registers(report: Report) -> Iterator[Figure]:
    rows = rows_of(report, "registers")
    k = report.result["facts"]["k"]
    series = {"cacs_at_k": f"CACS@{k}", "rubric_accuracy": _("Rubric Accuracy")}
    points = [
        charts.Point(
            row["candidate"],
            row[f"{name}_difference"],
            row[f"{name}_difference_low"],
            row[f"{name}_difference_high"],
            series=label,
            href=evidence_url(report, row["candidate"]),
        )
        for row in rows
        for name, label in series.items()
    ]
    ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    if not ends:
        return
    most = max(1.0, *map(abs, ends)) * 1.08

    def drawing(palette: Palette) -> object:
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=_("lay minus professional, percentage points"),
            description=_("Scores on lay cases minus those on professional ones, for each candidate."),
            line=charts.Line(0.0, _("no difference")),
            domain=(-most, most),
        )

    yield Figure(
        "registers",
        _("Lay and professional cases"),
        _("Figures on lay cases minus those on professional ones, with 95% intervals over cases.")
        if any(point.low is not None for point in points)
        else _("Figures on lay cases minus those on professional ones. There are no intervals; the notes explain why."),
        "registers",
        drawing,
    )


def _slopes(report: Report) -> Iterator[Figure]:
    rows = [row for row in rows_of(report, "graders") if row["setting"] == "cacs_at_k"]
    k = report.result["facts"]["k"]
    others = list(dict.fromkeys(row["other"] for row in rows))
    for number, other in enumerate(others[:MAX_SLOPES], start=1):
        own = [row for row in rows if row["other"] == other]
        ranked = [
            Ranked(row["candidate"], row["rater_rank"], row["other_rank"], href=evidence_url(report, row["candidate"]))
            for row in own
        ]
        by = _("By CACS@%(k)s, on the responses that both score; lines with different ranks are highlighted.")
        names = {"a": shown_name(report.benchmark, rows[0]["rater"]), "b": shown_name(report.benchmark, other)}
        if len(ranked) > 1:
            yield Figure(
                f"ranks-{number}",
                _("Ranks by %(a)s and by %(b)s") % names,
                " ".join([by % {"k": k}, _responses_behind(own)]),
                "graders",
                _Slope(ranked, names),
            )


def _responses_behind(rows: Sequence[Row]) -> str:
    """How many responses ranks rest on, and a remark where they are few."""
    counts = [row["n_responses"] for row in rows]
    least, most = min(counts), max(counts)
    if least == most:
        words = _("Responses per candidate: %(n)s.") % {"n": least}
    else:
        words = _("Responses per candidate: %(least)s to %(most)s.") % {"least": least, "most": most}
    if min(counts) >= FEW_RESPONSES:
        return words
    return f"{words} {_('With so few responses, the ranks may change with a single one.')}"


class _Slope:
    """A slope chart waiting for its colours."""

    def __init__(self, ranked: list[Ranked], names: dict[str, str]) -> None:
        self.ranked = ranked
        self.names = names

    def __call__(self, palette: Palette) -> Any:
        return slope(
            self.ranked,
            palette,
            left=self.names["a"],
            right=self.names["b"],
            description=_("The ranks of the candidates by %(a)s and by %(b)s.") % self.names,
        )


def _length(report: Report) -> Iterator[Figure]:
    """Two scores against length. The first that has values is drawn ahead, the other when the menu asks for it.

    A report from before there was a length-adjusted score has no mean length of the scored responses alone.
    """
    length = {
        row["slice"].removeprefix("candidate:"): row["mean_length"]
        for row in rows_of(report, "length")
        if row["slice"] != "all"
    }
    board = [{**row, "mean_length": length.get(row["candidate"])} for row in rows_of(report, "scoreboard")]
    adjusted = [row for row in rows_of(report, "length_adjusted") if row["slice"] == OVERALL]
    words = measure_words(report)
    is_first = True
    for name, measure, heading, table, rows in (
        ("length", "rubric_accuracy", _("Length and partial credit"), "length", board),
        ("length-rubric_score", "rubric_score", _("Length and rubric score"), "length_adjusted", adjusted),
    ):
        given = [row for row in rows if row[measure] is not None and row["mean_length"] is not None]
        if not given:
            continue
        yield Figure(
            name,
            heading,
            _("Each dot is a candidate. Lines, where there are any, are 95% intervals over cases."),
            table,
            _AgainstLength(report, given, measure),
            choice="length",
            option=words[measure],
            is_on_request=not is_first,
        )
        is_first = False


class _AgainstLength:
    """A dot for each candidate, waiting for its colours."""

    def __init__(self, report: Report, rows: Sequence[Row], measure: str) -> None:
        self.report, self.rows, self.measure = report, rows, measure

    def __call__(self, palette: Palette) -> object:
        label = measure_words(self.report)[self.measure]
        return charts.scatter(
            [
                (row["candidate"], row["mean_length"], row[self.measure], evidence_url(self.report, row["candidate"]))
                for row in self.rows
            ],
            palette,
            x_title=_("mean length of a response, characters"),
            y_title=label,
            description=_("%(measure)s against the mean length of responses, with one dot per candidate.")
            % {"measure": label},
            limits=LIMITS[self.measure],
            x_limits=(0.0, 1.2 * max(row["mean_length"] for row in self.rows)),
            y_ends=ends_of(self.rows, self.measure),
            y_digits=DIGITS[self.measure],
        )


def _adjusted(report: Report) -> Iterator[Figure]:
    rows = [row for row in rows_of(report, "length_adjusted") if row["slice"] == OVERALL]
    rows.sort(key=lambda row: (row["length_adjusted"] is None, -(row["length_adjusted"] or 0), row["candidate"]))
    if not any(row["length_adjusted"] is not None for row in rows):
        return
    names = {"rubric_score": _("Rubric score"), "length_adjusted": _("Length-adjusted score")}
    points = [
        charts.Point(
            row["candidate"],
            row[key],
            row[f"{key}_low"],
            row[f"{key}_high"],
            series=name,
            href=evidence_url(report, row["candidate"]),
        )
        for row in rows
        for key, name in names.items()
    ]

    def drawing(palette: Palette) -> object:
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=_("Rubric score"),
            description=_("The rubric score of each candidate and its length-adjusted score, with 95% intervals."),
            colours=(palette.series[4], palette.series[0]),
        )

    yield Figure(
        "length_adjusted",
        _("Score and length-adjusted score"),
        _("With 95% intervals over cases. Long responses lose, short ones gain."),
        "length_adjusted",
        drawing,
    )
