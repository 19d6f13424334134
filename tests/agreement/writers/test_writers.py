"""Files for a paper: escapes by hand, formulas that stay text, and bytes that do not depend on the day."""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import agreement
import validation
from agreement.reports.tables import Table
from agreement.writers import latex, markdown
from agreement.writers.archive import write_archive
from agreement.writers.headings import FIGURES, HEADINGS, heading_of
from agreement.writers.workbook import write_workbook
from tests.agreement.writers.latex_structure import check_structure

COLUMNS = ("slice", "n_pairs", "mf1", "mf1_low", "mf1_high", "n_invalid", "note")
TEXT = ("slice", "note")
SMALL = Table(
    COLUMNS,
    [
        ["all", 1234, 0.8125, 0.7904, 0.8345, 0, ""],
        ["[50%] A_B & C|D", 7, None, None, None, 0, "mf1: no pairs"],
        ["小儿", 3, -0.00004, None, None, 0, ""],
    ],
    TEXT,
)


def test_a_table_in_latex() -> None:
    assert "".join(latex.stream_latex(SMALL, caption="100% of A & B", label="tab:x")) == (
        "% \\usepackage{booktabs}\n"
        "% Holds Chinese: compile with XeLaTeX or LuaLaTeX and the package xeCJK or luatexja.\n"
        "\\begin{table}[tbp]\n\\centering\n\\small\n"
        "\\caption{100\\% of A \\& B}\n\\label{tab:x}\n"
        "\\begin{tabular}{@{}lrr@{}}\n\\toprule\n"
        "Slice & Pairs & MF1 \\\\\n\\midrule\n"
        "All & 1,234 & 0.812 {\\scriptsize {[}0.790, 0.835{]}} \\\\\n"
        "{[}50\\%{]} A\\_B \\& C\\textbar{}D & 7 & -- \\\\\n"
        "小儿 & 3 & 0.000 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
        "\\par{\\footnotesize {[}50\\%{]} A\\_B \\& C\\textbar{}D: MF1: no pairs}\n"
        "\\end{table}\n"
    )


def headings_of(table: Table) -> list[list[str]]:
    return check_structure("".join(latex.stream_latex(table, caption="c", label="tab:x", notes=("A is one",))))


def wide(n_figures: int, *, text: str = "short", n_rows: int = 2) -> Table:
    figures = [f"figure_{n}" for n in range(n_figures)]
    columns = (*("candidate", "source"), *(f"{name}{end}" for name in figures for end in ("", "_low", "_high")), "text")
    rows = [[f"c{n}", "same", *(0.5, 0.4, 0.6) * n_figures, f"{text} {n}"] for n in range(n_rows)]
    return Table(columns, rows, ("candidate", "source", "text"))


@pytest.mark.parametrize(
    ("table", "environments"),
    [
        (wide(2), ["table", "tabular"]),
        (wide(4), ["sidewaystable", "tabular"]),
        (wide(16), ["sidewaystable", "tabular"] * 3),
        (wide(4, text="a long sentence that takes more than a line of its column"), ["sidewaystable", "tabularx"]),
        (wide(1, text="a long sentence that takes more than a line of its column"), ["table", "tabularx"]),
        (wide(2, n_rows=41), ["longtable"]),
        (wide(4, n_rows=41), ["landscape", "longtable"]),
    ],
)
def test_a_table_stays_on_the_page(table: Table, environments: list[str]) -> None:
    """A figure with its interval takes about 16 letters, of which 80 fit on a line at the small size, 130 sideways."""
    text = "".join(latex.stream_latex(table, caption="c", label="tab:x"))
    check_structure(text)
    assert re.findall(r"\\begin\{(\w+)\}", text) == environments


def test_parts_repeat_what_names_a_row_and_say_which_part_they_are() -> None:
    table = wide(16)
    text = "".join(latex.stream_latex(table, caption="Scores", label="tab:x"))
    parts = headings_of(table)
    assert [part[0] for part in parts] == ["Candidate"] * 3
    assert [name for part in parts for name in part[1:]] == [*(f"Figure {n}" for n in range(16)), "Text"]
    assert "\\caption{Scores (part 2 of 3)}\n\\label{tab:x-2}" in text
    assert text.count("\\par{\\footnotesize Source in all rows: same}") == 3


@pytest.mark.slow
@given(
    n_figures=st.integers(0, 15),
    texts=st.lists(st.text(max_size=60), min_size=1, max_size=3),
    n_rows=st.sampled_from([0, 1, 3, 41]),
)
@example(n_figures=0, texts=[""], n_rows=1)
def test_any_table_has_as_many_cells_as_columns(n_figures: int, texts: list[str], n_rows: int) -> None:
    names = [f"figure_{n}" for n in range(n_figures)]
    columns = (*(f"name_{n}" for n in range(len(texts))), *names, "note")
    rows = [[*texts, *(n / 7 for n in range(n_figures)), "figure_0: too few"] for _row in range(n_rows)]
    headings_of(Table(columns, rows, (*columns[: len(texts)], "note")))


