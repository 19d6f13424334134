"""How many effective cases stand behind the leading figure of a report, and what that number allows."""

from __future__ import annotations

from dataclasses import dataclass

from agreement.models import Report
from consilium.statistics.intervals import CASES_FOR_A_CLAIM, CASES_FOR_RARE_EVENTS, MINIMUM_EFFECTIVE_CASES


@dataclass(frozen=True)
class EffectiveCases:
    """For `agreement/reports/_effective.html`."""

    n: float
    for_an_interval: int = MINIMUM_EFFECTIVE_CASES
    for_a_claim: int = CASES_FOR_A_CLAIM
    for_rare_events: int = CASES_FOR_RARE_EVENTS

    @property
    def shown(self) -> str:
        """One decimal, and none where the cases are equally large."""
        return f"{self.n:.1f}".removesuffix(".0")

    @property
    def are_few(self) -> bool:
        """Whether a claim should not rest on them."""
        return self.n < self.for_a_claim

    @property
    def suffice_for_rare_events(self) -> bool:
        return self.n >= self.for_rare_events


def effective_cases(report: Report) -> EffectiveCases | None:
    """Those behind the leading figure; None where it is undefined, or the report is from before they were counted."""
    n = report.result["facts"].get("effective")
    return None if n is None else EffectiveCases(n)
