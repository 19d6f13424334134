"""A slope chart: the ranks of candidates under two graders, a line for each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from consilium.figures.style import NARROW, Palette, configuration

Side = tuple[int, str, Literal["left", "right"], int]
BETWEEN = 190
STEP = 24
LETTER = 7


@dataclass(frozen=True)
class Ranked:
    """A candidate with its rank under each of the two graders; tied candidates have one rank."""

    name: str
    left: int
    right: int
    href: str = ""


def _name_limit(palette: Palette) -> int:
    """Pixels of a name, 0 for no limit; in a narrow figure a long name is cut."""
    return 0 if palette.width > NARROW else 150


def slope(ranked: Sequence[Ranked], palette: Palette, *, left: str, right: str, description: str) -> Any:
    """Rank 1 on top. Candidates that are tied stand below one another in the order of their names, with one number.

    Lines of candidates whose rank differs take the accent colour; the others are muted.
    """
    import altair as alt

    places = [
        {candidate.name: i for i, candidate in enumerate(sorted(ranked, key=key))}
        for key in (
            lambda candidate: (candidate.left, candidate.name),
            lambda candidate: (candidate.right, candidate.name),
        )
    ]
    rows = []
    for candidate in ranked:
        words = f"{candidate.name}: {left} {candidate.left}, {right} {candidate.right}"
        moved = candidate.left != candidate.right
        for side, rank, place in ((0, candidate.left, places[0]), (1, candidate.right, places[1])):
            rows.append(
                {
                    "name": candidate.name,
                    "side": side,
                    "place": place[candidate.name],
                    "label": f"{candidate.name}  {rank}" if side == 0 else f"{rank}  {candidate.name}",
                    "moved": moved,
                    "href": candidate.href or None,
                    "words": words,
                }
            )
    x = alt.X("side:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False))
    y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[len(ranked) - 0.5, -0.5], nice=False))
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y)
    colour = alt.condition("datum.moved", alt.value(palette.series[0]), alt.value(palette.faint))
    lines = base.mark_line(strokeWidth=1.8, aria=False).encode(detail="name:N", color=colour)
    dots = base.mark_point(filled=True, size=60, opacity=1, stroke=palette.ground).encode(
        color=colour, href="href:N", description="words:N"
    )
    sides: tuple[Side, Side] = ((0, left, "right", -10), (1, right, "left", 10))
    names = [
        base.transform_filter(f"datum.side == {side}")
        .mark_text(align=align, baseline="middle", dx=dx, limit=_name_limit(palette), color=palette.text, aria=False)
        .encode(text="label:N", href="href:N")
        for side, _head, align, dx in sides
    ]
    heads = [
        alt.Chart(alt.Data(values=[{"side": side, "label": label}]))
        .mark_text(align=align, baseline="bottom", dx=dx, y=-8, color=palette.ink, fontWeight=500, aria=False)
        .encode(x=x, text="label:N")
        for side, label, align, dx in sides
    ]
    longest = max([len(candidate.name) + 4 for candidate in ranked] + [len(left), len(right)], default=0)
    margin = 12 + LETTER * min(40, longest) // 6
    return (
        alt.layer(lines, dots, *names, *heads)
        .properties(
            width=BETWEEN if palette.width > NARROW else 0.6 * BETWEEN,
            height=STEP * max(1, len(ranked)),
            padding={"left": margin, "right": margin, "top": 10, "bottom": 8},
            description=description,
        )
        .configure(**configuration(palette))
    )
