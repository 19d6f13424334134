"""One style for every figure: colours, type, lines.

On a page colours are the custom properties of ``static/css/tokens.css``, so that an inlined figure follows light and
dark; a file gets the light theme's real colours, since no viewer outside the page knows the properties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

WIDTH, NARROW = 660, 330  # pixels of a plot as on a page, and for a column of a journal
HEIGHT = 300
ROW = 30


@dataclass(frozen=True)
class Palette:
    """Colours by their part in a figure: ``ground`` lies under it, ``outside`` is what its file is filled with;
    ``series`` in the order in which they are given out; ``diverging`` from far below to far above, as grounds.
    ``width`` is that of the plot in pixels, to which names and axes are added.
    """

    ink: str
    text: str
    faint: str
    grid: str
    ground: str
    outside: str
    series: tuple[str, ...]
    diverging: tuple[str, ...]
    width: float = WIDTH


PAGE = Palette(
    ink="var(--ink)",
    text="var(--ink-2)",
    faint="var(--line-3)",
    grid="var(--line)",
    ground="var(--card)",
    outside="transparent",
    series=("var(--c1)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c2)"),
    diverging=tuple(f"var(--d{i})" for i in range(1, 8)),
)
# The light theme of tokens.css; a test compares the two.
PRINT = Palette(
    ink="#1d2733",
    text="#4c5a69",
    faint="#8a9099",
    grid="#e5e2dc",
    ground="#ffffff",
    outside="#ffffff",
    series=("#0f6b66", "#1f5fbf", "#c07a1c", "#7d68a0", "#4c5a69", "#8391a0"),
    diverging=("#e0a458", "#edc48d", "#f7e3c8", "#f5f3ef", "#d6e4f7", "#a9c6ee", "#7ba7e0"),
)

# For print without colours: every grey has its own lightness, from far below, light, to far above, dark.
GREY = replace(
    PRINT,
    series=("#111111", "#5c5c5c", "#8c8c8c", "#343434", "#757575", "#a6a6a6"),
    diverging=("#ffffff", "#f0f0f0", "#e1e1e1", "#d2d2d2", "#c3c3c3", "#b4b4b4", "#a5a5a5"),
    ink="#111111",
    text="#404040",
    faint="#8c8c8c",
    grid="#e2e2e2",
)

FONT = "Inter, system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'PingFang SC', 'Noto Sans SC', sans-serif"
SIZE = 12


def configuration(palette: Palette) -> dict[str, Any]:
    """What every chart is configured with (a Vega-Lite ``config``)."""
    label = {"labelColor": palette.text, "labelFont": FONT, "labelFontSize": SIZE}
    title = {"titleColor": palette.text, "titleFont": FONT, "titleFontSize": SIZE, "titleFontWeight": 500}
    return {
        "font": FONT,
        "background": palette.outside,
        "view": {"stroke": None},
        # Vega would describe axes in English, and the table beside the figure serves better.
        "axis": {
            "aria": False,
            **label,
            **title,
            "labelLimit": 220 if palette.width > NARROW else 140,
            "domainColor": palette.faint,
            "tickColor": palette.faint,
            "gridColor": palette.grid,
            "titlePadding": 10,
            "labelPadding": 6,
            "tickSize": 4,
        },
        "axisY": {"domain": False, "ticks": False},
        "legend": {
            "aria": False,
            **label,
            **title,
            "orient": "top",
            "direction": "horizontal",
            "title": None,
            "symbolSize": 70,
            "symbolOpacity": 1,
            "labelLimit": 520,
            "titleLimit": 520 if palette.width > NARROW else 330,
            "offset": 10,
        },
        "text": {"font": FONT, "fontSize": SIZE, "color": palette.text},
    }


def with_footnote(drawing: Callable[[Palette], Any], text: str) -> Callable[[Palette], Any]:
    """The drawing with a sentence below it, at its left end, and below the footnotes that it has."""

    def footnoted(palette: Palette) -> Any:
        chart = drawing(palette)
        earlier = chart.title["text"] if isinstance(chart.title, dict) else []
        note = {"text": [*earlier, text], "orient": "bottom", "anchor": "start", "offset": 12}
        look = {"font": FONT, "fontSize": SIZE, "fontWeight": "normal", "color": palette.text}
        return chart.properties(title={**note, **look})

    return footnoted


def with_footnote_in_files(drawing: Callable[[Palette], Any], text: str) -> Callable[[Palette], Any]:
    """The same in files alone; on a page the caption below the figure has the sentence."""
    in_file = with_footnote(drawing, text)
    return lambda palette: drawing(palette) if palette is PAGE else in_file(palette)