def test_no_internal_name_is_printed() -> None:
    columns = (
        *("slice", "setting", "rater", "finished_at", "prompt_hash", "criterion_axis", "p_holm", "severe_under"),
        *("endpoint_kind", "note"),
    )
    row = [
        *("tag:specialty:internal_medicine", "cacs_at_k", "group:A@final", "2026-11-26T09:44:09+00:00", "8dcb" * 16),
        *("context_awareness", 0.04, 0.25, "rules", "p_holm, severe_under: setting pass_at_k; n_lost: 3 of 4"),
    ]
    table = Table(columns, [row], ("slice", "setting", "rater", "criterion_axis", "endpoint_kind", "note"))
    text = "".join(markdown.stream_markdown(table, caption="t"))
    heading, _rule, cells = text.split("\n")[2:5]
    assert dict(zip(*(line.strip("| ").split(" | ") for line in (heading, cells)), strict=True)) == {
        "Slice": "specialty: internal medicine",
        "Setting": "CACS@k",
        "Rater": "A (after adjudication)",
        "Finished at": "2026-11-26 09:44 UTC",
        "Prompt (SHA-256)": "8dcb8dcb8dcb…",
        "Axis": "context awareness",
        "p, Holm": "0.040",
        "Severely too low": "0.250",
        "Answered by": "rules, no language model",
    }
    assert "p, Holm; Severely too low: setting Pass@k" in text


@pytest.mark.slow
def test_every_column_of_every_report_is_called_by_words() -> None:
    """Abbreviations that names of columns hold have headings of their own."""
    names = set()
    for package in (agreement, validation):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if ".migrations" not in module.name and ".commands" not in module.name:
                for constant, value in vars(import_module(module.name)).items():
                    if constant.endswith("COLUMNS") and isinstance(value, tuple):
                        names |= {name for name in value if isinstance(name, str)}
    assert len(names) > 400
    short = {
        *("abs", "auroc", "cacs", "cand", "cdf2", "chi2", "df", "ece", "f1", "jsd", "mf1", "ms", "qa", "qwk", "ref"),
        *("rli", "rps", "tvd", "w1", "pass", "a", "b", "q1", "q3", "p90", "100"),
    }
    for name in names:
        heading = heading_of(name)
        assert "_" not in heading, name
        if name not in HEADINGS and len(name) > 1 and not name.endswith(("_low", "_high", "_effective")):
            beyond = (
                heading.split(" ", 1)[1] if any(heading.startswith(known) for known in FIGURES.values()) else heading
            )
            assert not short & set(beyond.lower().split()), (name, heading)


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("a\\b{c}", r"a\textbackslash{}b\{c\}"),
        ("$5 #1 ~x^2", r"\$5 \#1 \textasciitilde{}x\textasciicircum{}2"),
        ("x--y---z", "x-{}-y-{}-{}-z"),
        ("-{}", r"-\{\}"),
        ("two\nlines\x00", "two lines"),
        ("*[2ex] starred", "{*}{[}2ex{]} starred"),
        ("κ −1 “q”", r"$\kappa$ $-$1 ``q''"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
    ],
)
def test_text_that_latex_would_run(given: str, printed: str) -> None:
    assert latex.escaped(given) == printed


def test_a_long_table_breaks_over_pages() -> None:
    table = Table(("candidate", "n"), [[f"c{i}", i] for i in range(1, 42)], ("candidate",))
    text = "".join(latex.stream_latex(table, caption="x", label="tab:x"))
    assert text.count("\\begin{longtable}{@{}lr@{}}") == text.count("\\end{longtable}") == 1
    assert "\\begin{table}" not in text
    assert text.count(" \\\\\n") == 41 + 3  # the caption, and the heading twice


