"""The columns of two sets beside each other, the same for gold points and for pairs."""

from __future__ import annotations

from typing import Any

from consilium.core.phrases import joined
from consilium.statistics.estimate import Figure, each_note_of
from consilium.statistics.set_comparison import SetComparison

Row = dict[str, Any]
TESTS = ("chi2_clustered", "p_clustered", "chi2_edwards", "p_edwards", "p_exact", "p_mid")


def comparison_cells(compared: SetComparison, *notes: str, **more: Figure) -> Row:
    """The cells of one comparison; ``notes`` come after those of its figures, and ``more`` figures before them."""
    figures = {
        "difference": compared.difference,
        "chi2_clustered": compared.chi_square_clustered,
        "p_clustered": compared.p_clustered,
        "chi2_edwards": compared.chi_square_edwards,
        "p_edwards": compared.p_edwards,
        "p_exact": compared.p_exact,
        "p_mid": compared.p_mid,
        **more,
    }
    return {
        "n": compared.n,
        "b": compared.only_first,
        "c": compared.only_second,
        **{name: figure.value for name, figure in figures.items()},
        "low": compared.difference.low,
        "high": compared.difference.high,
        "note": joined(each_note_of(figures), *notes),
    }
