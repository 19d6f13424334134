"""A table as LaTeX (booktabs), in pieces: a float or, where it has many rows, a longtable; wide ones sideways."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from agreement.writers.columns import PrintedColumn, Tabular, interval, printed_columns, remarks, text_of, value_of
from agreement.writers.latex_layout import Layout, Measured, layout_of

ROWS_ON_A_PAGE = 40
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    # At the start of a row LaTeX would read a bracket or a star as an option of the line end before it.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "Δ": r"$\Delta$",
    "χ²": r"$\chi^2$",
    "−": "$-$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "–": "--",
    "—": "---",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
}
# LaTeX would turn adjacent hyphens into a dash.
_SPECIAL = re.compile("|".join([*map(re.escape, _ESCAPES), "-(?=-)"]))
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\s]+")
_BEYOND_LATIN = re.compile(r"[\u2e80-\uffef]")


def escaped(text: str) -> str:
    """Text escaped so that LaTeX prints it unchanged; line ends and control characters become one blank."""
    plain = _CONTROLS.sub(" ", text).strip()
    return _SPECIAL.sub(lambda match: _ESCAPES.get(match[0], "-{}"), plain)


def stream_latex(table: Tabular, *, caption: str, label: str, notes: Sequence[str] = ()) -> Iterator[str]:
    """The file, in pieces; its first lines name the packages that it needs. ``notes`` are printed below the table."""
    columns = printed_columns(table)
    layout = layout_of(table, columns)
    long = len(table.rows) > ROWS_ON_A_PAGE
    yield from _packages(table, columns, layout, long=long, caption=caption)
    below = [*notes, *(f"{heading} in all rows: {value}" for heading, value in layout.same)]
    n_parts = len(layout.parts)
    for number, part in enumerate(layout.parts, start=1):
        of_part = f"{caption} (part {number} of {n_parts})" if n_parts > 1 else caption
        label_of_part = f"{label}-{number}" if n_parts > 1 else label
        write = _long_table if long else _float
        on_rows = [f"{name}: {remark}" for name, remark in remarks(table, [each.column for each in part])]
        yield from write(table, part, layout, caption=of_part, label=label_of_part, notes=[*below, *on_rows])


def _packages(
    table: Tabular, columns: Sequence[PrintedColumn], layout: Layout, *, long: bool, caption: str
) -> Iterator[str]:
    breaks = any(each.breaks for part in layout.parts for each in part)
    names = ["booktabs"]
    if long:
        names += ["longtable", *(["pdflscape"] if layout.sideways else []), *(["array"] if breaks else [])]
    else:
        names += [*(["rotating"] if layout.sideways else []), *(["tabularx"] if breaks else [])]
    yield from (rf"% \usepackage{{{name}}}" + "\n" for name in names)
    # Names of candidates come first in every table, so the first rows show whether it holds other scripts.
    beginning = islice(table.rows, ROWS_ON_A_PAGE)
    if _BEYOND_LATIN.search(caption) or any(_has_foreign(row, columns) for row in beginning):
        yield "% Holds Chinese: compile with XeLaTeX or LuaLaTeX and the package xeCJK or luatexja.\n"


def _float(
    table: Tabular, part: Sequence[Measured], layout: Layout, *, caption: str, label: str, notes: Sequence[str]
) -> Iterator[str]:
    """One float; tabularx, as wide as the line, where cells are broken."""
    place, at = ("sidewaystable", "[p]") if layout.sideways else ("table", "[tbp]")
    breaks = any(each.breaks for each in part)
    shape = _shape(part, r">{\raggedright\arraybackslash}X")
    body, width = ("tabularx", r"{\linewidth}") if breaks else ("tabular", "")
    opening = [
        *(rf"\begin{{{place}}}{at}", r"\centering", *_size(layout)),
        *(rf"\caption{{{escaped(caption)}}}", rf"\label{{{label}}}"),
        *(rf"\begin{{{body}}}{width}{{@{{}}{shape}@{{}}}}", r"\toprule", _headings(part), r"\midrule"),
    ]
    yield "\n".join(opening) + "\n"
    yield from _rows(table, part)
    yield f"\\bottomrule\n\\end{{{body}}}\n"
    yield from (rf"\par{{\footnotesize {escaped(note)}}}" + "\n" for note in notes)
    yield f"\\end{{{place}}}\n"


def _long_table(
    table: Tabular, part: Sequence[Measured], layout: Layout, *, caption: str, label: str, notes: Sequence[str]
) -> Iterator[str]:
    """A table over several pages. Columns whose cells are broken share half of the line."""
    n_broken = sum(each.breaks for each in part)
    share = rf">{{\raggedright\arraybackslash}}p{{{0.5 / max(1, n_broken):.2f}\linewidth}}"
    opening = [
        *([r"\begin{landscape}"] if layout.sideways else []),
        *(r"\begingroup", *_size(layout)),
        rf"\begin{{longtable}}{{@{{}}{_shape(part, share)}@{{}}}}",
        rf"\caption{{{escaped(caption)}}}\label{{{label}}} \\",
        *(r"\toprule", _headings(part), r"\midrule", r"\endfirsthead"),
        *(r"\toprule", _headings(part), r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"),
    ]
    yield "\n".join(opening) + "\n"
    yield from _rows(table, part)
    yield "\\end{longtable}\n"
    yield from (rf"\par{{\footnotesize {escaped(note)}}}" + "\n" for note in notes)
    yield "\\endgroup\n" + ("\\end{landscape}\n" if layout.sideways else "")


def _size(layout: Layout) -> list[str]:
    return [r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"] if layout.small else [r"\small"]


def _shape(part: Sequence[Measured], broken: str) -> str:
    return "".join(broken if each.breaks else "l" if each.column.is_text else "r" for each in part)


def _headings(part: Sequence[Measured]) -> str:
    return " & ".join(map(_heading, part)) + r" \\"


def _heading(measured: Measured) -> str:
    """The heading; in several lines where it is wider than its cells."""
    words = escaped(measured.column.heading)
    if len(measured.heading) == 1 or measured.breaks:
        return words
    side = r"\raggedright" if measured.column.is_text else r"\raggedleft"
    return rf"\parbox[b]{{{measured.points:.0f}pt}}{{{side} {words}\strut}}"


def _rows(table: Tabular, part: Sequence[Measured]) -> Iterator[str]:
    for row in table.rows:
        yield " & ".join(_cell(row, each.column) for each in part) + " \\\\\n"
    if not len(table.rows):
        yield rf"\multicolumn{{{max(1, len(part))}}}{{@{{}}l@{{}}}}{{No rows}} \\" + "\n"


def _cell(row: Sequence[Any], column: PrintedColumn) -> str:
    if column.is_text:
        return escaped(text_of(row, column))
    text = escaped(value_of(row, column))
    ends = interval(row, column)
    return rf"{text} {{\scriptsize {escaped(ends)}}}" if ends else text


def _has_foreign(row: Sequence[Any], columns: Sequence[PrintedColumn]) -> bool:
    return any(column.is_text and _BEYOND_LATIN.search(str(row[column.place])) for column in columns)
