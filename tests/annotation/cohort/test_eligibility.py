"""The rules of a call, one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from annotation.cohort.eligibility import unmet_rules


@dataclass
class Rules:
    min_years: int | None = None
    specialties: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    countries: list[str] = field(default_factory=list)
    seniorities: list[str] = field(default_factory=list)
    licence_required: bool = False


NOBODY: dict[str, Any] = {}


def test_without_rules_everybody_is_eligible() -> None:
    assert unmet_rules(Rules(), NOBODY) == []


@pytest.mark.parametrize(
    ("rules", "fields", "unmet"),
    [
        (Rules(min_years=3), {"years_in_practice": 3}, []),
        (Rules(min_years=3), {"years_in_practice": 2}, ["years"]),
        (Rules(min_years=0), {"years_in_practice": None}, ["years"]),
        (Rules(specialties=["Emergency medicine"]), {"specialty": "emergency_Medicine "}, []),
        (Rules(specialties=["Emergency medicine"]), {"specialty": "medicine"}, ["specialty"]),
        (Rules(languages=["en", "zh"]), {"languages": ["zh", "de"]}, []),
        (Rules(languages=["en", "zh"]), {"languages": ["de"]}, ["language"]),
        (Rules(countries=["DE"]), {"licence_country": ""}, ["country"]),
        (Rules(seniorities=["senior"]), {"seniority": "senior"}, []),
        (Rules(seniorities=["senior"]), {"seniority": "trainee"}, ["seniority"]),
        (Rules(licence_required=True), {"licence_number": "  "}, ["licence"]),
        (Rules(licence_required=True), {"licence_number": "7"}, []),
    ],
)
def test_a_rule_and_what_meets_it(rules: Rules, fields: dict[str, Any], unmet: list[str]) -> None:
    assert unmet_rules(rules, fields) == unmet


def test_all_unmet_rules_are_named_in_their_order() -> None:
    rules = Rules(5, ["a"], ["en"], ["DE"], ["senior"], True)
    assert unmet_rules(rules, NOBODY) == ["years", "specialty", "language", "country", "seniority", "licence"]