def test_a_table_too_wide_for_print_keeps_counts_figures_and_one_rank() -> None:
    """Two of four counts stay; figures without an interval go, the second rank among them."""
    columns = (
        *("candidate", "k", "n", "n_cases", "n_invalid"),
        *("rubric_score", "rubric_score_low", "rubric_score_high", "cacs_at_k", "cacs_at_k_low", "cacs_at_k_high"),
        *("hit_rate", "cacs_at_k_rank", "cacs_at_k_rank_low", "cacs_at_k_rank_high"),
        *("rubric_score_rank", "mf1_gap", "raw", "ac1", "note"),
    )
    row = ["a", 10, 12, 6, 3, 0.5, 0.4, 0.6, 1.25, 0.5, 2.0, 0.3, 1.0, 1.0, 2.0, 1.0, 0.1, 0.2, 0.3, "x; y"]
    other = ["b", *row[1:-1], "y"]
    text = "".join(markdown.stream_markdown(Table(columns, [row, other], ("candidate", "note")), caption="t"))
    assert text.split("\n")[2:5] == [
        "| Candidate | n | Cases | Rubric score | CACS@k | CACS@k rank |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| a | 12 | 6 | 0.500 \\[0.400, 0.600\\] | 1.2 \\[0.5, 2.0\\] | 1 \\[1, 2\\] |",
    ]
    assert text.endswith("\n- a: x\n- a, b: y\n")


@pytest.mark.parametrize(("k", "printed"), [(1, False), (2, True)])
def test_the_worst_of_one_sample_is_the_score_and_not_printed_twice(k: int, printed: bool) -> None:
    columns = ("candidate", "rubric_score", "worst_k", "worst_at_k", "worst_at_k_rank")
    table = Table(columns, [["alpha", 0.5, k, 0.5 / k, 1.0]], ("candidate",))
    assert ("Worst-at-k" in "".join(markdown.stream_markdown(table, caption=""))) is printed


def test_a_table_in_markdown() -> None:
    assert "".join(markdown.stream_markdown(SMALL, caption="A*B")) == (
        "**A\\*B**\n\n"
        "| Slice | Pairs | MF1 |\n"
        "| --- | ---: | ---: |\n"
        "| All | 1,234 | 0.812 \\[0.790, 0.835\\] |\n"
        "| \\[50%\\] A\\_B &amp; C\\|D | 7 | – |\n"
        "| 小儿 | 3 | 0.000 |\n"
        "\n- \\[50%\\] A\\_B &amp; C\\|D: MF1: no pairs\n"
    )


def parsed(data: bytes, name: str) -> ElementTree.Element:
    with ZipFile(io.BytesIO(data)) as book:
        return ElementTree.fromstring(book.read(name))  # noqa: S314  # our own writer's output


def sheets(data: bytes) -> dict[str, ElementTree.Element]:
    with ZipFile(io.BytesIO(data)) as book:
        names = [name for name in book.namelist() if name.startswith("xl/worksheets/")]
    return {name: parsed(data, name) for name in names}


def written(*tables: tuple[str, Table], paragraphs: tuple[str, ...] = ()) -> bytes:
    target = io.BytesIO()
    write_workbook(target, tables, paragraphs)
    return target.getvalue()


def test_a_workbook_holds_figures_as_numbers_and_formulas_as_text() -> None:
    table = Table(
        ("slice", "mf1", "n", "note"),
        [["=1+1", 0.1 + 0.2, 2, "@SUM(A1)"], ["+x", None, 0, ""], ["http://a", True, 2**60, "-1"]],
        ("slice", "note"),
    )
    data = written(("agreement", table), ("Agreement", table), paragraphs=("=how",))
    parts = sheets(data)
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    first = parts["xl/worksheets/sheet1.xml"]
    assert not [formula for sheet in parts.values() for formula in sheet.iter(f"{space}f")]
    assert not list(first.iter(f"{space}hyperlink"))
    cells = {cell.get("r"): cell for cell in first.iter(f"{space}c")}
    assert float(cells["B2"].findtext(f"{space}v") or "") == pytest.approx(0.3, abs=1e-15)
    assert cells["A2"].get("t") == "inlineStr"
    assert [cells[place].findtext(f"{space}is/{space}t") for place in ("A1", "A2", "D2", "A3", "A4", "C4", "D4")] == [
        "slice", "=1+1", "@SUM(A1)", "+x", "http://a", str(2**60), "-1",
    ]  # fmt: skip
    assert "B3" not in cells  # undefined: empty, its reason in the note
    listed = parsed(data, "xl/workbook.xml")
    assert [sheet.get("name") for sheet in listed.iter(f"{space}sheet")] == ["agreement", "Agreement 2", "methods"]
    with pytest.raises(ValueError, match="not finite"):
        written(("x", Table(("a",), [[float("nan")]])))


def test_archive_and_workbook_are_the_same_bytes_and_their_sums_hold(tmp_path: Path) -> None:
    book = written(("all", SMALL))
    assert book == written(("all", SMALL))
    archives = []
    for _time in range(2):
        target = io.BytesIO()
        write_archive(target, [("tables/a.csv", iter(["x\n", "é\n"])), ("all.xlsx", book)])
        archives.append(target.getvalue())
    assert archives[0] == archives[1]
    with ZipFile(io.BytesIO(archives[0])) as archive:
        assert archive.namelist() == ["tables/a.csv", "all.xlsx", "SHA256SUMS"]
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert hashlib.sha256("x\né\n".encode()).hexdigest() in archive.read("SHA256SUMS").decode()
        archive.extractall(tmp_path)
    checked = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, capture_output=True)
    assert checked.returncode == 0


