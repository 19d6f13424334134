"""Which rules of a call an application does not meet. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol


class Rules(Protocol):
    """The rules of a call; `ApplicationCall` has them."""

    min_years: int | None
    specialties: list[str]
    languages: list[str]
    countries: list[str]
    seniorities: list[str]
    licence_required: bool


def unmet_rules(rules: Rules, fields: Mapping[str, Any]) -> list[str]:
    """The codes of `Application.Rule` that ``fields``, the fields of an application, does not meet, in their order.

    What an applicant left empty meets no rule that asks for it. Specialties are compared without regard to case, blanks
    and underscores.
    """
    years = fields.get("years_in_practice")
    met = {
        "years": rules.min_years is None or (years is not None and years >= rules.min_years),
        "specialty": _among(plain(fields.get("specialty", "")), {plain(name) for name in rules.specialties}),
        "language": not rules.languages or bool({*rules.languages} & {*fields.get("languages", ())}),
        "country": _among(fields.get("licence_country", ""), rules.countries),
        "seniority": _among(fields.get("seniority", ""), rules.seniorities),
        "licence": not rules.licence_required or bool(fields.get("licence_number", "").strip()),
    }
    return [code for code, is_met in met.items() if not is_met]


def plain(specialty: str) -> str:
    """A specialty as it is compared."""
    return " ".join(specialty.replace("_", " ").split()).casefold()


def _among(value: str, allowed: Collection[str]) -> bool:
    return not allowed or value in allowed
