"""How many effective cases stand behind the leading figure of a report, and what that number allows."""

from __future__ import annotations

from django.utils.translation import gettext as _

from agreement.models import Report
from consilium.statistics.intervals import CASES_FOR_A_CLAIM, CASES_FOR_RARE_EVENTS, MINIMUM_EFFECTIVE_CASES


def effective_cases(report: Report) -> str:
    """A sentence; empty where the figure is undefined, or the report is from before they were counted."""
    n = report.result["facts"].get("effective")
    return "" if n is None else sentence(n)


def sentence(n: float) -> str:
    """The number with one decimal, none where it is whole, and what it allows."""
    numbers = {
        "n": f"{n:.1f}".removesuffix(".0"),
        "interval": MINIMUM_EFFECTIVE_CASES,
        "claim": CASES_FOR_A_CLAIM,
        "rare": CASES_FOR_RARE_EVENTS,
    }
    if n < CASES_FOR_A_CLAIM:
        return (
            _(
                "%(n)s effective cases stand behind the leading figure. An interval can be given from %(interval)s, "
                "but a claim should rest on %(claim)s or more, and on %(rare)s where a share is near 0 or 1 or "
                "failures are rare."
            )
            % numbers
        )
    if n < CASES_FOR_RARE_EVENTS:
        return (
            _(
                "%(n)s effective cases stand behind the leading figure. Shares near 0 or 1, sparse CACS and rare "
                "failures need %(rare)s."
            )
            % numbers
        )
    return _("%(n)s effective cases stand behind the leading figure.") % numbers