def test_a_p_is_printed_in_wide_tables_and_never_as_0() -> None:
    columns = ("slice", "n_pairs", "mf1", "mf1_low", "mf1_high", "wins", "p_exact", *(f"figure_{i}" for i in range(8)))
    row = ["all", 1200, 0.8, 0.7, 0.9, True, 0.0, *(0.25 for _ in range(8))]
    table = Table(
        columns, [row, ["candidate:b", 3, 0.5, None, None, False, 0.0424, *(0.25 for _ in range(8))]], ("slice",)
    )
    printed = "".join(markdown.stream_markdown(table, caption="Two judges"))
    assert "p, exact" in printed and "0.042" in printed and "&lt; 0.001" in printed and "0.000" not in printed
    assert "| yes |" in "".join(markdown.stream_markdown(Table(columns[:7], [row[:7]], ("slice",)), caption=""))


def test_a_comparison_of_two_sets_keeps_both_sides_of_the_test() -> None:
    """McNemar's b without c tells nothing; the ends of the difference stand with it, statistics behind p go."""
    columns = (
        *("first", "second", "slice", "n", "b", "c", "difference", "low", "high", "chi2_clustered", "p_clustered"),
        *("chi2_edwards", "p_edwards", "p_exact", "p_mid", "note"),
    )
    row = ["A", "B", "all", 25, 8, 0, 0.2, -0.05, 0.45, 2.5, 0.11, 1.4, 0.2, 0.0002, 0.14, ""]
    text = "".join(markdown.stream_markdown(Table(columns, [row], ("first", "second", "slice", "note")), caption="t"))
    headings = ("First", "Second", "Slice", "n", "First alone", "Second alone", "Difference")
    assert text.split("\n")[2:5:2] == [
        f"| {' | '.join(headings)} | p, over cases | p, exact | p, mid-p |",
        "| A | B | All | 25 | 8 | 0 | 0.200 \\[−0.050, 0.450\\] | 0.110 | &lt; 0.001 | 0.140 |",
    ]


def test_wins_are_printed_with_ties_losses_and_both_aurocs() -> None:
    columns = (
        *("set", "rule", "n_pairs", "win", "tie", "loss", "win_low", "win_high", "mean_delta", "delta_low"),
        *("delta_high", "mean_delta_100", "auroc_paired", "auroc_paired_low", "auroc_paired_high", "auroc_pooled"),
        *("auroc_self", "position_effect", "order_consistent", "n_undecided", "endpoint_kind", "note"),
    )
    row = [
        *("A", "sign", 7, 2 / 7, 5 / 7, 0.0, 0.1, 0.6, 19 / 21, -1.0, 2.8, 10.0, 0.64, 0.4, 0.8, 0.61),
        *(None, 1.0, 0.6, 0, "model", ""),
    ]
    table = Table(columns, [row], ("set", "rule", "endpoint_kind", "note"))
    heading, _rule, cells = "".join(markdown.stream_markdown(table, caption="t")).split("\n")[2:5]
    printed = dict(zip(*(line.strip("| ").split(" | ") for line in (heading, cells)), strict=True))
    assert (printed["Win"], printed["Tie"], printed["Loss"]) == ("0.286 \\[0.100, 0.600\\]", "0.714", "0.000")
    assert printed["Mean Δ"] == "0.905 \\[−1.000, 2.800\\]"
    assert (printed["Paired AUROC"], printed["Pooled AUROC"]) == ("0.640 \\[0.400, 0.800\\]", "0.610")
    assert latex.escaped("Mean Δ, χ²") == r"Mean $\Delta$, $\chi^2$"


def test_remarks_name_rows_by_all_that_tells_them_apart() -> None:
    columns = ("slice", "candidate", "n", "note")
    rows = [
        ["axis:accuracy", "one", 4, "4 responses left out"],
        ["axis:accuracy", "two", 8, "8 responses left out"],
        ["axis:safety", "one", 4, "4 responses left out"],
    ]
    text = "".join(markdown.stream_markdown(Table(columns, rows, ("slice", "candidate", "note")), caption="t"))
    assert "axis: accuracy, one; axis: safety, one: 4 responses left out" in text
    assert "axis: accuracy, two: 8 responses left out" in text
    # One column is enough where it has a name for each row.
    text = "".join(markdown.stream_markdown(Table(columns, rows[1:], ("slice", "candidate", "note")), caption="t"))
    assert "axis: safety: 4 responses left out" in text
