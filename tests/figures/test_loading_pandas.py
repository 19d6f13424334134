"""A figure does not load pandas, and none is drawn while pandas is being loaded."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from agreement.reports.tables import Table
from agreement.writers.data_frame import table_frame
from consilium.core.loading import LOADING_PANDAS
from consilium.figures.bars import Bar, counted_bars
from consilium.figures.render import svg_file
from consilium.figures.style import Palette

pytestmark = pytest.mark.slow

DRAW = """
import sys
from consilium.figures.bars import Bar, counted_bars
from consilium.figures.render import pdf_file
pdf_file(lambda palette: counted_bars([Bar("a", 1, 50.0)], palette, x_title="n", description="d"))
print("pandas" in sys.modules)
"""


def drawing(palette: Palette) -> object:
    return counted_bars([Bar("a", 1, 50.0)], palette, x_title="n", description="d")


def test_a_figure_is_drawn_without_pandas() -> None:
    result = subprocess.run([sys.executable, "-c", DRAW], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


@pytest.mark.parametrize(
    "work", [lambda: svg_file(drawing), lambda: table_frame(Table(("n",), [[1]]))], ids=["figure", "data frame"]
)
def test_figures_and_data_frames_wait_for_each_other(work: Callable[[], object]) -> None:
    work()  # so that it is quick from now on
    thread = threading.Thread(target=work)
    with LOADING_PANDAS:
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
    thread.join(30)
    assert not thread.is_alive()
