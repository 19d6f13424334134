"""The files of a finished report: each table and figure in every format, the workbook, and one archive of everything.

The archive and its parts are the same bytes for the same report, whoever asks: its figures and words are English.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.utils import translation

from agreement.kinds import Figure
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.figures import figures_of
from agreement.reports.methods import methods_of
from agreement.reports.sentences import coder_in_words, rater_in_words
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Table
from agreement.writers import parquet
from agreement.writers.archive import Content, write_archive
from agreement.writers.columns import printed_columns
from agreement.writers.latex import stream_latex
from agreement.writers.markdown import stream_markdown
from agreement.writers.parquet import write_parquet
from agreement.writers.stata import write_stata
from agreement.writers.words import title_of
from agreement.writers.workbook import write_workbook
from consilium.figures.render import AS_ON_PAGE, Look, pdf_file, png_file, svg_file

XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
LATEX_TYPE = "application/x-tex; charset=utf-8"
MARKDOWN_TYPE = "text/markdown; charset=utf-8"
FIGURE_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
METHODS_TYPES = {"txt": "text/plain; charset=utf-8", "md": MARKDOWN_TYPE, "tex": LATEX_TYPE}
IN_MEMORY = 8 * 2**20  # bytes; a larger file is written to disk first
LARGEST_SHEET = 200_000  # rows; for a larger table other formats would take too long, so it has its CSV only
ARCHIVED_ENDINGS = ("xlsx", "tex", "md", "dta")  # beside CSV; Parquet is missing on servers without pyarrow
_RENDERERS: dict[str, Callable[[Figure, Look], bytes]] = {
    "svg": lambda figure, look: svg_file(figure.drawing, look).encode(),
    "png": lambda figure, look: png_file(figure.drawing, look=look),
    "pdf": lambda figure, look: pdf_file(figure.drawing, look),
}


ALL_PAIRS = "all"  # the slice of them
# Tables whose ranges are quantiles of simulated errors of a judge, at least in part.
SIMULATED = {"judge_error", "judges"}


def table_text(report: Report, name: str, ending: str) -> Iterator[str]:
    """A table as ``csv``, ``tex`` or ``md``, in pieces; KeyError where there is none of that name."""
    table = table_of(report, name)
    if ending == "csv":
        return table.csv()
    caption = f"{methods_of(report).title}: {title_of(report.kind, name)}{interval_words(report, name, table)}"
    notes = notes_under(report, table)
    if ending == "tex":
        label = f"tab:{report.public_id}-{name.replace('_', '-')}"
        return stream_latex(table, caption=caption, label=label, notes=notes)
    return stream_markdown(table, caption=caption, notes=notes)


def interval_words(report: Report, name: str, table: Table) -> str:
    """By which rule the intervals of a table were made, for its caption; empty where it has none."""
    return sentences.rule_in_caption(report) if _has_intervals(name, table) else ""


def notes_under(report: Report, table: Table) -> list[str]:
    """The notes under a printed table: who the raters A and B are, what the figures leave out, and which coverage is
    low.
    """
    return [*_who_is_who(report, table), *_reference_and_left_out(report, table), *_low_coverage(report, table)]


def _low_coverage(report: Report, table: Table) -> list[str]:
    """From which share of criteria on coverage counts as low, and who decided on them; empty for other tables."""
    facts = report.result["facts"]
    if "n_covered_little" not in table.columns or not facts.get("graded_by"):
        return []
    graded_by = rater_in_words(str(facts["graded_by"]))
    return [
        f"Coverage is low where fewer than {facts['below']}% of the positive criteria of a response are met, by "
        f"the decisions of {graded_by}"
    ]


def _who_is_who(report: Report, table: Table) -> list[str]:
    """A note on the raters that headings call A and B, as in “MF1, judge and A”; empty where none does."""
    columns = printed_columns(table)
    if not any(re.search(r"\b[AB]\b", column.heading) for column in columns):
        return []
    parameters = report.parameters
    prefix = next((prefix for prefix in ("rater", "group", "judge") if f"{prefix}_a" in parameters), "")
    if not prefix:
        return []
    named = [str(parameters[f"{prefix}_{letter}"]) for letter in "ab"]
    groups = prefix == "group"
    in_words = coder_in_words if report.kind == Report.Kind.FAILURES else rater_in_words
    a, b = (in_words(name if ":" in name or not groups else f"group:{name}") for name in named)
    return [f"A is {a}; B is {b}"]


def _reference_and_left_out(report: Report, table: Table) -> list[str]:
    """Which of two raters is the reference, and how many pairs the figures leave out and why, by the row of all pairs;
    empty for tables of other comparisons.
    """
    if "rater_b" not in report.parameters or not {"slice", "n_cannot"} <= set(table.columns):
        return []
    slices = table.columns.index("slice")
    everything = next((row for row in table.rows if row[slices] == ALL_PAIRS), None)
    if everything is None:
        return []
    counts = dict(zip(table.columns, everything, strict=True))
    if report.kind == Report.Kind.AGREEMENT:  # its table of all slices has no column of what judges left undecided
        counts = table_of(report, "candidates").dicts()[0]
    words = sentences.left_out(counts, report.result.get("facts", {}).get("judged_by") or "judge")
    return [f"The reference is {rater_in_words(str(report.parameters['rater_a']))}", words.removesuffix(".")]


def _has_intervals(name: str, table: Table) -> bool:
    """Whether a table has an interval by the rule of its report; ranges of simulated errors have none."""
    ends = [place for place, column in enumerate(table.columns) if column.endswith("low")]
    return name not in SIMULATED and any(row[place] is not None for row in table.rows for place in ends)


def table_stata(report: Report, name: str) -> IO[bytes]:
    """A table as a data file of Stata, read from the start; KeyError where there is none of that name."""
    table = table_of(report, name)
    return put_together(lambda file: write_stata(file, name, table))


def table_parquet(report: Report, name: str) -> IO[bytes]:
    """A table as a Parquet file, read from the start; KeyError where there is none of that name."""
    table = table_of(report, name)
    return put_together(lambda file: write_parquet(file, table))


def figure_bytes(report: Report, name: str, ending: str, look: Look = AS_ON_PAGE) -> bytes:
    """A figure as ``svg``, ``png`` or ``pdf``; KeyError where there is none of that name."""
    return rendered({figure.name: figure for figure in figures_of(report)}[name], ending, look)


def rendered(figure: Figure, ending: str, look: Look = AS_ON_PAGE) -> bytes:
    """A figure as ``svg``, ``png`` or ``pdf``."""
    return _RENDERERS[ending](figure, look)


def methods_text(report: Report, ending: str) -> str:
    """The methods paragraph as ``txt``, ``md`` or ``tex``."""
    methods = methods_of(report)
    return {"txt": methods.text, "md": methods.markdown, "tex": methods.latex}[ending]


def workbook(report: Report, *names: str) -> IO[bytes]:
    """The named tables, or all, as a workbook with the methods on its last sheet; read from the start. KeyError where
    there is no table of a name. If all tables are wanted, those above `LARGEST_SHEET` are left out, and the last sheet
    says so.
    """
    tables = [(name, table_of(report, name)) for name in names or table_names(report)]
    large = {} if names else {name: len(table.rows) for name, table in tables if len(table.rows) > LARGEST_SHEET}
    kept = [(name, table) for name, table in tables if name not in large]
    methods = methods_of(report)
    paragraphs = [*methods.paragraphs, *methods.sources]
    paragraphs += [f"Left out here: {name}, {n:,} rows. See {name}.csv." for name, n in large.items()]
    return put_together(lambda file: write_workbook(file, kept, paragraphs))


def archive(report: Report) -> IO[bytes]:
    """Everything as one ZIP, read from the start."""
    return put_together(lambda file: write_archive(file, archived(report)))


def archived(report: Report) -> Iterator[tuple[str, Content]]:
    """The files of the archive by their names, in their order; SHA256SUMS comes with the archive itself."""
    methods = methods_of(report)
    yield "methods.md", methods.markdown.encode()
    yield "methods.tex", methods.latex.encode()
    yield "methods.txt", methods.text.encode()
    with translation.override("en"):
        figures = [figure for figure in figures_of(report) if not figure.is_on_request]
        tables = [(name, table_of(report, name)) for name in table_names(report)]
        yield "report.json", description(report, methods.title, tables, figures).encode()
        yield "report.xlsx", _read_whole(workbook(report))
        for name, table in tables:
            yield f"tables/{name}.csv", table.csv()
            if len(table.rows) <= LARGEST_SHEET:
                yield from _in_other_formats(report, name)
        for figure in figures:
            for ending, render in _RENDERERS.items():
                yield f"figures/{figure.name}.{ending}", render(figure, AS_ON_PAGE)


def _in_other_formats(report: Report, name: str) -> Iterator[tuple[str, Content]]:
    """A table as it is downloaded in every other format that all servers have."""
    for ending in ARCHIVED_ENDINGS:
        write = TABLE_FORMATS[ending].write
        yield f"tables/{name}.{ending}", _read_whole(write(report, name)) if write else table_text(report, name, ending)


def _read_whole(file: IO[bytes]) -> bytes:
    with file:
        return file.read()


def description(report: Report, title: str, tables: Iterable[tuple[str, Table]], figures: Iterable[Figure]) -> str:
    """``report.json``: everything needed to compute the same report again, and a description of the other files."""
    document: dict[str, Any] = {
        "report": report.public_id,
        "kind": report.kind,
        "title": title,
        "benchmark": {"slug": report.benchmark.slug, "title": report.benchmark.title},
        "parameters": report.parameters,
        "seed": report.seed,
        "interval": report.interval or None,
        "input_digest": report.input_digest,
        "software": report.software,
        "created_at": _moment(report.created_at),
        "started_at": _moment(report.started_at),
        "finished_at": _moment(report.finished_at),
        "recomputes": report.recomputes.public_id if report.recomputes else None,
        "facts": report.result.get("facts", {}),
        "notes": report.result.get("notes", []),
        "tables": {name: {"columns": list(table.columns), "rows": len(table.rows)} for name, table in tables},
        "figures": {
            figure.name: {"title": str(figure.title), "caption": str(figure.caption), "table": figure.table}
            for figure in figures
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def put_together(write: Callable[[IO[bytes]], None]) -> IO[bytes]:
    """A file as ``write`` writes it, read from the start."""
    file: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # whoever asked for it closes it
    write(file)
    file.seek(0)
    return file


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A format in which a table is downloaded: its name on pages, its type in HTTP, and how a binary file is written.

    ``write`` returns the file, read from the start; None for text, which `table_text` writes in pieces.
    """

    label: str
    content_type: str
    write: Callable[[Report, str], IO[bytes]] | None = None


# By the ending of the file, in the order of the page.
TABLE_FORMATS = {
    "csv": TableFormat("CSV", "text/csv; charset=utf-8"),
    "xlsx": TableFormat("XLSX", XLSX_TYPE, workbook),
    "tex": TableFormat("LaTeX", LATEX_TYPE),
    "md": TableFormat("Markdown", MARKDOWN_TYPE),
    "dta": TableFormat("Stata", "application/x-stata-dta", table_stata),
}
if parquet.is_available():
    TABLE_FORMATS["parquet"] = TableFormat("Parquet", "application/vnd.apache.parquet", table_parquet)
