"""A table as LaTeX (booktabs), in pieces: one float, or a longtable where it does not fit on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from agreement.writers.columns import PrintedColumn, Tabular, interval, printed_columns, remarks, text_of, value_of

ROWS_ON_A_PAGE = 40
NARROW = 8  # columns that fit at the usual size
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


def stream_latex(table: Tabular, *, caption: str, label: str) -> Iterator[str]:
    """The file, in pieces; needs booktabs, and longtable where the table is long."""
    columns = printed_columns(table)
    long = len(table.rows) > ROWS_ON_A_PAGE
    shape = "".join("l" if column.is_text else "r" for column in columns)
    heading = " & ".join(_heading(column) for column in columns) + r" \\"
    # Names of candidates come first in every table, so the first rows show whether it holds other scripts.
    beginning = islice(table.rows, ROWS_ON_A_PAGE)
    foreign = bool(_BEYOND_LATIN.search(caption)) or any(_has_foreign(row, columns) for row in beginning)
    yield rf"% \usepackage{{booktabs}}{'' if not long else ' and longtable'}" + "\n"
    if foreign:
        yield "% Holds Chinese: compile with XeLaTeX or LuaLaTeX and the package xeCJK or luatexja.\n"
    size = [r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"] if len(columns) > NARROW else [r"\small"]
    if long:
        opening = [
            r"\begingroup",
            *size,
            rf"\begin{{longtable}}{{@{{}}{shape}@{{}}}}",
            rf"\caption{{{escaped(caption)}}}\label{{{label}}} \\",
            *(r"\toprule", heading, r"\midrule", r"\endfirsthead"),
            *(r"\toprule", heading, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"),
        ]
    else:
        opening = [
            *(r"\begin{table}[tbp]", r"\centering", *size),
            *(rf"\caption{{{escaped(caption)}}}", rf"\label{{{label}}}"),
            *(rf"\begin{{tabular}}{{@{{}}{shape}@{{}}}}", r"\toprule", heading, r"\midrule"),
        ]
    yield "\n".join(opening) + "\n"
    for row in table.rows:
        yield " & ".join(_cell(row, column) for column in columns) + " \\\\\n"
    yield "\\end{longtable}\n" if long else "\\bottomrule\n\\end{tabular}\n"
    if not long:
        for name, remark in remarks(table, columns):
            yield rf"\par{{\footnotesize {escaped(name)}: {escaped(remark)}}}" + "\n"
    yield "\\endgroup\n" if long else "\\end{table}\n"


def _heading(column: PrintedColumn) -> str:
    return escaped(column.heading)


def _cell(row: Sequence[Any], column: PrintedColumn) -> str:
    if column.is_text:
        return escaped(text_of(row, column))
    text = escaped(value_of(row, column))
    ends = interval(row, column)
    return rf"{text} {{\scriptsize {escaped(ends)}}}" if ends else text


def _has_foreign(row: Sequence[Any], columns: Sequence[PrintedColumn]) -> bool:
    return any(column.is_text and _BEYOND_LATIN.search(str(row[column.place])) for column in columns)
