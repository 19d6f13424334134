"""The page of a report on composition: one dimension in detail, the cross table, conversations, rubrics, responses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from agreement.composition.dimensions import IMPORTED, SEVERAL, SINGLE, WRITTEN
from agreement.composition.tables import OF_CRITERIA, OF_RESPONSES
from agreement.kinds.kind import Context
from agreement.kinds.page_table import PageTable, first_rows
from agreement.models import Report
from agreement.reports.numbers import Number, number
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Row
from agreement.scoreboard.case_sets import FIRST
from annotation.models import ReferenceItem
from consilium.core.i18n import listed
from rubrics.models import Candidate
from rubrics.slice_words import KINDS, value_words

_DIMENSIONS = {
    "reference": gettext_lazy("Reference level"),
    "turns": gettext_lazy("Turns of the user"),
    "dataset": gettext_lazy("Dataset"),
    "origin": gettext_lazy("Origin"),
    "level": gettext_lazy("Level of the criteria"),
    "section": pgettext_lazy("of a rubric", "Section"),
    "cluster": gettext_lazy("Cluster"),
}
_VALUES = {
    "turns": {SINGLE: gettext_lazy("One turn"), SEVERAL: gettext_lazy("Several turns")},
    "origin": {WRITTEN: gettext_lazy("Written here"), IMPORTED: gettext_lazy("Imported")},
    "reference": {str(ReferenceItem.Status.AMBIGUOUS): ReferenceItem.Status.AMBIGUOUS.label},
}
MEASURES = {
    "messages": gettext_lazy("Messages"),
    "user_turns": gettext_lazy("Turns of the user"),
    "characters": gettext_lazy("Characters of the conversation"),
    "last_user_characters": gettext_lazy("Characters of the last user message"),
    "criteria": gettext_lazy("Criteria per case"),
    "positive_criteria": gettext_lazy("Criteria with positive points"),
    "negative_criteria": gettext_lazy("Criteria with negative points"),
    "points_positive": gettext_lazy("Sum of positive points"),
    "points_negative": gettext_lazy("Sum of negative points"),
    OF_CRITERIA: gettext_lazy("Characters of a criterion"),
    OF_RESPONSES: gettext_lazy("Characters of a response"),
}

# The kinds of tags of criteria on the page; the file has all of them.
SHOWN_KINDS = ("sign", "axis", "level", "section")


@dataclass(frozen=True)
class Choice:
    """An entry of the menu of dimensions."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Tile:
    """A number at the top of the page, and what it is of."""

    label: str
    shown: str
    detail: str = ""


def dimension_label(name: str) -> str:
    """A dimension in words; one that a benchmark named itself keeps its words."""
    words = KINDS.get(name) or _DIMENSIONS.get(name)
    if words:
        return str(words)
    plain = name.removesuffix(FIRST)
    if plain != name:
        return _("%(dimension)s, first label") % {"dimension": dimension_label(plain)}
    return name.replace("_", " ").capitalize()


def value_label(name: str, value: str) -> str:
    """A value of a dimension in words; empty: cases without one."""
    if not value:
        return _("No label")
    plain = name.removesuffix(FIRST)
    if plain in _VALUES:
        return str(_VALUES[plain].get(value, value))
    return value_words(plain, value)


def figure_name(dimension: str) -> str:
    """The name of the figure of a dimension: letters, digits and underscores."""
    return f"cases_{re.sub(r'[^A-Za-z0-9]+', '_', dimension).strip('_').lower()}"


def body(report: Report, sort: str) -> Context:
    """The page with the first dimension; see `body_of_slice`."""
    return body_of_slice(report, sort, "")


def body_of_slice(report: Report, sort: str, part: str) -> Context:
    """The page with the dimension called ``part`` in detail, or the first where there is none of that name."""
    facts = report.result["facts"]
    names = facts["dimensions"]
    part = part if part in names else names[0]
    rows = table_of(report, "composition").dicts()
    has_slice = "enrichment" in table_names(report)
    return {
        "facts": facts,
        "part": part,
        "part_label": dimension_label(part),
        "menu": [Choice(name, dimension_label(name), name == part) for name in names],
        "tiles": _tiles(facts),
        "overview": _overview(report),
        "chosen": _chosen(rows, part),
        "chosen_figure": figure_name(part),
        "enriched": _enriched(report, part) if has_slice else None,
        "cross": _cross(report) if facts["row"] else None,
        "conversations": _measures(report, "conversations", _("Conversations")),
        "rubrics": _measures(report, "rubrics", _("Rubrics")),
        "criteria": _criteria(report),
        "responses": _responses(report),
        "has_criteria": facts["n_criteria"] > 0,
        "has_responses": facts["n_responses"] > 0,
    }


