"""Attributes of candidates from a table: a row for each candidate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, BinaryIO

from consilium.core.jobs import Progress, no_progress
from consilium.core.limits import MAX_KEY_LENGTH, MAX_SETTING_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.tables.mapping import LEFT_OUT, TableKind
from rubrics.tables.table import Table

ATTRIBUTES = TableKind(
    headings={
        "candidate": ("candidate", "name", "model", "modelname", "候选", "候选模型", "模型", "模型名称"),
        "family": ("family", "modelfamily", "系列", "模型系列"),
        "developer": ("developer", "vendor", "organization", "organisation", "开发者", "开发商", "机构"),
        "base_model": ("basemodel", "settingsof", "基础模型"),
        "effort": ("effort", "reasoningeffort", "推理强度"),
        "release_date": ("releasedate", "released", "releasedon", "发布日期"),
        "size_total": ("sizetotal", "size", "parameters", "totalparameters", "parametersb", "总参数量", "参数量"),
        "size_active": ("sizeactive", "activesize", "activeparameters", "激活参数量"),
        "open_weights": ("openweights", "open", "开放权重"),
        "price_in": ("pricein", "inputprice", "priceinput", "输入价格"),
        "price_out": ("priceout", "outputprice", "priceoutput", "输出价格"),
        "currency": ("currency", "币种", "货币"),
        "price_date": ("pricedate", "dateofprices", "价格日期"),
    },
    required=("candidate",),
    others=(LEFT_OUT,),
    unknown=LEFT_OUT,
    always=True,
)
COLUMNS = tuple(ATTRIBUTES.headings)
TEXT_COLUMNS = ("candidate", "family", "developer", "base_model", "effort", "currency")
_MIDNIGHT = re.compile(r"[ T]00:00:00$")  # a workbook stores a date as a moment
_YES, _NO = ("true", "yes", "1", "是"), ("false", "no", "0", "否")


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """A row: the candidate, and the value of each attribute that the table has a column for."""

    line: int
    candidate: str
    values: dict[str, Any] = field(default_factory=dict)


def read_attribute_table(
    file: BinaryIO, table: Table, faults: Faults, *, progress: Progress = no_progress
) -> Iterator[AttributeRow]:
    """The sound rows of a table; everything else is in ``faults`` when the iterator ends."""
    faults.locate = table.place
    lines: dict[str, int] = {}
    for line, cells in table.rows(file, faults, progress):
        texts = {column.target: text.strip() for column, text in cells}
        name = texts.get("candidate", "")
        before = faults.total
        if not name:
            faults.add(line, "candidate", Phrase("The row does not name a candidate."))
        elif name in lines:
            faults.add(line, "candidate", Phrase("This candidate is already in row %(n)s.", n=lines[name]))
        lines.setdefault(name, line)
        values = {}
        for target in COLUMNS[1:]:
            if target in table.targets:
                value = _READ[target](texts.get(target, ""))
                if isinstance(value, Phrase):
                    faults.add(line, target, value)
                values[target] = value
        if faults.total == before:
            yield AttributeRow(line, name, values)


def _text(longest: int) -> Callable[[str], str | Phrase]:
    def read(text: str) -> str | Phrase:
        return text if len(text) <= longest else Phrase("This is longer than %(longest)s characters.", longest=longest)

    return read


def _currency(text: str) -> str | Phrase:
    is_one = not text or (len(text) == 3 and text.isascii() and text.isalpha() and text.isupper())
    return text if is_one else Phrase("A currency is three capital letters, such as USD.")


def _number(least: Decimal, whole_digits: int, places: int) -> Callable[[str], Decimal | Phrase | None]:
    def read(text: str) -> Decimal | Phrase | None:
        if not text:
            return None
        try:
            number = Decimal(text) if text.isascii() and len(text) <= 40 and "_" not in text else Decimal("nan")
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite():
            return Phrase("“%(text)s” is not a number.", text=text[:20])
        if number < least:
            return Phrase("Enter %(limit_value)s or more.", limit_value=str(least))
        if number >= Decimal(10) ** whole_digits:
            return Phrase("Enter less than %(limit_value)s.", limit_value=f"{10**whole_digits:,}")
        rounded = round(number, places)
        if rounded != number:
            return Phrase("The number has more than %(n)s decimal places.", n=places)
        return rounded

    return read


def _date(text: str) -> date | Phrase | None:
    if not text:
        return None
    plain = _MIDNIGHT.sub("", text)
    try:
        if len(plain) == 10:
            return date.fromisoformat(plain)
    except ValueError:
        pass
    return Phrase("“%(text)s” is not a date such as 2025-04-16.", text=text[:20])


def _yes_or_no(text: str) -> bool | Phrase | None:
    plain = text.lower()
    if not plain:
        return None
    if plain in (*_YES, *_NO):
        return plain in _YES
    return Phrase("“%(text)s” must be true or false.", text=text[:20])


_size, _price = _number(Decimal("0.001"), 9, 3), _number(Decimal(0), 6, 6)
_READ: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("family", "developer", "base_model"), _text(MAX_KEY_LENGTH)),
    "effort": _text(MAX_SETTING_LENGTH),
    **dict.fromkeys(("release_date", "price_date"), _date),
    **dict.fromkeys(("size_total", "size_active"), _size),
    "open_weights": _yes_or_no,
    **dict.fromkeys(("price_in", "price_out"), _price),
    "currency": _currency,
}


def cells_of(candidate: str, attributes: Any) -> list[Any]:
    """The row of a candidate, in the order of `COLUMNS`; ``attributes`` have them by name."""
    cells: list[Any] = [candidate]
    for name in COLUMNS[1:]:
        value = getattr(attributes, name)
        cells.append(value if value is None else shown_value(value))
    return cells


def shown_value(value: Any) -> str:
    """A value as tables have it."""
    if isinstance(value, bool):
        return str(value).lower()
    return plain_decimal(value) if isinstance(value, Decimal) else str(value)


def plain_decimal(number: Decimal) -> str:
    """The number without zeros at its end and without an exponent."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
