"""Which responses a run codes, and how large it would be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from django.db import connection
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from annotation.models import LabelAnswer, LabelTask
from annotation.services.drawing import at_random, frame_of
from consilium.core.commands import Label
from consilium.core.errors import DomainError
from consilium.llm.coding import coding_messages
from consilium.llm.meter import BYTES_PER_TOKEN, MIN_BYTES_PER_TOKEN
from consilium.llm.prompts import body_of
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Benchmark, Candidate, CodeBook, Response
from scoring.coding.config import MAX_RESPONSES_PER_CASE, CodingConfig

MAX_RESPONSES = 1_000_000
# The texts as JSON. Each criterion has its number before it.
_BYTES = """
    SELECT COALESCE(sum(octet_length(to_json(r.text)::text) + octet_length(c.conversation::text) + COALESCE((
        SELECT sum(octet_length(to_json(k.text)::text) + 6)
        FROM rubrics_rubric u JOIN rubrics_rubricitem i ON i.rubric_id = u.id
        JOIN rubrics_criterion k ON k.id = i.criterion_id
        WHERE %(criteria)s AND u.case_id = c.id AND u.status = 'published' AND u.track = 'gold'
    ), 0)), 0)
    FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id WHERE r.id = ANY(%(responses)s)
"""


@command(frozen=True, slots=True)
class CodingFrame:
    """Which responses a run codes; those of excluded cases and of derived candidates are left out.

    ``by_physicians``: only those that a physician has coded by the same version. ``candidates`` are names, empty for
    all. ``responses``: how many are drawn by ``draw_seed``; 0 for all.
    """

    by_physicians: Annotated[
        bool,
        Field(description="Only responses that a physician has coded by the same version."),
        Label(
            gettext_lazy("Only responses that physicians have coded"),
            gettext_lazy("Enough to measure how far the judge agrees with physicians."),
        ),
    ] = False
    candidates: Annotated[
        tuple[str, ...],
        Field(description="Names; empty for all but derived ones."),
        Label(gettext_lazy("Candidates"), gettext_lazy("Choose none for all, except derived ones.")),
    ] = ()
    responses: Annotated[
        int,
        Field(ge=0, le=MAX_RESPONSES, description="How many, drawn by the seed; 0 for all."),
        Label(gettext_lazy("Responses"), gettext_lazy("Drawn at random from all that match. Leave empty to use all.")),
    ] = 0
    draw_seed: Annotated[
        int,
        Field(ge=0, le=2**31 - 1),
        Label(gettext_lazy("Seed for the draw"), gettext_lazy("The same seed draws the same responses.")),
    ] = 0


@dataclass(frozen=True, slots=True)
class ChosenResponses:
    """Case → its responses, in the order of their names: their places are the keys of the run's steps.

    ``with_findings``: cases that are left out because they have an open privacy finding.
    """

    by_case: Mapping[int, Sequence[int]]
    with_findings: int = 0

    @property
    def per_case(self) -> int:
        """The most of one case."""
        return max(map(len, self.by_case.values()), default=0)

    @property
    def n_responses(self) -> int:
        """All of them."""
        return sum(map(len, self.by_case.values()))

    @property
    def ids(self) -> list[int]:
        """The ids of all."""
        return [response for own in self.by_case.values() for response in own]


def choose_responses(benchmark: Benchmark, book: CodeBook, frame: CodingFrame) -> ChosenResponses:
    """The responses of a frame; `DomainError` where a candidate is unknown or nothing matches."""
    known = set(Candidate.objects.filter(benchmark=benchmark, name__in=frame.candidates).values_list("name", flat=True))
    for name in frame.candidates:
        if name not in known:
            message = _("The candidate “%(name)s” does not exist in this benchmark.")
            raise DomainError(message % {"name": name}, field="frame.candidates")
    rows = Response.objects.filter(case__benchmark=benchmark, case__excluded_at=None).exclude(text__regex=r"^\s*$")
    if frame.candidates:
        rows = rows.filter(candidate__name__in=frame.candidates)
    else:
        rows = rows.exclude(candidate__kind=Candidate.Kind.DERIVED)
    if frame.by_physicians:
        answers = LabelAnswer.objects.filter(
            question__code_book=book, task__status=LabelTask.Status.SUBMITTED, task__response=OuterRef("pk")
        )
        rows = rows.filter(Exists(answers))
    matching = frame_of(rows)
    withheld = cases_with_open_findings({row.case for row in matching})
    named = [row for row in matching if row.case not in withheld]
    if not named:
        raise DomainError(_nothing(withheld))
    drawn = at_random(named, frame.responses or len(named), frame.draw_seed, "coded")
    by_case: dict[int, list[int]] = defaultdict(list)
    for row in drawn:
        by_case[row.case].append(row.pk)
    chosen = ChosenResponses(dict(by_case), len(withheld))
    if chosen.per_case > MAX_RESPONSES_PER_CASE:
        message = _("A case has more than %(n)s responses. Choose candidates, or fewer responses.")
        raise DomainError(message % {"n": MAX_RESPONSES_PER_CASE})
    return chosen


def _nothing(withheld: Collection[int]) -> str:
    if withheld:
        return _("Every case with a matching response may name a person, and no one has given a reason to keep this.")
    return _("No responses match these filters.")


@dataclass(frozen=True, slots=True)
class CodingSize:
    """The size of a run that has not been made yet.

    ``cost_at_most``: what its requests can cost if each answer is as long as it may be and none is asked again; None
    without prices.
    """

    cases: int
    requests: int
    tokens_in: int
    cost_at_most: float | None
    currency: str


def size_of(chosen: ChosenResponses, config: CodingConfig) -> CodingSize:
    """Count requests, and the bytes that they send; the database counts those of the texts."""
    listed = [""] if config.criteria else []
    messages = coding_messages([], "", config.options, nonce="0" * 24, criteria=listed)
    n_bytes = len(body_of(messages, config.parameters(0))) * chosen.n_responses
    with connection.cursor() as cursor:
        cursor.execute(_BYTES, {"responses": chosen.ids, "criteria": config.criteria})
        n_bytes += int(cursor.fetchone()[0])
    cost = None
    if config.priced:
        most_out = chosen.n_responses * config.max_tokens
        cost = config.allowance.cost(n_bytes / MIN_BYTES_PER_TOKEN, most_out)
    return CodingSize(
        cases=len(chosen.by_case),
        requests=chosen.n_responses,
        tokens_in=n_bytes // BYTES_PER_TOKEN,
        cost_at_most=cost,
        currency=config.currency,
    )