def _tiles(facts: Row) -> list[Tile]:
    n = facts["n_cases"]
    of_all = _("of %(n)s in the benchmark") % {"n": f"{facts['n_cases_all']:,}"} if facts["subset"] else ""
    graded = _("in the rubrics of %(n)s cases") % {"n": f"{facts['n_cases_with_criteria']:,}"}
    return [
        Tile(_("Cases"), f"{n:,}", of_all),
        Tile(_("With one turn of the user"), _percent(100 * facts["n_single_turn"] / n), f"{facts['n_single_turn']:,}"),
        Tile(_("Criteria"), f"{facts['n_criteria']:,}", graded),
        Tile(
            _("Responses"),
            f"{facts['n_responses']:,}",
            _("by %(n)s candidates") % {"n": f"{facts['n_candidates']:,}"},
        ),
    ]


def _count(n: int | None) -> str:
    return "–" if n is None else f"{n:,}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}%"


def _plain(value: float | None, digits: int = 1) -> str:
    return Number(value, digits=digits).shown or "–"


def _overview(report: Report) -> PageTable:
    def cells(row: Row) -> list[str]:
        return [
            dimension_label(row["dimension"]),
            *(_count(row[name]) for name in ("n_values", "n_labelled", "n_unlabelled", "n_several")),
            _plain(row["mean_labels"], 2),
        ]

    return PageTable(
        "dimensions",
        _("All dimensions"),
        [
            (_("Dimension"), False),
            (_("Values"), True),
            (_("Cases with a label"), True),
            (_("Without"), True),
            (_("With several"), True),
            (_("Labels per labelled case"), True),
        ],
        {"": [cells(row) for row in table_of(report, "dimensions").dicts()]},
    )


def _chosen(rows: Sequence[Row], part: str) -> PageTable:
    own = [row for row in rows if row["dimension"] == part]
    has_several = any(row["n"] != row["n_first"] for row in own)

    def cells(row: Row) -> list[str]:
        first = [_count(row["n_first"]), _percent(row["percent_first"])] if has_several else []
        return [value_label(part, row["value"]), _count(row["n"]), _percent(row["percent"]), *first]

    groups, more = first_rows(own, cells)
    n = {"n": _count(own[0]["n_cases"] if own else 0)}
    remark = _("Shares are of all %(n)s cases.") % n
    if has_several:
        remark = (
            _(
                "Shares are of all %(n)s cases. A case with several labels counts for each of them, so that shares "
                "add up to more than 100%%. By first labels each case counts once."
            )
            % n
        )
    return PageTable(
        "composition",
        dimension_label(part),
        [
            (_("Value"), False),
            (_("Cases"), True),
            (_("Share"), True),
            *([(_("First label"), True), (_("Share by first label"), True)] if has_several else []),
        ],
        groups,
        remark=" ".join(filter(None, [remark, more])),
    )


def _enriched(report: Report, part: str) -> PageTable:
    def cells(row: Row) -> list[str]:
        return [
            value_label(part, row["value"]),
            f"{_count(row['n_inside'])} ({_percent(row['percent_inside'])})",
            f"{_count(row['n_outside'])} ({_percent(row['percent_outside'])})",
            number(row, "ratio", digits=2).cell,
            number(row, "enrichment", digits=2).cell,
        ]

    own = [row for row in table_of(report, "enrichment").dicts() if row["dimension"] == part]
    groups, more = first_rows(own, cells)
    remark = _(
        "The ratio compares the share in the slice with that in the other cases. Enrichment is the share in the slice "
        "divided by that in all cases. Intervals: Koopman’s score interval, 95%, not corrected for the number of rows."
    )
    return PageTable(
        "enrichment",
        _("The slice and the other cases"),
        [
            (_("Value"), False),
            (_("In the slice"), True),
            (_("In the other cases"), True),
            (_("Ratio"), True),
            (_("Enrichment"), True),
        ],
        groups,
        remark=" ".join(filter(None, [remark, more])),
    )


