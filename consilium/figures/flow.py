"""A flow of people through steps: a box for each step with its number, and beside it who left before the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.style import FONT, NARROW, SIZE, Palette, configuration

LINE = 17  # pixels of a line of text
GAP = 26  # between two boxes


@dataclass(frozen=True)
class FlowBox:
    """A step: what it is called, how many reached it, and lines about those who left or wait before the next one."""

    label: str
    n: int
    left: tuple[str, ...] = ()


def flow_chart(boxes: Sequence[FlowBox], palette: Palette, *, description: str) -> Any:
    """Boxes from top to bottom with arrows; to the right of the arrow out of a box, who did not go on."""
    import altair as alt

    narrow = palette.width <= NARROW
    wide = palette.width * (0.5 if narrow else 0.4)
    side = wide + palette.width * 0.07
    rects: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    down: list[dict[str, Any]] = []
    tips: list[dict[str, Any]] = []
    out: list[dict[str, Any]] = []
    y = 0.0
    for place, box in enumerate(boxes):
        height = 2 * LINE + 10
        rects.append({"x": 0, "x2": wide, "y": y, "y2": y + height, "words": f"{box.label}: {box.n:,}"})
        words.append({"x": wide / 2, "y": y + 5 + LINE / 2, "text": box.label, "bold": False, "middle": True})
        words.append({"x": wide / 2, "y": y + 5 + 1.5 * LINE, "text": f"n = {box.n:,}", "bold": True, "middle": True})
        y += height
        if place == len(boxes) - 1:
            break
        room = max(GAP, len(box.left) * LINE + 10 + GAP) if box.left else GAP
        down.append({"x": wide / 2, "y": y, "y2": y + room - 5})
        tips.append({"x": wide / 2, "y": y + room - 5})
        if box.left:
            top = y + GAP / 2
            bottom = top + len(box.left) * LINE + 10
            rects.append({"x": side, "x2": palette.width, "y": top, "y2": bottom, "words": "; ".join(box.left)})
            words += [
                {"x": side + 8, "y": top + 5 + (row + 0.5) * LINE, "text": text, "bold": False, "middle": False}
                for row, text in enumerate(box.left)
            ]
            out.append({"x": wide / 2, "x2": side, "y": (top + bottom) / 2})
        y += room
    across = alt.Scale(domain=[0, palette.width], nice=False, zero=False)
    along = alt.Scale(domain=[y, 0], nice=False, zero=False)

    def at(name: str, scale: Any, kind: Any) -> Any:
        return kind(f"{name}:Q", scale=scale, axis=None)

    def layer(rows: Sequence[dict[str, Any]]) -> Any:
        return alt.Chart(alt.Data(values=list(rows))).encode(x=at("x", across, alt.X), y=at("y", along, alt.Y))

    layers = [
        layer(down).mark_rule(stroke=palette.faint, aria=False).encode(y2="y2:Q"),
        layer(tips).mark_point(
            shape="triangle-down", filled=True, size=60, opacity=1, fill=palette.faint, stroke=None, aria=False
        ),
        layer(out).mark_rule(stroke=palette.faint, aria=False).encode(x2="x2:Q"),
        layer(rects)
        .mark_rect(fill=palette.ground, stroke=palette.faint, cornerRadius=4)
        .encode(x2="x2:Q", y2="y2:Q", description="words:N"),
    ]
    for bold in (False, True):
        for middle in (False, True):
            rows = [row for row in words if (row["bold"], row["middle"]) == (bold, middle)]
            if rows:
                layers.append(
                    layer(rows)
                    .mark_text(
                        align="center" if middle else "left",
                        font=FONT,
                        fontSize=SIZE - 2 if narrow else SIZE,
                        fontWeight=600 if bold else 400,
                        color=palette.ink if bold else palette.text,
                        aria=False,
                    )
                    .encode(text="text:N")
                )
    chart = alt.layer(*layers).properties(width=palette.width, height=y, description=description)
    return chart.configure(**configuration(palette))
