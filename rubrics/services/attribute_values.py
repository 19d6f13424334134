"""The attributes of a candidate as they are written, shared by form, API, imported tables and the service."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from consilium.core.commands import Label, command_fields
from consilium.core.limits import MAX_KEY_LENGTH, MAX_SETTING_LENGTH
from consilium.core.phrases import Phrase
from rubrics.models import CandidateAttributes
from rubrics.models.attributes import MAX_CURRENCY_LENGTH, MAX_DIGITS, PRICE_PLACES, SIZE_PLACES

SMALLEST_SIZE = Decimal(1).scaleb(-SIZE_PLACES)
LARGEST_SIZE = Decimal(10) ** (MAX_DIGITS - SIZE_PLACES) - 1
LARGEST_PRICE = Decimal(10) ** (MAX_DIGITS - PRICE_PLACES) - 1
_Size = Field(ge=SMALLEST_SIZE, le=LARGEST_SIZE, max_digits=MAX_DIGITS, decimal_places=SIZE_PLACES)
_Price = Field(ge=Decimal(0), le=LARGEST_PRICE, max_digits=MAX_DIGITS, decimal_places=PRICE_PLACES)


@command(frozen=True, slots=True)
class AttributeValues:
    """All attributes of a candidate; an empty text or None: unknown."""

    family: Annotated[
        str, Field(max_length=MAX_KEY_LENGTH), Label(_("Family"), _("Models of one line, such as GPT or Qwen."))
    ] = ""
    developer: Annotated[str, Field(max_length=MAX_KEY_LENGTH), Label(_("Developer"))] = ""
    base_model: Annotated[
        str,
        Field(max_length=MAX_KEY_LENGTH),
        Label(_("Base model"), _("Candidates with the same base model are one model with other settings.")),
    ] = ""
    effort: Annotated[
        str,
        Field(max_length=MAX_SETTING_LENGTH),
        Label(_("Effort"), _("The setting of the base model, such as low, medium or high.")),
    ] = ""
    release_date: Annotated[date | None, Label(_("Release date"))] = None
    size_total: Annotated[Decimal | None, _Size, Label(_("Total size"), _("In billions of parameters."))] = None
    size_active: Annotated[
        Decimal | None,
        _Size,
        Label(_("Active size"), _("In billions of parameters, those that are used for each token.")),
    ] = None
    open_weights: Annotated[bool | None, Label(_("Open weights"))] = None
    price_in: Annotated[Decimal | None, _Price, Label(_("Input price"), _("Of a million tokens of the request."))] = (
        None
    )
    price_out: Annotated[
        Decimal | None, _Price, Label(_("Output price"), _("Of a million tokens of the response."))
    ] = None
    currency: Annotated[
        str, Field(max_length=MAX_CURRENCY_LENGTH), Label(_("Currency"), _("Three capital letters, such as USD."))
    ] = ""
    price_date: Annotated[date | None, Label(_("Date of the prices"))] = None

    def conflicts(self) -> Iterator[tuple[str, Phrase]]:
        """Fields that do not fit the others, each with the reason; the database refuses the same values."""
        if self.size_total is not None and self.size_active is not None and self.size_active > self.size_total:
            yield "size_active", Phrase("The active size is above the total size.")
        has_price = self.price_in is not None or self.price_out is not None
        if self.currency and not (len(self.currency) == MAX_CURRENCY_LENGTH and _is_capital(self.currency)):
            yield "currency", Phrase("A currency is three capital letters, such as USD.")
        elif has_price and not self.currency:
            yield "currency", Phrase("A price needs its currency.")
        elif self.currency and not has_price:
            yield "currency", Phrase("There is no price, so leave the currency empty.")
        if has_price and self.price_date is None:
            yield "price_date", Phrase("A price needs its date.")
        if self.price_date is not None and not has_price:
            yield "price_date", Phrase("There is no price, so leave its date empty.")


def _is_capital(text: str) -> bool:
    return text.isascii() and text.isalpha() and text.isupper()


FIELDS = tuple(command_fields(AttributeValues))
NOTHING_KNOWN = AttributeValues()


def digest_of(values: AttributeValues) -> str:
    """Which values are stored, as a page sends it back to say what its reader saw."""
    texts = [str(getattr(values, name)) for name in FIELDS]
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:32]


def values_of(attributes: CandidateAttributes | None) -> AttributeValues:
    """The stored attributes of a candidate, which may have none."""
    if attributes is None:
        return NOTHING_KNOWN
    return AttributeValues(**{name: getattr(attributes, name) for name in FIELDS})