def _cross(report: Report) -> PageTable:
    facts = report.result["facts"]
    rows = table_of(report, "cross").dicts()
    columns = list(dict.fromkeys(row["column"] for row in rows))
    by_row: dict[str, list[Row]] = {}
    for row in rows:
        by_row.setdefault(row["row"], []).append(row)

    def cells(name: str) -> list[str]:
        own = by_row[name]
        total = _count(own[0]["n_row"])
        return [
            value_label(facts["row"], name),
            *(f"{_count(cell['n'])} ({_percent(cell['row_percent'])})" for cell in own),
            total,
        ]

    groups, more = first_rows([{"row": name} for name in by_row], lambda row: cells(row["row"]))
    remark = _("Cases, and their share of the row. The file also has the shares of the column and of all cases.")
    return PageTable(
        "cross",
        _("%(row)s by %(column)s") % {"row": dimension_label(facts["row"]), "column": dimension_label(facts["column"])},
        [
            (dimension_label(facts["row"]), False),
            *((value_label(facts["column"], column), True) for column in columns),
            (_("Cases"), True),
        ],
        groups,
        remark=" ".join(filter(None, [remark, more])),
    )


def _summary_columns(first: str, *more: str) -> list[tuple[str, bool]]:
    return [
        (first, False),
        *((label, True) for label in more),
        (_("Mean"), True),
        (pgettext("statistics", "SD"), True),
        (_("Median"), True),
        (_("Quartiles"), True),
        (_("Minimum"), True),
        (_("Maximum"), True),
    ]


def _summary_cells(row: Row) -> list[str]:
    quartiles = "–" if row["q1"] is None else f"{_plain(row['q1'])}–{_plain(row['q3'])}"
    if row["q1"] is not None and row["q1"] < 0:
        quartiles = _("%(low)s to %(high)s") % {"low": _plain(row["q1"]), "high": _plain(row["q3"])}
    return [
        *(_plain(row[name]) for name in ("mean", "sd", "median")),
        quartiles,
        *(_plain(row[name], 0) for name in ("minimum", "maximum")),
    ]


def _measures(report: Report, name: str, title: str) -> PageTable:
    rows = table_of(report, name).dicts()
    return PageTable(
        name,
        title,
        _summary_columns(_("Measure"), _("Number")),
        {"": [[str(MEASURES[row["measure"]]), _count(row["n"]), *_summary_cells(row)] for row in rows]},
        remark=_("Lengths are in code points. SD is that of a sample."),
    )


def _criteria(report: Report) -> PageTable:
    def cells(row: Row) -> list[str]:
        return [
            value_label(row["dimension"], row["value"]),
            _count(row["n"]),
            _percent(row["percent"]),
            *(_count(row[name]) for name in ("n_cases", "n_positive", "n_negative")),
            _plain(row["points_positive"], 0),
            _plain(row["points_negative"], 0),
        ]

    rows = table_of(report, "criteria").dicts()
    kinds = list(dict.fromkeys(row["dimension"] for row in rows))
    shown = [kind for kind in kinds if kind in SHOWN_KINDS] or kinds
    others = [dimension_label(kind) for kind in kinds if kind not in shown]
    groups, more = first_rows(
        [row for row in rows if row["dimension"] in shown], cells, lambda row: dimension_label(row["dimension"])
    )
    in_file = _("The file also has: %(kinds)s.") % {"kinds": listed(others)} if others else ""
    return PageTable(
        "criteria",
        _("Criteria by sign and tag"),
        [
            (_("Value"), False),
            (_("Criteria"), True),
            (_("Share"), True),
            (_("Cases"), True),
            (_("Positive"), True),
            (_("Negative"), True),
            (_("Positive points"), True),
            (_("Negative points"), True),
        ],
        groups,
        remark=" ".join(
            filter(None, [_("A criterion with several tags of one kind counts for each of them."), more, in_file])
        ),
        empty=_("There are no criteria."),
    )


def _responses(report: Report) -> PageTable:
    kinds: dict[Any, Any] = dict(Candidate.Kind.choices)

    def cells(row: Row) -> list[str]:
        return [
            row["candidate"],
            str(kinds.get(row["kind"], row["kind"])),
            *(_count(row[name]) for name in ("n", "n_cases")),
            *_summary_cells(row),
        ]

    columns = _summary_columns(_("Candidate"), _("Responses"), _("Cases"))
    groups, more = first_rows(table_of(report, "responses").dicts(), cells)
    return PageTable(
        "responses",
        _("Responses and their characters"),
        [columns[0], (_("Kind"), False), *columns[1:]],
        groups,
        remark=more,
        empty=_("There are no responses."),
    )
