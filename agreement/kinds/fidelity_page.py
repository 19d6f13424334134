"""The page of a report on fidelity: its tiles, tables and figures, of one judge or of several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agreement.kinds.kind import Context, Figure, Parameters
from agreement.kinds.page_table import PageTable, first_rows
from agreement.kinds.shared import row_label, split_broken, with_n
from agreement.models import Report
from agreement.reports.links import pairs_url
from agreement.reports.numbers import Number, PValue, Tile, number
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import display_name, rater_names, shown_name
from consilium.core.i18n import translate_remark
from consilium.figures import charts
from consilium.figures.style import Palette

CEILING = "ceiling"
OPEN_ROWS = 12  # tables of more rows are folded up
# The three comparisons of a report on one judge, by the two raters that each compares.
SIDES = {
    "judge_a": gettext_lazy("Judge and A"),
    "judge_b": gettext_lazy("Judge and B"),
    CEILING: gettext_lazy("A and B"),
}


def judges_of(given: Parameters) -> list[str]:
    """The judges that the parameters name."""
    return list(given.get("judges") or [given["judge"]])


def labels_of(facts: Mapping[str, Any]) -> list[str]:
    """The labels of the judges of a finished report."""
    return list(facts.get("judges") or [facts["judge"]])


def rows_of(report: Report, name: str) -> list[Row]:
    """Rows of a table; none in a report of an earlier version without it."""
    return table_of(report, name).dicts() if name in table_names(report) else []


def sides(report: Report) -> dict[str, str]:
    """The comparisons whose decisions a page shows, with their names."""
    judges = judges_of(report.parameters)
    if len(judges) == 1:
        return {side: str(label) for side, label in SIDES.items()}
    names = rater_names(report.benchmark, judges)
    shown = {judge: display_name(judge, names) for judge in judges}
    return {
        **{f"judge_a:{judge}": _("%(judge)s and A") % {"judge": name} for judge, name in shown.items()},
        **{f"judge_b:{judge}": _("%(judge)s and B") % {"judge": name} for judge, name in shown.items()},
        CEILING: str(SIDES[CEILING]),
    }


def body(report: Report, sort: str) -> Context:
    """What the page shows."""
    several = len(labels_of(report.result["facts"])) > 1
    return (_body_of_several(report) if several else _body_of_one(report)) | {"groups_table": _groups_table(report)}


def _body_of_one(report: Report) -> Context:
    rows = table_of(report, "fidelity").dicts()
    facts = report.result["facts"]
    overall = split_broken(rows[0])
    names = {key: shown_name(report.benchmark, facts[key]) for key in ("judge", "a", "b")}
    return {
        "names": names,
        "overall": overall,
        "tiles": [
            Tile(_("Judge, mean of both"), number(overall, "mf1_mean")),
            *_undecided_tile(overall, facts.get("judged_by", "")),
            Tile(_("Human ceiling"), number(overall, "mf1_ceiling")),
            Tile(_("Judge minus ceiling"), number(overall, "mf1_gap")),
            Tile(
                _("Pairs"),
                text=f"{overall['n_pairs']:,}",
                detail=_("%(cases)s cases, all three on the same pairs") % {"cases": f"{overall['n_cases']:,}"},
            ),
        ],
        "finding": finding(report, names),
        "candidates": [_row(report, row) for row in rows],
        "slices": [_row(report, row) for row in rows_of(report, "fidelity_slices")],
        "robustness": _robustness(report),
    }


def _robustness(report: Report) -> list[Context]:
    facts = report.result["facts"]
    a, b = facts["a"], facts["b"]
    names = rater_names(report.benchmark, [*labels_of(facts), a, b])
    compared = [(judge, group) for judge in labels_of(facts) for group in (a, b)]
    return [
        {
            **row,
            "label": " · ".join(display_name(rater, names) for rater in pair),
            "figures": {
                "spearman": number(row, "spearman"),
                "kendall": number(row, "kendall"),
                "difference": number(row, "mean_absolute_difference", digits=1),
                "top3": number(row, "top3", digits=2),
                "top5": number(row, "top5", digits=2),
            },
        }
        for row, pair in zip(table_of(report, "robustness").dicts(), [*compared, (a, b)], strict=True)
    ]


def _row(report: Report, row: Row) -> Context:
    return {
        **row,
        "label": row_label(row["slice"]),
        "is_all": row["slice"] == "all",
        "url": pairs_url(report, row["slice"]),
        "figures": {key: number(row, f"mf1_{key}") for key in ("judge_a", "judge_b", "mean", "ceiling", "gap")},
        "met": {key: number(row, f"met_{key}", scale=100, digits=1, unit="%") for key in ("judge", "a", "b")},
    }


def finding(report: Report, names: Mapping[str, str]) -> str:
    """Whether the judge is inferior to the human ceiling at the margin, in a sentence; empty in an older report."""
    rows = rows_of(report, "non_inferiority")
    if not rows:
        return ""
    row = rows[0]
    given = {"judge": names["judge"], "margin": f"{row['margin']:g}"}
    if row["bound"] is None:
        given["why"] = translate_remark(row["note"])
        return _("No conclusion can be drawn about non-inferiority at a margin of %(margin)s: %(why)s.") % given
    given["bound"] = Number(row["bound"]).shown
    return {
        "superior": _(
            "%(judge)s is closer to the groups than they are to each other: the 97.5%% bound of the "
            "difference, %(bound)s, is above 0."
        ),
        "non-inferior": _(
            "%(judge)s is not inferior to the human ceiling at a margin of %(margin)s: the 97.5%% bound "
            "of the difference, %(bound)s, is above −%(margin)s."
        ),
        "inferior": _(
            "%(judge)s is inferior to the human ceiling by more than the margin of %(margin)s: the whole "
            "interval is below −%(margin)s."
        ),
        "open": _(
            "Non-inferiority of %(judge)s to the human ceiling is not shown at a margin of %(margin)s: "
            "the 97.5%% bound of the difference is %(bound)s."
        ),
    }[row["finding"]] % given


def _undecided_tile(overall: Row, judged_by: str) -> list[Tile]:
    """How many pairs the headline leaves out, shown beside it: always for a jury, for a judge if there are any."""
    n = overall.get("n_undecided")
    if n is None or (not n and judged_by != "jury"):
        return []
    label = _("Undecided by the jury") if judged_by == "jury" else _("Undecided by the judge")
    return [
        Tile(
            label,
            text=_("%(n)s of %(all)s") % {"n": f"{n:,}", "all": f"{overall['n_pairs'] + n:,}"},
            detail=_("excluded from all figures"),
        )
    ]


def figures(report: Report) -> Iterator[Figure]:
    """The candidates of one judge, or several judges beside each other."""
    several = len(labels_of(report.result["facts"])) > 1
    return _figures_of_several(report) if several else _figures_of_one(report)


def _points(rows: list[Row], series: Mapping[str, str], name: Callable[[Row], str]) -> list[charts.Point]:
    """The Macro-F1 of each row, by comparison; ``series`` names the comparisons."""
    return [
        charts.Point(
            with_n(name(row), row["n_pairs"]),
            row[f"mf1_{key}"],
            row[f"mf1_{key}_low"],
            row[f"mf1_{key}_high"],
            series=label,
        )
        for row in rows
        for key, label in series.items()
    ]


def _caption(row: Row) -> str:
    """The caption of Macro-F1 on the pairs that all raters share; ``row`` is one of the whole."""
    if row["mf1_mean_low"] is None:
        return _("Macro-F1 on the same n pairs. There are no intervals; the table notes explain why.")
    return _("Macro-F1 on the same n pairs, with 95% intervals over cases.")


def _figures_of_one(report: Report) -> Iterator[Figure]:
    rows = table_of(report, "fidelity").dicts()
    facts = report.result["facts"]
    names = {key: shown_name(report.benchmark, facts[key]) for key in ("judge", "a", "b")}
    series = {
        "ceiling": _("%(a)s and %(b)s: the human ceiling") % names,
        "judge_a": _("%(judge)s and %(a)s") % names,
        "judge_b": _("%(judge)s and %(b)s") % names,
    }
    points = _points(rows, series, lambda row: row_label(row["slice"]))

    def drawing(palette: Palette) -> object:
        # The ceiling is the reference for the judge: it has the neutral colour, the judge the accent colour.
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=_("Macro-F1"),
            description=_(
                "Macro-F1 of the judge with each group, compared with that between the groups, for each candidate."
            ),
            colours=(palette.series[4], palette.series[0], palette.series[1]),
        )

    yield Figure(
        "fidelity",
        _("The judge compared with the human ceiling"),
        _caption(rows[0]),
        "fidelity",
        drawing,
    )


# Several judges ---------------------------------------------------------------------------------------------------


def _shown_names(report: Report) -> dict[str, str]:
    """All raters by their labels, as pages show them."""
    facts = report.result["facts"]
    labels = [*labels_of(facts), facts["a"], facts["b"]]
    names = rater_names(report.benchmark, labels)
    return {label: display_name(label, names) for label in labels}


def _body_of_several(report: Report) -> Context:
    facts, names = report.result["facts"], _shown_names(report)
    rows = table_of(report, "fidelity_judges").dicts()
    return {
        "several": True,
        "finding": _finding_of_several(rows, names),
        "trained_on": [(names[label], candidates) for label, candidates in facts["learned_of"].items()],
        "tiles": [
            Tile(_("Judges"), text=f"{len(rows):,}"),
            Tile(_("Human ceiling"), number(rows[0], "mf1_ceiling")),
            Tile(
                _("Pairs"),
                text=f"{rows[0]['n_pairs']:,}",
                detail=_("%(cases)s cases, all raters on the same pairs") % {"cases": f"{rows[0]['n_cases']:,}"},
            ),
        ],
        "judges_table": _judges_table(report, rows, names),
        "pairwise_table": _pairwise_table(report, names),
        "slices_tables": [
            _by_judge(report, "fidelity", _("Candidates"), _("Candidate"), names),
            _by_judge(report, "fidelity_slices", _("Difficulty, register and tags"), _("Slice"), names),
        ],
        "robustness": _robustness(report),
    }


def _finding_of_several(rows: list[Row], names: Mapping[str, str]) -> str:
    """For which of the judges non-inferiority is shown, in a sentence."""
    margin = f"{rows[0]['margin']:g}"
    tested = [row for row in rows if row["p"] is not None]
    if not tested:
        why = number(rows[0], "p").reason
        return _("No conclusion can be drawn about non-inferiority at a margin of %(margin)s: %(why)s.") % {
            "margin": margin,
            "why": why,
        }
    passed = [names[row["judge"]] for row in tested if row["non_inferior"]]
    given = {"margin": margin, "n": len(tested), "judges": ", ".join(passed)}
    if not passed:
        return (
            ngettext(
                "Non-inferiority to the human ceiling at a margin of %(margin)s is not shown for the %(n)s judge "
                "tested.",
                "Non-inferiority to the human ceiling at a margin of %(margin)s is shown for none of the %(n)s judges "
                "tested, after Holm’s correction.",
                len(tested),
            )
            % given
        )
    return (
        _(
            "After Holm’s correction for %(n)s judges, these are not inferior to the human ceiling at a margin of "
            "%(margin)s: %(judges)s."
        )
        % given
    )


def _judges_table(report: Report, rows: list[Row], names: Mapping[str, str]) -> PageTable:
    """A row for each judge; counts that are 0 for all of them have no column."""
    counts = {
        "n_invalid": _("Invalid or missing"),
        "n_undecided": _("Undecided"),
        "n_own": _("Own pairs"),
    }
    usual = {"n_own": "n_pairs"}
    used = [name for name in counts if any(row[name] != row.get(usual.get(name, ""), 0) for row in rows)]
    shown = {True: _("yes"), False: _("no"), None: "–"}
    cells = [
        [
            names[row["judge"]],
            *(number(row, f"mf1_{name}").cell for name in ("judge_a", "judge_b", "mean", "gap")),
            PValue.of(row, "p_adjusted").cell if row["p"] is not None else "–",
            shown[row["non_inferior"]],
            _rank(row),
            number(row, "met_judge", scale=100, digits=1, unit="%").cell,
            *(f"{row[name]:,}" for name in used),
        ]
        for row in rows
    ]
    a, b = (names[report.result["facts"][group]] for group in ("a", "b"))
    remark = _(
        "Macro-F1 against A (%(a)s) and B (%(b)s). p: one-sided, of being below the ceiling by the margin or more, "
        "after Holm’s correction; not inferior at 0.025 or less."
    ) % {"a": a, "b": b}
    everything = pairs_url(report, "all")
    if "n_own" in used:
        remark += " " + _("Own pairs: those that count for the judge, whatever the others were assigned.")
    return PageTable(
        "fidelity_judges",
        _("Judges and groups"),
        [
            (_("Judge"), False),
            (_("Judge and A"), True),
            (_("Judge and B"), True),
            (_("Mean of both"), True),
            (_("Judge minus ceiling"), True),
            (_("p, Holm"), True),
            (_("Not inferior"), False),
            (_("Rank"), True),
            (_("Met"), True),
            *((counts[name], True) for name in used),
        ],
        {"": cells},
        remark=remark,
        addresses={names[row["judge"]]: f"{everything}&side={quote('judge_a:' + row['judge'])}" for row in rows},
    )


def _rank(row: Row) -> str:
    """The rank with its range; without one the reason."""
    return number(row, "rank", digits=0).cell


def _pairwise_table(report: Report, names: Mapping[str, str]) -> PageTable:
    def cells(row: Row) -> list[str]:
        return [
            _("%(a)s minus %(b)s") % {"a": names[row["judge_a"]], "b": names[row["judge_b"]]},
            number(row, "difference", signed=True).cell,
            PValue.of(row, "p_adjusted").cell if row["p"] is not None else "–",
        ]

    groups, remark = first_rows(table_of(report, "fidelity_pairwise").dicts(), cells)
    return PageTable(
        "fidelity_pairwise",
        _("Differences between judges"),
        [(_("Judges"), False), (_("Difference of the means"), True), (_("p, Holm"), True)],
        groups,
        open_rows=OPEN_ROWS,
        remark=f"{_('Paired by case, on the same pairs. p: two-sided, after Holm’s correction.')} {remark}".strip(),
    )


def _by_judge(report: Report, name: str, title: str, heading: str, names: Mapping[str, str]) -> PageTable:
    """The mean Macro-F1 of each judge by slice, without intervals, which are in the file."""
    rows_by_slice: dict[str, dict[str, Row]] = {}
    for row in table_of(report, name).dicts():
        rows_by_slice.setdefault(row["slice"], {})[row["judge"]] = row
    judges = labels_of(report.result["facts"])

    def cells(item: Row) -> list[str]:
        rows = item["rows"]
        first = rows[judges[0]]
        return [
            row_label(item["slice"]),
            f"{first['n_pairs']:,}",
            _plain(first["mf1_ceiling"]),
            *(_plain(rows[judge]["mf1_mean"]) for judge in judges),
        ]

    groups, remark = first_rows(
        [{"slice": slice_name, "rows": rows} for slice_name, rows in rows_by_slice.items()], cells
    )
    return PageTable(
        name,
        title,
        [
            (heading, False),
            (_("Pairs"), True),
            (_("A and B"), True),
            *((names[judge], True) for judge in judges),
        ],
        groups,
        open_rows=OPEN_ROWS,
        remark=f"{_('Mean Macro-F1 of each judge against both groups; intervals are in the CSV.')} {remark}".strip(),
        addresses={row_label(slice_name): pairs_url(report, slice_name) for slice_name in rows_by_slice},
    )


def _plain(value: float | None) -> str:
    return Number(value).shown or "–"


def _groups_table(report: Report) -> PageTable | None:
    """Every judge with every group, and the groups with each other; None in a report from before there was one."""
    rows = rows_of(report, "fidelity_groups")
    if not rows:
        return None
    names = _shown_names(report)
    keys = ("mf1", "f1_met", "f1_not_met", "raw", "kappa", "ac1")
    shares = ("prevalence_b", "prevalence_a")

    def cells(row: Row) -> list[str]:
        return [
            _("%(rater)s and %(reference)s") % {name: names[row[name]] for name in ("rater", "reference")},
            *(_figure(row, key) for key in keys),
            *(number(row, key, scale=100, digits=1, unit="%").shown or "–" for key in shares),
            f"{row['n_pairs']:,}",
        ]

    groups, remark = first_rows(rows, cells)
    return PageTable(
        "fidelity_groups",
        _("Agreement of each two raters"),
        [
            (_("Raters"), False),
            ("MF1", True),
            (_("F1 met"), True),
            (_("F1 not met"), True),
            (_("Raw"), True),
            ("κ", True),
            ("AC1", True),
            (_("Met, first rater"), True),
            (_("Met, second rater"), True),
            (_("Pairs"), True),
        ],
        groups,
        open_rows=OPEN_ROWS,
        remark=remark,
    )


def _figure(row: Row, key: str) -> str:
    """A figure without its interval, which is in the file, or the reason why there is none."""
    return number(row, key).cell if row[key] is None else Number(row[key]).shown


def _figures_of_several(report: Report) -> Iterator[Figure]:
    rows, names = table_of(report, "fidelity_judges").dicts(), _shown_names(report)
    facts = report.result["facts"]
    series = {"judge_a": names[facts["a"]], "judge_b": names[facts["b"]], "mean": _("mean of both")}
    both = _points(rows, series, lambda row: names[row["judge"]])
    apart = [
        charts.Point(
            with_n(names[row["judge"]], row["n_pairs"]), row["mf1_gap"], row["mf1_gap_low"], row["mf1_gap_high"]
        )
        for row in rows
    ]
    first = rows[0]
    band = (first["mf1_ceiling_low"], first["mf1_ceiling_high"])

    def judges(palette: Palette) -> object:
        return charts.points_and_whiskers(
            both,
            palette,
            x_title=_("Macro-F1"),
            description=_("Macro-F1 of each judge with each group, compared with that between the groups."),
            line=charts.Line(first["mf1_ceiling"], _("human ceiling")),
            band=band if band[0] is not None else None,
        )

    def gaps(palette: Palette) -> object:
        ends = [end for point in apart for end in (point.value, point.low, point.high) if end is not None]
        reach = max(first["margin"], *(abs(end) for end in ends)) * 1.08
        return charts.points_and_whiskers(
            apart,
            palette,
            x_title=_("Mean Macro-F1 of the judge minus the human ceiling"),
            description=_("Mean Macro-F1 of each judge minus that between the groups."),
            line=charts.Line(-first["margin"], _("margin")),
            domain=(-reach, reach),
        )

    caption = _caption(first)
    if band[0] is not None:
        caption += " " + _("Dashed line and shaded band: the human ceiling with its interval.")
    yield Figure("judges", _("Judges compared with the human ceiling"), caption, "fidelity_judges", judges)
    if any(point.value is not None for point in apart):
        yield Figure(
            "gaps",
            _("Judges minus the human ceiling"),
            _(
                "A judge whose whole interval is to the right of the dashed line is not inferior at the margin, before "
                "Holm’s correction."
            ),
            "fidelity_judges",
            gaps,
        )
