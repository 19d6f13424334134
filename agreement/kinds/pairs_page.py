"""The page of a report on near-miss pairs: its tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from agreement.kinds.kind import Context, Figure
from agreement.kinds.page_table import PageTable, first_rows
from agreement.models import Report
from agreement.reports.numbers import Number, PValue, number
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from consilium.figures.charts import Point, points_and_whiskers
from consilium.figures.pairs import Delta, Shares, delta_dots, stacked_shares
from consilium.figures.style import Palette
from rubrics.slice_words import slice_words
from validation.files.table_rows import ALL
from validation.models import ErrorKind
from validation.trials.inputs import DANGEROUS, NO_RUBRIC_NAME

MAX_SERIES = 6  # of a figure, each with a colour of its own
GRADE_LABELS = {
    "dangerous": pgettext_lazy("pair", "Dangerous"),
    "minor": pgettext_lazy("pair", "Minor"),
    "flawed": gettext_lazy("Reference with another flaw"),
    "disputed": gettext_lazy("Physicians disagree"),
    "open": gettext_lazy("Not confirmed yet"),
    "no_error": gettext_lazy("Rejected since"),
}
DECISION_LABELS = {
    "win": pgettext_lazy("of a pair", "Win"),
    "tie": pgettext_lazy("of a pair", "Tie"),
    "loss": pgettext_lazy("of a pair", "Loss"),
}
ONE_SIDED = {
    "first": gettext_lazy("nearly all answers prefer the text that comes first, whichever it is."),
    "second": gettext_lazy("nearly all answers prefer the text that comes second, whichever it is."),
    "same": gettext_lazy("nearly all answers rate the two texts as equal."),
}
MET_BY_LABELS = {"reference": gettext_lazy("the reference"), "candidate": gettext_lazy("the text with the error")}


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    several = len(facts["names"]) > 1
    return {
        "facts": facts,
        "overlap": ", ".join(facts.get("names_its_judge", [])),
        "one_sided": [
            (set_label(name), ONE_SIDED[side]) for name, side in facts["one_sided"].items() if side in ONE_SIDED
        ],
        "pairs": _pairs(report),
        "auroc": _auroc(report),
        "comparisons": _comparisons(report) if several else None,
        "answers": _answers(report),
        "mutation": _mutation(report),
        "unnoticed": _unnoticed(report),
        "apart": _apart(report),
        "by_slice": _by_slice(report),
        "deciding": _deciding(report),
        "never_decisive": _never_decisive(report),
        "effective": facts.get("effective"),
    }


def set_label(name: str) -> str:
    """A series as the page calls it."""
    return _("no rubric") if name == NO_RUBRIC_NAME else name


def _leading(report: Report) -> list[Row]:
    """The leading figures of each set, in the order of the run; its file is sorted by name."""
    order = report.result["facts"]["names"]
    rows = [row for row in _everything(report, "pairs") if _has_pairs(row)]
    return sorted(rows, key=lambda row: order.index(row["set"]))


def _has_pairs(row: Row) -> bool:
    """Whether some pair counts, also one without a decision; files have a row that says why there is no figure."""
    return bool(row["n_pairs"] or row["n_undecided"])


def _set_of(row: Row) -> str:
    return set_label(row["set"])


def _rows(report: Report, name: str) -> list[Row]:
    """The rows of a table, with the cases that they rest on at most: its own columns count pairs.

    An interval says nothing if even so many cases were too few for it.
    """
    n_cases = report.result["facts"]["n_cases"]
    rows = []
    for row in table_of(report, name).dicts():
        n_pairs = row["n_pairs"] if "n_pairs" in row else row["n"]
        # Pairs that are not confirmed as dangerous may be of other cases.
        rows.append({**row, "n_cases": n_pairs if "grade" in row else min(n_pairs, n_cases)})
    return rows


def _everything(report: Report, name: str) -> list[Row]:
    return [row for row in _rows(report, name) if row["slice"] == ALL]


def _cell(row: Row, name: str, column: str = "") -> str:
    """A figure with its interval, whose ends may have another name."""
    column = column or name
    return number({**row, f"{name}_low": row[f"{column}_low"], f"{name}_high": row[f"{column}_high"]}, name).cell


def _plain(value: float | None) -> str:
    return Number(value).shown or "–"


def _figure(row: Row, name: str) -> str:
    """A figure without an interval, or the reason why there is none."""
    return number(row, name).cell if row[name] is None else _plain(row[name])


def _count(n: int) -> str:
    return f"{n:,}"


def _pairs(report: Report) -> PageTable:
    return PageTable(
        "pairs",
        _("Confirmed dangerous pairs"),
        [
            (pgettext("of rubrics", "Set"), False),
            (_("Pairs"), True),
            (str(DECISION_LABELS["win"]), True),
            (str(DECISION_LABELS["tie"]), True),
            (str(DECISION_LABELS["loss"]), True),
            (_("Mean Δ"), True),
            (_("Mean Δ, % of points"), True),
            (_("No decision"), True),
        ],
        {"": [_pair_cells(row) for row in _leading(report)]},
        remark=_(
            "Δ is the total of the reference minus that of the text with the error. Sets with more points have "
            "larger Δ, so sets can be compared only by Δ as a percentage of all points."
        ),
        empty=_("No pair of this run has been confirmed as dangerous yet."),
    )


def _pair_cells(row: Row) -> list[str]:
    return [
        set_label(row["set"]),
        _count(row["n_pairs"]),
        _cell(row, "win"),
        _figure(row, "tie"),
        _figure(row, "loss"),
        _cell(row, "mean_delta", "delta"),
        _figure(row, "mean_delta_100"),
        _count(row["n_undecided"]),
    ]


def _auroc(report: Report) -> PageTable:
    has_self = report.parameters["self_consistency"]
    return PageTable(
        "pairs",
        _("Comparisons of the totals, and the effect of position"),
        [
            (pgettext("of rubrics", "Set"), False),
            (_("Paired AUROC"), True),
            (_("Pooled AUROC"), True),
            *([(_("Self-consistency"), True)] if has_self else []),
            (_("Position effect"), True),
            (_("Same sign in both orders"), True),
        ],
        {
            "": [
                [
                    set_label(row["set"]),
                    _cell(row, "auroc_paired"),
                    _figure(row, "auroc_pooled"),
                    *([_figure(row, "auroc_self")] if has_self else []),
                    _figure(row, "position_effect"),
                    _figure(row, "order_consistent"),
                ]
                for row in _leading(report)
            ]
        },
        remark=_("AUROC is the area under the ROC curve: 1 at best, 0.5 as by chance.")
        + " "
        + _(
            "Paired: the share of pairs in which the reference has the higher total. Pooled: the same "
            "share over all combinations of references and texts with an error, whatever their case. Position "
            "effect: Δ with the reference first minus Δ with it second."
        )
        + (
            " " + _("Self-consistency shows whether Δ agrees with the pairs’ own decisions, not which text is better.")
            if has_self
            else ""
        ),
        empty=_("No pair of this run has been confirmed as dangerous yet."),
    )


def _comparisons(report: Report) -> PageTable:
    return PageTable(
        "pair_comparisons",
        _("Two sets on the pairs that both decide"),
        [
            (pgettext("of two", "First"), False),
            (pgettext("of two", "Second"), False),
            (_("Pairs"), True),
            (_("First only"), True),
            (_("Second only"), True),
            (_("Difference in wins"), True),
            (_("p, over cases"), True),
            (_("p, exact"), True),
            (_("Difference in Δ, %"), True),
            (_("Difference in paired AUROC"), True),
        ],
        {
            "": [
                [
                    set_label(row["first"]),
                    set_label(row["second"]),
                    _count(row["n"]),
                    _count(row["b"]),
                    _count(row["c"]),
                    number({**row, "difference_low": row["low"], "difference_high": row["high"]}, "difference").cell,
                    *(PValue.of(row, name).cell for name in ("p_clustered", "p_exact")),
                    _cell(row, "difference_100"),
                    _cell(row, "difference_auroc"),
                ]
                for row in _everything(report, "pair_comparisons")
            ]
        },
        remark=_("“First only” and “Second only” count pairs that one of the two sets wins and the other does not."),
    )


def _answers(report: Report) -> PageTable:
    return PageTable(
        "answers",
        _("The model’s stated preference, by position of the text"),
        [
            (pgettext("of rubrics", "Set"), False),
            (_("Trials"), True),
            (_("Without a usable answer"), True),
            (_("First is better"), True),
            (_("Second is better"), True),
            (_("Neither"), True),
        ],
        {
            "": [
                [
                    set_label(row["set"]),
                    _count(row["n_trials"]),
                    _count(row["n_missing"]),
                    *(_plain(row[f"share_{side}"]) for side in ONE_SIDED),
                ]
                for row in table_of(report, "answers").dicts()
            ]
        },
        remark=_(
            "Each text comes first in half of the trials, so a model that reads them should show no "
            "preference for a position."
        ),
    )


def _mutation(report: Report) -> PageTable:
    groups: dict[str, list[list[str]]] = {}
    for row in _rows(report, "mutation"):
        if _has_pairs(row) and (row["slice"] == ALL or row["slice"].startswith("kind:")):
            own = groups.setdefault(set_label(row["set"]), [])
            own.append([slice_label(row["slice"]), _count(row["n_pairs"]), _count(row["noticed"]), _cell(row, "score")])
    return PageTable(
        "mutation",
        _("Errors that the criteria detect"),
        [(_("Kind of error"), False), (_("Pairs"), True), (_("Detected"), True), (_("Mutation score"), True)],
        groups or {"": []},
        remark=_(
            "Detected: in most trials, some criterion is met by only one of the two texts. Mutation score: the share "
            "of pairs whose error is detected."
        ),
        empty=_("No pair of this run has been confirmed as dangerous yet."),
    )


def slice_label(name: str) -> str:
    """A slice in words."""
    if name == ALL:
        return _("All")
    column, _colon, value = name.partition(":")
    if column == "kind":
        return kind_label(value)
    return slice_words(name)


def kind_label(value: str) -> str:
    """A kind of error in words."""
    return str(ErrorKind(value).label) if value in ErrorKind.values else value


def pair_url(report: Report, key: str) -> str:
    """The page of a pair; empty where it is not here, as for a run that was made elsewhere."""
    public_id = report.result["facts"]["pair_ids"].get(key, "")
    return reverse("validation:pair", args=[report.benchmark.slug, public_id]) if public_id else ""


def _pair_link(report: Report, key: str) -> str:
    return format_html('<a href="{}">{}</a>', url, key) if (url := pair_url(report, key)) else key


def _none_of_decided(report: Report, words: str) -> str:
    """What an empty list of confirmed dangerous pairs says: ``words`` only where criteria decided some such pair."""
    rows = [row for row in _everything(report, "mutation") if row["n_pairs"]]
    return words if rows else _("No confirmed dangerous pair has been judged by criteria in enough trials.")


def _answers_by_rubrics(report: Report) -> list[Row]:
    return [row for row in table_of(report, "answers").dicts() if row["set"] != NO_RUBRIC_NAME]


def _unnoticed(report: Report) -> PageTable:
    def cells(row: Row) -> list[str]:
        return [_pair_link(report, row["pair"]), kind_label(row["kind"]), row["change"], row["why"]]

    groups, remark = first_rows(table_of(report, "unnoticed").dicts(), cells, _set_of)
    return PageTable(
        "unnoticed",
        _("Undetected errors: criteria to write"),
        [(_("Pair"), False), (_("Kind of error"), False), (_("Change made"), False), (_("Why it matters"), False)],
        groups,
        remark=remark,
        empty=_none_of_decided(report, _("Every set detects every error.")),
    )


def _apart(report: Report) -> PageTable:
    groups: dict[str, list[list[str]]] = {}
    for row in _everything(report, "pairs_apart"):
        groups.setdefault(str(GRADE_LABELS[row["grade"]]), []).append(_pair_cells(row))
    first = _pairs(report)
    return PageTable(
        "pairs_apart",
        _("Other pairs"),
        first.columns,
        groups or {"": []},
        remark=_("These pairs are not included in any figure above."),
        empty=_("Every pair of this run has been confirmed as dangerous."),
    )


def _by_slice(report: Report) -> PageTable:
    groups: dict[str, list[list[str]]] = {}
    for row in _rows(report, "pairs"):
        if row["slice"] != ALL:
            groups.setdefault(slice_label(row["slice"]), []).append(
                [
                    set_label(row["set"]),
                    _count(row["n_pairs"]),
                    _cell(row, "win"),
                    _figure(row, "mean_delta_100"),
                    _cell(row, "auroc_paired"),
                ]
            )
    columns = [
        (pgettext("of rubrics", "Set"), False),
        (_("Pairs"), True),
        (str(DECISION_LABELS["win"]), True),
        (_("Mean Δ, % of points"), True),
        (_("Paired AUROC"), True),
    ]
    return PageTable(
        "pairs", _("By kind of error, axis and tag"), columns, groups or {"": []}, empty=_("There are no slices.")
    )


def _deciding(report: Report) -> PageTable:
    rows = [row for row in table_of(report, "deciding").dicts() if row["grade"] == DANGEROUS]

    def cells(row: Row) -> list[str]:
        return [
            _pair_link(report, row["pair"]),
            row["text"],
            f"{row['points']:+d}",
            str(MET_BY_LABELS[row["met_by"]]),
            f"{row['n_alone']} / {row['n_good']}",
        ]

    groups, remark = first_rows(rows, cells, _set_of)
    return PageTable(
        "deciding",
        _("Criteria that decide"),
        [
            (_("Pair"), False),
            (_("Criterion"), False),
            (pgettext("of a criterion", "Points"), True),
            (_("Met by"), False),
            (_("Trials"), True),
        ],
        groups,
        remark=remark,
        empty=_none_of_decided(report, _("No criterion distinguishes the texts of a pair.")),
    )


def _never_decisive(report: Report) -> PageTable:
    def cells(row: Row) -> list[str]:
        return [row["text"], row["case"], f"{row['points']:+d}", _count(row["n_pairs"])]

    groups, remark = first_rows(table_of(report, "never_decisive").dicts(), cells, _set_of)
    return PageTable(
        "never_decisive",
        _("Criteria that never decide"),
        [(_("Criterion"), False), (_("Case"), False), (pgettext("of a criterion", "Points"), True), (_("Pairs"), True)],
        groups,
        remark=remark,
        empty=_("Every criterion decides at least one pair.")
        if any(row["n_good"] for row in _answers_by_rubrics(report))
        else _("No pair was judged by criteria."),
    )


# Figures -----------------------------------------------------------------------------------------------------------


def figures(report: Report) -> Iterator[Figure]:
    facts = report.result["facts"]
    rows = [row for row in _leading(report) if row["win"] is not None]
    if not rows:
        return
    shares = [
        Shares(set_label(row["set"]), {name: row[name] for name in DECISION_LABELS}, row["n_pairs"]) for row in rows
    ]
    yield Figure(
        "outcomes",
        _("Wins, ties and losses of the reference"),
        _("Shares of the confirmed dangerous pairs. A win: the set prefers the reference."),
        "pairs",
        _shares(shares, _("Share of pairs")),
    )
    each = [
        row
        for row in table_of(report, "each_pair").dicts()
        if row["grade"] == DANGEROUS and row["delta_100"] is not None
    ]
    names = [name for name in facts["names"] if any(row["set"] == name for row in each)][:MAX_SERIES]
    order = {str(kind): place for place, kind in enumerate(ErrorKind.values)}
    deltas = (
        [
            Delta(
                kind_label(row["kind"]),
                row["delta_100"],
                set_label(row["set"]),
                f"{row['pair']}, {set_label(row['set'])}: {row['delta_100']:.1f}",
                pair_url(report, row["pair"]),
            )
            for row in sorted(each, key=lambda row: (order.get(row["kind"], 99), names.index(row["set"])))
            if row["set"] in names
        ]
        if names
        else []
    )
    if deltas:
        yield Figure(
            "deltas",
            _("Δ of every pair, by kind of error"),
            _("As a percentage of all points of the set for the case. Select a dot to open its pair."),
            "each_pair",
            _deltas(deltas, _("Δ, % of points")),
        )
    scores = [row for row in _everything(report, "mutation") if row["score"] is not None]
    if scores:
        points = [Point(set_label(row["set"]), row["score"], row["score_low"], row["score_high"]) for row in scores]
        yield Figure(
            "mutation",
            _("Mutation score of each set"),
            _("The share of errors that at least one criterion detects. Lines are 95% intervals over cases."),
            "mutation",
            _whiskers(points, _("Mutation score")),
        )


def _shares(rows: list[Shares], x_title: str) -> Any:
    def drawing(palette: Palette) -> object:
        names = {name: str(label) for name, label in DECISION_LABELS.items()}
        description = _("Shares of wins, ties and losses of each set.")
        return stacked_shares(rows, names, palette, x_title=x_title, description=description)

    return drawing


def _deltas(deltas: list[Delta], x_title: str) -> Any:
    def drawing(palette: Palette) -> object:
        description = _("The score delta of every pair, by kind of error and set.")
        return delta_dots(deltas, palette, x_title=x_title, description=description)

    return drawing


def _whiskers(points: list[Point], x_title: str) -> Any:
    def drawing(palette: Palette) -> object:
        description = _("The mutation score of each set, with 95% intervals.")
        return points_and_whiskers(points, palette, x_title=x_title, description=description, domain=(0.0, 1.0))

    return drawing
