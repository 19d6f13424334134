"""Reads a LaTeX file as far as its tables go, without a TeX: environments, columns and cells must agree."""

from __future__ import annotations

import re

_ENVIRONMENT = re.compile(r"\\(begin|end)\{([a-z]+)\}")
_TABLE = re.compile(
    r"\\begin\{(tabular|tabularx|longtable)\}(?:\{\\linewidth\})?\{@\{\}(.*?)@\{\}\}\n(.*?)\\end\{\1\}", re.DOTALL
)
_IN_HEADING = re.compile(r"\\parbox\[b\]\{\d+pt\}\{\\ragged(?:left|right) (.*?)\\strut\}")
_COLUMN = re.compile(r">\{\\raggedright\\arraybackslash\}(?:X|p\{[\d.]+\\linewidth\})|[lr]")
_PACKAGES = {
    "tabularx": "tabularx",
    "longtable": "longtable",
    "sidewaystable": "rotating",
    "landscape": "pdflscape",
}


def check_structure(text: str) -> list[list[str]]:
    """The headings of each table. AssertionError where environments are not nested, a row has another number of cells
    than the table has columns, or a package is not named.
    """
    open_environments: list[str] = []
    for kind, name in _ENVIRONMENT.findall(text):
        if kind == "begin":
            open_environments.append(name)
        else:
            assert open_environments and open_environments.pop() == name, name
    assert not open_environments
    named = re.findall(r"^% \\usepackage\{([a-z]+)\}$", text, re.MULTILINE)
    for environment, package in _PACKAGES.items():
        assert (f"\\begin{{{environment}}}" not in text) or package in named, package
    headings = []
    flat = _IN_HEADING.sub(r"\1", text)
    for _environment, shape, body in _TABLE.findall(flat):
        n_columns = len(_COLUMN.findall(shape))
        assert "".join(match[0] for match in _COLUMN.finditer(shape)) == shape, shape
        lines = [line for line in body.split("\n") if line.endswith(r"\\") and not line.startswith(r"\caption")]
        assert lines
        for line in lines:
            spans = re.match(r"\\multicolumn\{(\d+)\}", line)
            cells = int(spans[1]) if spans else len(re.split(r"(?<!\\)&", line))
            assert cells == n_columns, (cells, n_columns, line)
        headings.append([cell.strip() for cell in re.split(r"(?<!\\)&", lines[0].removesuffix(r"\\"))])
    assert headings
    return headings
