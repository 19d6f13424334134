"""The decisions behind a number of a report, page by page."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from agreement import access
from agreement.kinds import kind_of
from agreement.kinds.shared import row_label
from agreement.reports.evidence import behind, decided
from agreement.scoreboard.case_sets import parted
from agreement.selectors.rater_choices import shown_name
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus
from consilium.core.labels import OUTCOME_LABELS
from rubrics.slice_words import slice_words

PER_PAGE = 50
_WORDS = {
    "differ": gettext_lazy("Disagree"),
    "agree": gettext_lazy("Agree"),
    "left_out": gettext_lazy("Not included"),
    "not_met": OUTCOME_LABELS["not_met"],
    "met": OUTCOME_LABELS["met"],
    "other": gettext_lazy("Other"),
}


@require_safe
@signed_in
def decisions(request: SignedInRequest, slug: str, section: str, public_id: str) -> HttpResponse:
    """The pairs of one slice (``slice``), differences first; ``show`` narrows them, ``side`` chooses two raters."""
    report = access.get_report(request.user, slug, public_id)
    if report.section != section or report.status != JobStatus.DONE:
        raise Http404
    slice_name = request.GET.get("slice") or "all"
    kind = kind_of(report)
    sides = kind.sides_of(report) if kind.sides_of else kind.sides
    side, show = request.GET.get("side", ""), request.GET.get("show", "")
    try:
        evidence = behind(report, slice_name, side=side, show=show)
    except KeyError:
        raise Http404 from None
    except DomainError as error:
        # The figure exists, but its raters no longer do: show the reason.
        messages.error(request, str(error))
        return redirect("agreement:report", slug, section, public_id)
    part, candidate = parted(slice_name)
    if slice_name.startswith("candidate:"):
        candidate = slice_name.removeprefix("candidate:")
    page = Paginator(range(len(evidence)), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "benchmark": report.benchmark,
        "report": report,
        "slice": slice_name,
        "slice_label": row_label(slice_name),
        "part": slice_words(part),
        "candidate": candidate,
        "rater_a": shown_name(report.benchmark, evidence.rater_a),
        "rater_b": shown_name(report.benchmark, evidence.rater_b) if evidence.rater_b else "",
        "groups": [(name, _WORDS[name], count) for name, count in evidence.counts.items()],
        "counts": evidence.counts,
        "total": sum(evidence.counts.values()),
        "show": show if show in evidence.counts else "",
        "side": side if side in sides else next(iter(sides), ""),
        "sides": list(sides.items()),
        "changed": evidence.digest != report.input_digest,
        "page": page,
        "rows": decided(report.benchmark, evidence, list(page)),
    }
    return render(request, "agreement/reports/decisions.html", context)
