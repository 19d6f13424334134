"""What a later edition of a document changes for criteria that cite an earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from documents import access
from documents.editions.selectors import CitingCriterion, citing_criteria, nearest_in
from documents.editions.services import carry_citations, request_revisions
from documents.models import Document
from rubrics import consequences
from rubrics.consequences import Cost
from rubrics.views.benchmarks import csv_response


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def citations(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Which citations of earlier editions this one carries over; POST asks to reword the chosen criteria."""
    edition = access.get_managed_document(request.user, slug, public_id)
    refused: DomainError | None = None
    if request.method == "POST":
        chosen = [int(value) for value in request.POST.getlist("criterion") if value.isascii() and value.isdigit()]
        try:
            rows = request_revisions(edition=edition, items=chosen, by=request.user, at=timezone.now())
        except DomainError as error:
            refused = error
        else:
            words = ngettext(
                "Rewording of %(n)d criterion requested.", "Rewording of %(n)d criteria requested.", len(rows)
            )
            messages.success(request, words % {"n": len(rows)})
            return redirect("rubrics:revisions", slug)
    criteria = citing_criteria(edition)
    behind = [criterion for criterion in criteria if criterion.is_left_behind]
    carried = [criterion for criterion in criteria if criterion.is_carried]
    nearest = nearest_in(edition, behind)
    costs = consequences.costs([criterion.item.criterion_id for criterion in behind])
    return render(
        request,
        "documents/editions/citations.html",
        {
            "benchmark": edition.collection.benchmark,
            "edition": edition,
            "behind": [_row(criterion, nearest, costs) for criterion in behind],
            "carried": carried,
            "n_waiting": len(criteria) - len(behind) - len(carried),
            "costs": [(cost.what, sum(cost.counts.values())) for cost in costs],
            "refused": refused,
        },
        status=refused.status_code if refused else 200,
    )


def _row(
    criterion: CitingCriterion, nearest: dict[tuple[int, int, int], str], costs: Sequence[Cost]
) -> dict[str, object]:
    gone = [cited for cited in criterion.citations if cited.is_absent]
    return {
        "criterion": criterion,
        "gone": [(cited, nearest[cited.passage.pk, cited.start, cited.end]) for cited in gone],
        "costs": [(cost.what, cost.counts.get(criterion.item.criterion_id, 0)) for cost in costs],
    }


COLUMNS = (
    "case", "number", "criterion", "quote", "cited", "match", "carried_to", "rewording_requested",
)  # fmt: skip
TEXT_COLUMNS = ("case", "criterion", "quote", "cited", "carried_to")


@require_POST
@signed_in
def look_for_citations(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Look for the words of citations that came after the edition, say with an imported rubric."""
    edition = access.get_managed_document(request.user, slug, public_id)
    carry_citations(edition=edition, at=timezone.now())
    return redirect("documents:edition-citations", slug, public_id)


@require_safe
@signed_in
def citations_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """One row for each citation of an earlier edition."""
    edition = access.get_managed_document(request.user, slug, public_id)
    return csv_response(
        f"{slug}-{edition.key}-citations.csv", stream_csv(COLUMNS, _rows(edition), text_columns=TEXT_COLUMNS)
    )


def _rows(edition: Document) -> Iterator[Sequence[object]]:
    for criterion in citing_criteria(edition):
        for cited in criterion.citations:
            row = cited.carried
            yield (
                criterion.item.rubric.case.key,
                criterion.item.position,
                criterion.item.criterion.text,
                cited.quote if cited.passage.document.may_quote else None,
                cited.passage.locator,
                row.match if row else None,
                row.new_passage.locator if row and row.new_passage else None,
                int(criterion.is_requested),
            )
