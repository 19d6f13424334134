"""Formats figures for cells and tiles: a value with its interval, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from agreement.reports.tables import Row
from consilium.core.from_english import from_english
from consilium.core.i18n import translate
from consilium.core.phrases import Labelled, Phrase, parts_of
from consilium.core.reasons import Reason, code_of
from consilium.statistics.case_numbers import in_words

# The interval depends on the number of cases alone, because no difference between them shows how far the figure varies.
BY_CASES_ALONE = {
    Reason.EDGE_INTERVAL,
    Reason.ALIKE_INTERVAL,
    Reason.EDGE_INTERVAL_BEFORE,
    Reason.ALIKE_INTERVAL_BEFORE,
}
REMARKS_ON_INTERVALS = {Reason.CLIPPED_INTERVAL, Reason.EDGE_INTERVAL_OF_ONE}
INFORMATIVE_FROM = 50  # effective cases from which such an interval to both sides of 0 is shown
MARK = "†"  # explained once, below the tables of a report
NOT_COMPARED = {Reason.RANK_NO_SHARED_CASE, Reason.RANK_FEW_SHARED_CASES}


@dataclass(frozen=True)
class Number:
    """A figure as a cell or a tile shows it.

    ``reason`` says why there is no value or, beside a value, why there is no interval. ``behind`` says what an interval
    rests on; ``by_cases_alone`` is true where that is the number of cases, of which ``effective`` are effective.
    ``signed``: a value above 0, or 0 itself, has a plus sign; its ends have none.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    behind: str = ""
    scale: float = 1.0
    digits: int = 3
    unit: str = ""
    signed: bool = False
    by_cases_alone: bool = False
    effective: float | None = None

    def _written(self, value: float) -> str:
        text = f"{value * self.scale:,.{self.digits}f}"
        return text.replace("-", "\N{MINUS SIGN}") if text.strip("-0.") else text.lstrip("-")

    @property
    def shown(self) -> str:
        """The value alone; empty where there is none."""
        if self.value is None:
            return ""
        written = self._written(self.value)
        plus = "+" if self.signed and not written.startswith("\N{MINUS SIGN}") else ""
        return plus + written + self.unit

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
    def has_too_few_cases(self) -> bool:
        """Whether the interval reaches to both sides of 0, only because there are few cases that do not differ."""
        if not self.by_cases_alone or self.low is None or self.high is None:
            return False
        return self.low < 0 < self.high and self.effective is not None and self.effective < INFORMATIVE_FROM

    @property
    def shown_interval(self) -> str:
        """The interval as a page shows it: with a mark, or words instead, where it depends on the number of cases."""
        if self.has_too_few_cases:
            return _("too few cases to say anything") + MARK
        return self.interval + MARK if self.interval and self.by_cases_alone else self.interval

    @property
    def explained(self) -> str:
        """What the interval rests on, after its ends where a page does not show them."""
        return f"{self.interval}; {self.behind}" if self.has_too_few_cases else self.behind

    @property
    def cell(self) -> SafeString:
        """Value and interval as markup, or why there is no value or no interval."""
        if self.value is None or (not self.interval and self.reason):
            return format_html(
                '<span class="{}" title="{}">{}<span class="visually-hidden"> {}</span></span>',
                "undefined" if self.value is None else "no-interval",
                self.reason,
                _("undefined") if self.value is None else self.shown,
                _bracketed(self.reason),
            )
        if not self.interval:
            return format_html("{}", self.shown)
        if not self.behind:
            return format_html('{} <span class="ci">{}</span>', self.shown, self.interval)
        return format_html(
            '{} <span class="{}" title="{}">{}<span class="visually-hidden"> {}</span></span>',
            self.shown,
            "ci by-cases-alone" if self.by_cases_alone else "ci",
            self.explained,
            self.shown_interval,
            _bracketed(self.explained),
        )


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


def number(row: Row, name: str, *, scale: float = 1.0, digits: int = 3, unit: str = "", signed: bool = False) -> Number:
    """A figure of a table row, with its interval where the table has one."""
    if name not in row:
        return Number(None, reason=_("This report was computed before this figure was added."))
    low = row.get(f"{name}_low")
    return Number(
        row[name],
        low,
        row.get(f"{name}_high"),
        reason=_reason(row, name) if row[name] is None else _why_no_interval(row, name),
        behind=_behind(row, name),
        scale=scale,
        digits=digits,
        unit=unit,
        signed=signed,
        by_cases_alone=any(code_of(remark) in BY_CASES_ALONE for remark in _remarks(row, name)),
        effective=row.get(f"{name}_effective", row.get("n_cases")),
    )


def _remarks(row: Row, name: str) -> Iterator[str]:
    """The remarks of a row that are about one figure, and those about all of them."""
    for part in parts_of(from_english(row.get("note") or "")):
        if not isinstance(part, Labelled):
            yield part
        elif name in part.names:
            yield part.phrase


def _bracketed(text: str) -> str:
    return pgettext("in brackets", "(%(text)s)") % {"text": text}


def _why_no_interval(row: Row, name: str) -> str:
    """The remark that says so; empty where there is an interval, or where the table has none of the figure."""
    if row.get(f"{name}_low", "") is not None:
        return ""
    reasons = ((code_of(remark), remark) for remark in _remarks(row, name))
    return next((translate(remark) for code, remark in reasons if code and code.withholds_interval), "")


def _behind(row: Row, name: str) -> str:
    """The effective cases behind an interval, and how else it was made than most."""
    effective = row.get(f"{name}_effective")
    cases = "" if effective is None else _("%(n)s effective cases") % {"n": in_words(effective)}
    remarks = list(_remarks(row, name))
    words = [translate(remark) for remark in remarks if code_of(remark) in REMARKS_ON_INTERVALS]
    if any(code_of(remark) in BY_CASES_ALONE for remark in remarks):
        words.append(_("interval from the number of cases alone"))
    return "; ".join(filter(None, [cases, *words]))


def n_not_compared(row: Row, name: str) -> int:
    """With how many candidates the one of a rank is not compared, because they share no case or too few cases."""
    remarks = [remark for remark in _remarks(row, name) if isinstance(remark, Phrase)]
    return sum(int(remark.values["n"]) for remark in remarks if code_of(remark) in NOT_COMPARED)


def _reason(row: Row, name: str) -> str:
    """The remark of a row that is about one figure."""
    note = from_english(row.get("note") or "")
    own = (part for part in parts_of(note) if isinstance(part, Labelled) and name in part.names)
    return next((translate(part.phrase) for part in own), translate(note))
