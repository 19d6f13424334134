"""An artefact from finished reports: its rows, its figures, and what is missing from them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agreement.kinds import Figure
from agreement.models import Report
from agreement.replication import gaps
from agreement.replication.gaps import Gap
from agreement.replication.heading_words import MAX_NAMES, english_headings
from agreement.replication.manifest import Artefact, Row, is_among
from agreement.reports.figures import figures_of
from agreement.reports.stored import table_of
from agreement.reports.tables import Table
from consilium.core.phrases import AFTER_LABEL, BETWEEN_PHRASES, Phrase

# Beside the columns of an artefact, because a figure never stands without them where the report has them.
NOTE = "note"
ALWAYS = (NOTE, "endpoint_kind")
LOW, HIGH = "low", "high"  # ends of an interval: of a figure by name (mf1_low), or of the figure in the column before
MAX_REASONS = 3
# Columns about the threshold, and the remark that is about them alone: some responses have no CACS@k.
OF_K = ("cacs", "pass_at_k")
ABOUT_K = re.compile(r"\d+ responses? with fewer than k positive criteria")


class State(StrEnum):
    """How much of an artefact there is; ``can be made``: nobody has asked for its report yet.

    What is not made from data, or of no data by this version, counts among no others.
    """

    MADE = "made"
    IN_PART = "in part"
    LACKS_DATA = "lacks data"
    CAN_BE_MADE = "can be made"
    NOT_FROM_DATA = "not made from data"


@dataclass(frozen=True)
class Built:
    """The table of an artefact, the figures with their reports, and the gaps."""

    table: Table
    figures: list[tuple[Report, Figure]]
    gaps: list[Gap]

    @property
    def state(self) -> State:
        """By its rows and gaps."""
        if not self.table.rows:
            return State.LACKS_DATA
        return State.IN_PART if self.gaps else State.MADE


def built(artefact: Artefact, reports: Sequence[Report]) -> Built:
    """The artefact from the reports that were made for it."""
    table = rows_of(artefact, reports)
    if not table.rows:
        return Built(table, [], [_without_rows(artefact, reports)])
    rows = table.dicts()
    leading = [figure for figure, _low in with_intervals(artefact)]
    if leading and all(row[name] is None for row in rows for name in leading):
        return Built(Table(table.columns, [], table.text), [], _without_figures(artefact, leading, rows))
    figures = list(_figures(artefact, reports))
    return Built(table, figures, list(_gaps(artefact, table, figures, reports)))


def _without_rows(artefact: Artefact, reports: Sequence[Report]) -> Gap:
    """Why the reports have no rows of an artefact."""
    why = artefact.why_empty(reports) if artefact.why_empty else artefact.empty
    return why or artefact.step.about(Phrase("The report has no rows for it."))


def _without_figures(artefact: Artefact, leading: list[str], rows: list[Row]) -> list[Gap]:
    """Why the rows of an artefact have no value of its leading figures."""
    own = _no_value(leading, rows)
    return [own, artefact.valueless] if artefact.valueless else [artefact.step.about(own.what)]


def rows_of(artefact: Artefact, reports: Sequence[Report]) -> Table:
    """The rows of the reports that belong to an artefact, with its columns and with a note where there is one."""
    columns: tuple[str, ...] = artefact.columns
    rows: list[list[object]] = []
    texts: set[str] = {artefact.by} if artefact.by else set()
    for report in reports:
        table = _table(report, artefact.table)
        if table is None:
            continue
        columns = (*artefact.columns, *(name for name in ALWAYS if name in table.columns))
        texts |= {*table.text, *ALWAYS}
        places = [table.columns.index(name) for name in columns]
        conditions = [(table.columns.index(name), values) for name, values in artefact.where.items()]
        first = [report.parameters[artefact.by]] if artefact.by else []
        note = columns.index(NOTE) if NOTE in columns else None
        for row in table.rows:
            if all(is_among(row[place], values) for place, values in conditions):
                own = [row[place] for place in places]
                if note is not None and own[note]:
                    own[note] = _note_on(columns, table.columns, own[note])
                rows.append([*first, *own])
    columns = (artefact.by, *columns) if artefact.by else columns
    return Table(columns, rows, tuple(name for name in columns if name in texts))


def _note_on(columns: tuple[str, ...], all_columns: tuple[str, ...], note: str) -> str:
    """A note without its remarks on columns that the artefact does not have."""
    kept = []
    has_k = any(name == "k" or name.startswith(OF_K) for name in columns)
    for names, is_first, phrase in _remarks(note, all_columns):
        if not has_k and ABOUT_K.fullmatch(phrase):
            continue  # it is given once for a row, whatever figures stand in it
        own = [name for name in names if name in columns]
        if own or not names:
            kept.append(f"{', '.join(own)}{AFTER_LABEL}{phrase}" if own and is_first else phrase)
    return BETWEEN_PHRASES.join(kept)


def _remarks(note: str, columns: Collection[str]) -> Iterator[tuple[list[str], bool, str]]:
    """The remarks of a note, each with the columns that it is about, and whether it has their names before it.

    A remark without names is about the same columns as the one before it; before any names, about the whole row.
    """
    names: list[str] = []
    for remark in filter(None, note.split(BETWEEN_PHRASES)):
        label, colon, phrase = remark.partition(AFTER_LABEL)
        own = label.split(", ") if colon else []
        is_labelled = bool(own) and set(own) <= set(columns)
        if is_labelled:
            names = own
        yield names, is_labelled, phrase if is_labelled else remark


def _table(report: Report, name: str) -> Table | None:
    try:
        return table_of(report, name)
    except KeyError:
        return None


def _figures(artefact: Artefact, reports: Sequence[Report]) -> Iterator[tuple[Report, Figure]]:
    if artefact.figures:
        for report in reports:
            yield from ((report, figure) for figure in figures_of(report) if is_among(figure.name, artefact.figures))


def _gaps(
    artefact: Artefact, table: Table, figures: list[tuple[Report, Figure]], reports: Sequence[Report]
) -> Iterator[Gap]:
    rows = table.dicts()
    for need in artefact.needs:
        yield from need.in_rows(rows, reports)
    for column, values in artefact.expects.items():
        present = {str(row[column]) for row in rows}
        missing = [value for value in values if value not in present]
        if missing:
            how = artefact.empty or gaps.TAGS
            yield how.about(
                Phrase(
                    "%(have)s of %(all)s are there; missing: %(names)s.",
                    have=len(values) - len(missing),
                    all=len(values),
                    names=", ".join(missing[:MAX_NAMES]),
                )
            )
    yield from _without_value(artefact, rows)
    yield from _without_interval(artefact, rows)
    left_out = sum(
        not any(is_among(figure.name, (pattern,)) for _report, figure in figures) for pattern in artefact.figures
    )
    if left_out:
        yield Gap(
            Phrase(
                "Drawings that are missing, because their values are missing or all the same: %(n)s of %(all)s.",
                n=left_out,
                all=len(artefact.figures),
            )
        )
    for check in artefact.checks:
        yield from check(rows)
    yield from artefact.partly


def with_intervals(artefact: Artefact) -> list[tuple[str, str]]:
    """The figures of an artefact that have intervals, each with the column of the lower end."""
    columns = artefact.columns
    ends = [(place, name) for place, name in enumerate(columns) if name == LOW or name.endswith(f"_{LOW}")]
    figures = [columns[place - 1] if name == LOW else name.removesuffix(f"_{LOW}") for place, name in ends]
    return [(figure, name) for figure, (_place, name) in zip(figures, ends, strict=True) if figure in columns]


def _without_value(artefact: Artefact, rows: list[Row]) -> Iterator[Gap]:
    """Columns that are empty in every row; ends of intervals have a gap of their own."""
    empty = [
        name
        for name in artefact.columns
        if name.rpartition("_")[2] not in (LOW, HIGH) and all(row[name] is None for row in rows)
    ]
    if empty:
        yield _no_value(empty, rows)


def _no_value(names: list[str], rows: list[Row]) -> Gap:
    """Figures without a value in any row, by their headings, with the reasons that the rows give."""
    headings = english_headings(names)
    reasons = _reasons_for(names, rows)
    if not reasons:
        return Gap(Phrase("No row has a value: %(names)s.", names=headings, columns=names))
    why = BETWEEN_PHRASES.join(reasons[:MAX_REASONS])
    return Gap(Phrase("No row has a value: %(names)s (%(why)s).", names=headings, columns=names, why=why))


def _reasons_for(names: list[str], rows: list[Row]) -> list[str]:
    """The remarks in the rows that are about one of the columns, then those about whole rows, without names."""
    own: dict[str, None] = {}
    of_rows: dict[str, None] = {}
    for row in rows:
        for about, _is_first, phrase in _remarks(str(row.get(NOTE) or ""), {*row, *names}):
            if set(about) & set(names):
                own[phrase] = None
            elif not about:
                of_rows[phrase] = None
    return list({**own, **of_rows})


def _without_interval(artefact: Artefact, rows: list[Row]) -> Iterator[Gap]:
    """Figures that are defined and have no interval."""
    defined = [row[low] for row in rows for figure, low in with_intervals(artefact) if row[figure] is not None]
    without = sum(low is None for low in defined)
    if without:
        yield Gap(
            Phrase("%(n)s of %(all)s numbers have no interval.", n=without, all=len(defined)),
            Phrase("An interval needs decisions on more cases; the column “note” says how many."),
        )
