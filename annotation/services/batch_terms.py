"""The terms of a batch, shared by its form, the API and the service that makes it."""

from __future__ import annotations

import secrets
from dataclasses import field
from datetime import date
from typing import Annotated

from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from annotation.models import Batch
from annotation.selectors.languages_read import MatchLanguages
from consilium.core.commands import Label, OneOf
from consilium.core.limits import MAX_TITLE_LENGTH

MAX_SEED = 2**63 - 1
DueDate = Annotated[date | None, Label(_("Due"))]
# Fields of a batch of cases, for label questions or for writing.
CaseBatchTitle = Annotated[str, Field(max_length=MAX_TITLE_LENGTH), Label(_("Title"), _("Visible to physicians."))]
CaseBatchSeed = Annotated[
    int,
    Field(ge=0, le=MAX_SEED),
    Label(_("Seed"), _("The same seed with the same cases assigns them to the same physicians.")),
]


IncludeInvited = Annotated[
    bool,
    Label(
        _("Also assign work to invited people"),
        _("They have not signed in yet. Their assignments wait until they do."),
    ),
]


def is_past(due_date: date | None) -> bool:
    """Whether there is a due date and it has passed, in the reader's time zone."""
    return due_date is not None and due_date < timezone.localdate()


def warn_of_past(due_date: date | None) -> list[str]:
    """A warning about a due date that has passed: before a batch is created, after it, and when the date is changed."""
    if not is_past(due_date):
        return []
    return [gettext("The due date has already passed, so the batch counts as overdue.")]


def new_seed() -> int:
    """A seed for a new batch; it is a field of the form, so that preview and batch are drawn with the same seed."""
    return secrets.randbelow(2**53)  # exact in JSON and JavaScript, too


@command(frozen=True, slots=True)
class BatchTerms:
    """How a batch is worked on. A title may be empty in a preview."""

    title: Annotated[
        str,
        Field(max_length=MAX_TITLE_LENGTH),
        Label(_("Title"), _("Annotators see it. Do not say who wrote the responses: no model, and no physicians.")),
    ]
    annotators_per_item: Annotated[int, Field(ge=1, le=20), Label(_("Annotators per response"))] = 1
    check_policy: Annotated[str, OneOf(Batch.CheckPolicy), Label(_("Secondary check"))] = Batch.CheckPolicy.ALL
    check_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    order: Annotated[str, OneOf(Batch.Order), Label(_("Order of the queue"))] = Batch.Order.BY_CASE
    due_date: DueDate = None
    seed: Annotated[
        int,
        Field(ge=0, le=MAX_SEED),
        Label(_("Seed"), _("The same seed with the same responses draws the same batch.")),
    ] = field(default_factory=new_seed)
    strategy: Annotated[
        str,
        OneOf(Batch.Strategy),
        Label(
            _("How work is assigned"),
            _(
                "Assigned: every physician receives an even share at once. Pool: physicians who have "
                "time claim the next response, so that faster physicians do more and no work waits for "
                "someone who is away."
            ),
        ),
    ] = Batch.Strategy.PLANNED
    specialty_match: Annotated[
        str,
        OneOf(Batch.SpecialtyMatch),
        Label(
            _("Specialty"),
            _(
                "Compares the physician’s specialty with the first specialty tag of the case, using the "
                "benchmark’s category mapping."
            ),
        ),
    ] = Batch.SpecialtyMatch.NONE
    match_languages: MatchLanguages = True
    lease_hours: Annotated[
        int | None,
        Field(ge=1, le=8760),
        Label(
            _("Return to the pool after (hours)"),
            _(
                "Open work that its physician has not touched for this long returns to the pool for "
                "others to claim; the draft is kept. Leave empty to never return it automatically."
            ),
        ),
    ] = None
    gold_per_annotator: Annotated[
        int,
        Field(ge=0, le=100),
        Label(
            _("Gold items for each annotator"),
            _(
                "Responses with agreed decisions, mixed in so that physicians cannot recognise them. The "
                "results appear on the “Quality” page."
            ),
        ),
    ] = 0
    explain_cannot_assess: Annotated[
        bool,
        Label(
            _("“Can’t assess” needs a note"),
            _("A response can be submitted once every criterion marked “Can’t assess” has a note that explains why."),
        ),
    ] = False
    include_invited: IncludeInvited = False

    @property
    def fraction(self) -> float:
        """The share of the work that the policy sends to a check."""
        return {"none": 0.0, "all": 1.0}.get(self.check_policy, self.check_fraction)

    @property
    def pool(self) -> bool:
        """Whether annotators take responses from a pool instead of getting them assigned."""
        return self.strategy == Batch.Strategy.POOL
