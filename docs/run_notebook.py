"""Runs docs/notebook.ipynb against a running copy with the demo benchmark, and keeps what its cells show.

    make up                                                                       # in one terminal
    CONSILIUM_TOKEN=… .venv/bin/python docs/run_notebook.py [http://localhost:8000]  # in another

No notebook server is needed. A table is kept as HTML, a chart as PNG, so that the file shows them wherever it is read.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parent / "notebook.ipynb"


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """Run the code cells in their order and put what each shows into its ``outputs``; the names they made."""
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = _run_cell("".join(cell["source"]), names)
        cell["execution_count"], cell["outputs"] = count, []
        if printed.getvalue():
            text = printed.getvalue().splitlines(keepends=True)
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": text})
        if value is not None:
            shown = {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": _shown(value)}
            cell["outputs"].append(shown)
    return names


def _run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run one cell; the value of its last line where that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102  # the notebook's own code
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None  # noqa: S307


def _shown(value: Any) -> dict[str, Any]:
    import altair
    import pandas

    if isinstance(value, pandas.DataFrame):
        return {"text/html": value.to_html().splitlines(keepends=True), "text/plain": str(value).splitlines(True)}
    if isinstance(value, altair.TopLevelMixin):
        import vl_convert

        png = vl_convert.vegalite_to_png(value.to_dict(), scale=1.0)
        return {"image/png": base64.b64encode(png).decode(), "text/plain": ["a chart"]}
    return {"text/plain": repr(value).splitlines(keepends=True)}


def main() -> None:
    """Run the notebook and write it back."""
    if len(sys.argv) > 1:
        os.environ["CONSILIUM_URL"] = sys.argv[1]
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    run(notebook)
    NOTEBOOK.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
