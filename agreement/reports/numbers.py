"""Formats figures for cells and tiles: a value with its interval, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from agreement.reports.tables import Row
from consilium.core.from_english import from_english
from consilium.core.i18n import translate
from consilium.core.phrases import Labelled, parts_of


@dataclass(frozen=True)
class Number:
    """A figure as a cell or a tile shows it; ``reason`` is set where there is no value."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    scale: float = 1.0
    digits: int = 3
    unit: str = ""

    def _written(self, value: float) -> str:
        text = f"{value * self.scale:.{self.digits}f}"
        return text.replace("-", "\N{MINUS SIGN}") if text.strip("-0.") else text.lstrip("-")

    @property
    def shown(self) -> str:
        """The value alone; empty where there is none."""
        return "" if self.value is None else self._written(self.value) + self.unit

    @property
    def interval(self) -> str:
        """Both ends, with a word between them where an end is negative; empty where there is no interval."""
        if self.low is None or self.high is None:
            return ""
        low, high = self._written(self.low), self._written(self.high)
        return (
            f"{low}–{high}" if min(self.low, self.high) >= 0 else _("%(low)s to %(high)s") % {"low": low, "high": high}
        )

    @property
    def cell(self) -> SafeString:
        """Value and interval as markup, or why there is no value."""
        if self.value is None:
            return format_html(
                '<span class="undefined" title="{}">{}<span class="visually-hidden">: {}</span></span>',
                self.reason,
                _("undefined"),
                self.reason,
            )
        if not self.interval:
            return format_html("{}", self.shown)
        return format_html('{} <span class="ci">{}</span>', self.shown, self.interval)


@dataclass(frozen=True)
class PValue(Number):
    """A p-value as it is printed: three decimals, and never 0."""

    def _written(self, value: float) -> str:
        return f"{value:.3f}" if value >= 0.001 else "< 0.001"

    @classmethod
    def of(cls, row: Row, name: str) -> PValue:
        """The p-value of a table row."""
        return cls(row[name], reason=_reason(row, name) if row[name] is None else "")


@dataclass(frozen=True)
class Tile:
    """A headline figure."""

    label: str
    number: Number | None = None
    text: str = ""
    detail: str = ""


def number(row: Row, name: str, *, scale: float = 1.0, digits: int = 3, unit: str = "") -> Number:
    """A figure of a table row, with its interval where the table has one."""
    if name not in row:
        return Number(None, reason=_("This report was computed before this figure was a part of it."))
    return Number(
        row[name],
        row.get(f"{name}_low"),
        row.get(f"{name}_high"),
        reason=_reason(row, name) if row[name] is None else "",
        scale=scale,
        digits=digits,
        unit=unit,
    )


def _reason(row: Row, name: str) -> str:
    """The remark of a row that is about one figure."""
    note = from_english(row.get("note") or "")
    own = (part for part in parts_of(note) if isinstance(part, Labelled) and name in part.names)
    return next((translate(part.phrase) for part in own), translate(note))
