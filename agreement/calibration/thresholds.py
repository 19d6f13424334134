"""Signed thresholds k of a benchmark: numbered, signed by a person, never changed afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from agreement.models import Report, ThresholdChoice
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import JobStatus
from rubrics.models import Benchmark

# Facts of its calibration that a choice stores, beside the report's digest.
FACTS = ("k", "k_low", "k_high", "n", "n_criteria", "mean", "mean_low", "mean_high", "rater", "candidate")
LARGEST_K = 1000
DEFAULT_K = 10


# The table of signed thresholds.
COLUMNS = (
    *("version", "k", "signed_at", "signed_by", "reason", "report", "calibrated_k", "k_low", "k_high", "n"),
    *("n_criteria", "mean", "mean_low", "mean_high", "rater", "candidate", "input_digest"),
)
TEXT = ("signed_by", "reason", "rater", "candidate")


class WrongThreshold(DomainError):
    """The threshold cannot be signed."""


def threshold_choices(benchmark: Benchmark) -> QuerySet[ThresholdChoice]:
    """Every signed choice of a benchmark with its calibration, the newest first."""
    choices = ThresholdChoice.objects.filter(benchmark=benchmark).select_related("report", "signed_by")
    return choices.defer("report__result").order_by("-version")


def rows(benchmark: Benchmark) -> Iterator[dict[str, Any]]:
    """The choices as rows of `COLUMNS`; what a choice without a calibration does not have is empty."""
    for choice in threshold_choices(benchmark):
        facts = {name: choice.facts.get(name) for name in FACTS if name != "k"}
        yield {
            **facts,
            "version": choice.version,
            "k": choice.k,
            "signed_at": choice.signed_at.isoformat(),
            "signed_by": choice.signed_as,
            "reason": choice.reason,
            "report": choice.report.public_id if choice.report else None,
            "calibrated_k": choice.facts.get("k"),
            "input_digest": choice.input_digest,
        }


def threshold_in_force(benchmark: Benchmark, at: datetime | None = None) -> ThresholdChoice | None:
    """The newest signed choice, or the newest that was signed by ``at``; None where nobody has signed one."""
    choices = threshold_choices(benchmark)
    return (choices if at is None else choices.filter(signed_at__lte=at)).first()


@transaction.atomic
def sign_threshold(
    *, benchmark: Benchmark, k: int, report: Report | None, reason: str, seen: int, by: User, at: datetime
) -> ThresholdChoice:
    """Sign ``k`` as the threshold of the benchmark, on the calibration ``report`` or on none.

    A k other than the calibrated one, or one without a calibration, needs a ``reason``. ``seen`` is the version that
    was in force on the signer's screen, 0 for none. `Conflict` where somebody has signed since.
    """
    # Concurrent requests wait here, so that no two choices get the same number.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    current = threshold_in_force(benchmark)
    version = current.version if current else 0
    if seen != version:
        if current is None:
            raise Conflict(
                _("No threshold has been signed on this benchmark yet. Review the calibration again, then sign.")
            )
        raise Conflict(
            _("%(who)s has signed k = %(k)s in the meantime (version %(version)s). Review it, then sign again.")
            % {"who": current.signed_as, "k": current.k, "version": current.version}
        )
    reason = reason.strip()
    facts = _facts(benchmark, report)
    largest = facts.get("n_criteria", LARGEST_K)
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= largest:
        raise WrongThreshold(_("k must be a whole number from 1 to %(largest)s.") % {"largest": largest})
    if report is None and not reason:
        raise WrongThreshold(_("A threshold without a calibration requires a reason. Explain where k comes from."))
    if report is not None and k != facts["k"] and not reason:
        raise WrongThreshold(
            _("The calibration gives k = %(calibrated)s. Explain why you are signing %(k)s.")
            % {"calibrated": facts["k"], "k": k}
        )
    return ThresholdChoice.objects.create(
        benchmark=benchmark,
        version=version + 1,
        k=k,
        report=report,
        facts=facts,
        input_digest=report.input_digest if report else "",
        reason=reason,
        signed_by=by,
        signed_as=str(by),
        signed_at=at,
    )


def _facts(benchmark: Benchmark, report: Report | None) -> dict[str, Any]:
    if report is None:
        return {}
    if report.benchmark_id != benchmark.pk or report.kind != Report.Kind.CALIBRATION or report.status != JobStatus.DONE:
        raise WrongThreshold(_("k can be signed only on a completed calibration of the same benchmark."))
    facts = report.result["facts"]
    return {name: facts[name] for name in FACTS}


def suggested_k(benchmark: Benchmark) -> tuple[int, str]:
    """The signed threshold, else k of the newest calibration, else 10; and a sentence that names its source."""
    signed = threshold_in_force(benchmark)
    if signed is not None:
        return signed.k, _("Signed by %(who)s, version %(version)s.") % {
            "who": signed.signed_as,
            "version": signed.version,
        }
    newest = (
        Report.objects.current()
        .filter(benchmark=benchmark, kind=Report.Kind.CALIBRATION, status=JobStatus.DONE)
        .values_list("result__facts__k", flat=True)
        .first()
    )
    if newest is None:
        return DEFAULT_K, _("10, because k has not been calibrated on this benchmark yet.")
    return int(newest), _("From the newest calibration of this benchmark, which has not been signed.")
