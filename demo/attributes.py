"""Made-up attributes of the made-up candidates, and the tokens of their responses."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

from rubrics.services.attribute_values import AttributeValues

_PRICE_DATE = date(2025, 9, 1)
# Two of the candidates are settings of one model.
_LOW_EFFORT = AttributeValues(
    family="Comfrey",
    developer="Hedgerow Systems",
    base_model="Comfrey 2",
    effort="low",
    release_date=date(2024, 5, 13),
    size_total=Decimal(32),
    size_active=Decimal("3.2"),
    open_weights=True,
    price_in=Decimal("0.4"),
    price_out=Decimal("1.6"),
    currency="USD",
    price_date=_PRICE_DATE,
)
ATTRIBUTES = {
    "Aster-7B": AttributeValues(
        family="Aster",
        developer="Meadow Laboratory",
        release_date=date(2024, 11, 5),
        size_total=Decimal(7),
        size_active=Decimal(7),
        open_weights=True,
        price_in=Decimal("0.1"),
        price_out=Decimal("0.3"),
        currency="USD",
        price_date=_PRICE_DATE,
    ),
    "Borage-chat": AttributeValues(
        family="Borage",
        developer="Hedgerow Systems",
        release_date=date(2025, 6, 18),
        open_weights=False,
        price_in=Decimal("2.5"),
        price_out=Decimal(10),
        currency="USD",
        price_date=_PRICE_DATE,
    ),
    "Comfrey-mini": _LOW_EFFORT,
    "Dittany-L": replace(_LOW_EFFORT, effort="high", release_date=date(2025, 2, 3)),
}


def tokens_of(text: str) -> dict[str, int]:
    """As an endpoint might have counted them; four characters to a token."""
    return {"tokens_in": 400, "tokens_out": len(text) // 4}
