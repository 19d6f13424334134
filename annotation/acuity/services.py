"""Signs reference sets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.acuity.panel import AmbiguousRule
from annotation.acuity.references import datasets_on, digest_of, references_of
from annotation.models import FIRST_ROUND, LAST_ROUND, ReferenceItem, ReferenceSet
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_REASON_LENGTH
from rubrics.imports.bulk import copy_rows
from rubrics.models import AcuityScale, Benchmark

MAX_MINIMUM_VOTES = 50
ITEM_COLUMNS = (
    *("reference_set", "case", "status", "source", "low", "high"),
    *("votes", "n_cannot_tell", "certainty", "later_votes"),
)


@transaction.atomic
def sign_reference_set(
    *,
    scale: AcuityScale,
    datasets: Sequence[str],
    ambiguous: AmbiguousRule,
    minimum_votes: int,
    note: str,
    seen: str | None,
    by: User | None,
    at: datetime,
    round: int = FIRST_ROUND,
) -> ReferenceSet:
    """Freeze the references of all cases on the scale as the next set of its benchmark, by votes handed in by ``at``.

    With ``round`` 2 the reference of a panel comes from its last round. ``seen`` is the digest of what the signer saw;
    None on the command line, which shows nothing first. `Conflict` where a vote or label has changed it since, or where
    the newest set is the same.
    """
    benchmark = scale.benchmark
    # Concurrent requests wait here, so that no two sets get the same number.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    unknown = sorted(set(datasets) - set(datasets_on(benchmark, scale)))
    if unknown:
        raise DomainError(_("These datasets have no label on the scale: %(names)s.") % {"names": ", ".join(unknown)})
    if not 1 <= minimum_votes <= MAX_MINIMUM_VOTES:
        raise DomainError(
            _("The minimum number of votes must be between 1 and %(most)s.") % {"most": MAX_MINIMUM_VOTES}
        )
    if len(note) > MAX_REASON_LENGTH:
        raise DomainError(_("A note has at most %(n)s characters.") % {"n": MAX_REASON_LENGTH})
    if round not in (FIRST_ROUND, LAST_ROUND):
        raise DomainError(_("References must come from the votes of the first round or of the last round."))
    references = references_of(
        benchmark, scale, datasets=datasets, ambiguous=ambiguous, minimum=minimum_votes, round=round, until=at
    )
    if not any(reference.low is not None for reference in references):
        raise DomainError(_("No case has a reference yet. Import labels, or ask physicians to vote."))
    digest = digest_of(scale, references)
    if seen is not None and seen != digest:
        raise Conflict(_("Votes or labels have changed since you opened this page. Review the new numbers, then sign."))
    newest = ReferenceSet.objects.filter(benchmark=benchmark, scale=scale).order_by("-number").first()
    if newest is not None and (newest.digest, newest.ambiguous, newest.round) == (digest, ambiguous, round):
        raise Conflict(_("Reference set %(number)s already has exactly this content.") % {"number": newest.number})
    last = ReferenceSet.objects.filter(benchmark=benchmark).aggregate(last=Max("number"))["last"] or 0
    reference_set = ReferenceSet.objects.create(
        benchmark=benchmark,
        number=last + 1,
        scale=scale,
        datasets=sorted(datasets),
        ambiguous_rule=ambiguous.by,
        ambiguous_threshold=ambiguous.threshold,
        minimum_votes=minimum_votes,
        round=round,
        note=note.strip(),
        digest=digest,
        signed_by=by,
        signed_as=str(by) if by else "",
        signed_at=at,
    )
    copy_rows(
        ReferenceItem,
        ITEM_COLUMNS,
        (
            (
                *(reference_set.pk, own.case_id, str(own.status), str(own.source), own.low, own.high),
                *(list(own.votes), own.n_cannot_tell, own.certainty, list(own.later_votes)),
            )
            for own in references
        ),
    )
    return reference_set
