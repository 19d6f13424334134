"""The page of a report on writing modes: its tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from agreement.kinds.kind import Context, Figure
from agreement.kinds.page_table import PageTable
from agreement.kinds.powered import digits_of, measure_name
from agreement.kinds.scores_rows import rows_of
from agreement.models import Report
from agreement.reports.numbers import Number, number
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import shown_name
from agreement.written.inputs import MEASURES, UNKNOWN
from agreement.written.tables import AXES_MEASURES, BEST, MEAN
from consilium.figures.charts import Point, points_and_whiskers
from consilium.figures.style import PAGE, Palette
from rubrics.models import Response
from rubrics.slice_words import value_words

MODE_LABELS = {
    str(Response.WritingMode.UNAIDED): gettext_lazy("Unaided"),
    str(Response.WritingMode.AIDED): gettext_lazy("With references"),
    UNKNOWN: pgettext_lazy("writing mode", "Unknown"),
}


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    modes = table_of(report, "modes").dicts()
    return {
        "facts": facts,
        "rater": shown_name(report.benchmark, facts["rater"]),
        "modes": _modes(facts["k"], modes),
        "axes": _axes(rows_of(report, "axes")),
        "comparisons": [_beside(measure, facts["k"], rows) for measure, rows in _compared(report)],
        "n_by_authors": facts["n_by_authors"],
        "n_unknown": sum(row["n_unknown"] for row in modes),
        "effective": facts.get("effective"),
    }


def _compared(report: Report) -> Iterator[tuple[str, list[Row]]]:
    """The comparisons by measure; there is no CACS without a threshold."""
    for measure in MEASURES if report.result["facts"]["k"] else MEASURES[:-1]:
        yield measure, table_of(report, f"beside_{measure}").dicts()


def mode_label(row: Row, *, with_candidate: bool = False) -> str:
    """A mode in words, with its name where it has one."""
    parts = [row["candidate"]] if with_candidate else []
    return " · ".join(filter(None, [*parts, str(MODE_LABELS.get(row["mode"], row["mode"])), row["mode_name"]]))


def _several(rows: list[Row]) -> bool:
    return len({row["candidate"] for row in rows}) > 1


def _count(n: int) -> str:
    return f"{n:,}"


def _length(value: float | None) -> str:
    return Number(value, digits=0).shown or "–"


def _modes(k: int | None, rows: list[Row]) -> PageTable:
    several = _several(rows)
    return PageTable(
        "modes",
        _("Scores by mode"),
        [
            (_("Mode"), False),
            (_("References"), False),
            (_("Responses"), True),
            (_("Cases"), True),
            (pgettext("of responses", "Scored"), True),
            (_("Rubric score"), True),
            (_("Rubric Accuracy"), True),
            *([(f"CACS@{k}", True)] if k else []),
            (_("Characters, mean"), True),
        ],
        {
            "": [
                [
                    mode_label(row, with_candidate=several),
                    row["references"] or "–",
                    _count(row["n_responses"]),
                    _count(row["n_cases"]),
                    _count(row["n"]),
                    *(
                        number(row, name, digits=digits_of(name)).cell
                        for name in (MEASURES if k else MEASURES[:-1])
                    ),
                    _length(row["mean_length"]),
                ]
                for row in rows
            ]
        },
        remark=_(
            "The modes are apart by their names or, if they have none, by the candidates whose responses were shown. "
            "Different modes may be on different cases, so compare them with their references."
        ),
    )  # fmt: skip


def _axes(rows: list[Row]) -> PageTable:
    several = _several(rows)
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        groups.setdefault(value_words("axis", row["axis"]), []).append(
            [
                mode_label(row, with_candidate=several),
                _count(row["n"]),
                _count(row["n_cases"]),
                *(number(row, name, digits=digits_of(name)).cell for name in AXES_MEASURES),
            ]
        )
    return PageTable(
        "axes",
        _("Scores by mode and axis"),
        [
            (_("Mode"), False),
            (pgettext("of responses", "Scored"), True),
            (_("Cases"), True),
            *((measure_name(name, None), True) for name in AXES_MEASURES),
        ],
        groups,
        remark=_("Cases are those of the scored responses. Different modes may be on different cases."),
    )


def _against(row: Row) -> str:
    return {MEAN: _("Mean of the references"), BEST: _("Best of the references")}[row["against"]]


def _beside_label(row: Row, several: bool) -> str:
    label = mode_label(row, with_candidate=several)
    if row["mode"] == Response.WritingMode.AIDED:
        return label
    return _("%(mode)s, beside the references of %(name)s") % {"mode": label, "name": row["beside"]}


def _beside(measure: str, k: int | None, rows: list[Row]) -> PageTable:
    several, digits = _several(rows), digits_of(measure)
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        groups.setdefault(_beside_label(row, several), []).append(
            [
                _against(row),
                _count(row["n_responses"]),
                _count(row["n_cases"]),
                *(number(row, name, digits=digits).cell for name in ("written", "shown")),
                number(row, "difference", digits=digits, signed=True).cell,
                *(number(row, name, digits=2).cell for name in ("better", "equal", "worse")),
                f"{_length(row['mean_length'])} / {_length(row['shown_mean_length'])}",
            ]
        )
    return PageTable(
        f"beside_{measure}",
        _("Beside the references: %(measure)s") % {"measure": measure_name(measure, k)},
        [
            (pgettext("of responses", "Compared with"), False),
            (_("Responses"), True),
            (_("Cases"), True),
            (pgettext("of responses", "Written"), True),
            (_("References"), True),
            (_("Difference"), True),
            (pgettext("of responses", "Better"), True),
            (pgettext("of responses", "Equal"), True),
            (pgettext("of responses", "Worse"), True),
            (_("Characters"), True),
        ],
        groups or {"": []},
        remark=_("Characters are those of the written responses and of the references, on average."),
        empty=_("No response has known references. Files name them in the column “references”."),
    )


def figures(report: Report) -> Iterator[Figure]:
    facts = report.result["facts"]
    for measure, everything in _compared(report):
        rows = [row for row in everything if row["against"] == MEAN and row["written"] is not None]
        if not rows:
            continue
        several, label = _several(rows), measure_name(measure, facts["k"])
        points = [
            Point(_beside_label(row, several), row[name], row[f"{name}_low"], row[f"{name}_high"], series=series)
            for row in rows
            for name, series in (("written", _("Written by physicians")), ("shown", _("Mean of the references")))
        ]

        def drawing(palette: Palette, points: list[Point] = points, label: str = label) -> object:
            return points_and_whiskers(
                points,
                palette,
                x_title=label,
                description=_("%(measure)s of responses by physicians in each mode, and of their references.")
                % {"measure": label},
                colours=(palette.series[0], palette.series[4]),
            )

        yield Figure(
            f"beside_{measure}",
            _("%(measure)s by mode of writing") % {"measure": label},
            _("With 95% intervals over cases. Each pair is on the same cases; the table has their difference."),
            f"beside_{measure}",
            drawing,
        )
    yield from _axes_figure(report)


def _axes_figure(report: Report) -> Iterator[Figure]:
    """The rubric score on each axis, with a dot for each mode: of more than there are colours those with the most
    responses.
    """
    rows = [row for row in rows_of(report, "axes") if row["rubric_score"] is not None]
    several = _several(rows)
    responses: Counter[str] = Counter()
    for row in rows:
        responses[mode_label(row, with_candidate=several)] += row["n"]
    drawn = {label for label, _n in responses.most_common(len(PAGE.series))}
    points = [
        Point(
            value_words("axis", row["axis"]),
            row["rubric_score"],
            row["rubric_score_low"],
            row["rubric_score_high"],
            series=mode_label(row, with_candidate=several),
        )
        for row in rows
        if mode_label(row, with_candidate=several) in drawn
    ]
    if not points:
        return
    caption = _("With 95% intervals over cases. Different modes may be on different cases.")
    if len(drawn) < len(responses):
        left_out = _("The %(n)s of %(all)s modes with the most responses are drawn; the table has all of them.")
        caption = f"{caption} {left_out % {'n': len(drawn), 'all': len(responses)}}"

    def drawing(palette: Palette) -> object:
        return points_and_whiskers(
            points,
            palette,
            x_title=_("Rubric score"),
            description=_("The rubric score of responses by physicians on each axis, in each mode of writing."),
        )

    yield Figure(
        "axes_rubric_score",
        _("Rubric score by axis and mode of writing"),
        caption,
        "axes",
        drawing,
    )
