"""Plans a regrading batch: each response with its missing criteria, for the annotators who graded it before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.allocation.allocate import NO_CHECKER, drawn_places, keyed
from annotation.models import Assignment, Batch, BatchItem, ExpertGroup, Involvement, Membership, Physician, Slot
from annotation.regrading.lacking import Lacking, graders_of, lacking_in
from annotation.selectors.able import able_annotators
from annotation.services.batch_terms import BatchTerms, warn_of_past
from annotation.services.batch_titles import sound_title
from annotation.services.notices import notify_of_new_work
from annotation.services.planning import without_account
from annotation.services.previews import lock_group, refuse_repeated
from annotation.services.rules import readable_constraint_errors
from consilium.core.errors import Conflict, DomainError
from rubrics.models import Response


@dataclass(frozen=True, slots=True)
class RegradingTask:
    """One physician's work: the response, and the criteria that they are asked about."""

    lacking: Lacking
    annotator: int
    again: bool  # they graded the response before
    position: int = 0
    to_check: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """How much work one physician would get."""

    user: User
    pseudonym: str
    responses: int
    decisions: int
    again: int  # how many of the responses they graded before


@dataclass(frozen=True, slots=True)
class RegradingPlan:
    """A batch before it is made. ``digest`` identifies the plan, so that only the previewed plan can be made."""

    group: ExpertGroup
    terms: BatchTerms
    pieces: tuple[RegradingTask, ...]
    loads: tuple[Load, ...]
    warnings: tuple[str, ...]

    @property
    def responses(self) -> int:
        """Responses in the batch."""
        return len({piece.lacking.response for piece in self.pieces})

    @property
    def decisions(self) -> int:
        """Decisions to be made in all."""
        return sum(len(piece.lacking.criteria) for piece in self.pieces)

    @property
    def checks(self) -> int:
        """Pieces drawn for a secondary check."""
        return sum(piece.to_check for piece in self.pieces)

    @property
    def digest(self) -> str:
        """Changes with responses, criteria, annotators, queues and the drawn checks."""
        rows = [
            (p.lacking.response, p.lacking.rubric, p.lacking.criteria, p.annotator, p.position, p.to_check)
            for p in self.pieces
        ]
        return sha256(repr(rows).encode()).hexdigest()[:16]


def plan_regrading(*, group: ExpertGroup, terms: BatchTerms, cases: Iterable[str] = ()) -> RegradingPlan:
    """Plan who decides what is lacking, without writing anything; limited to ``cases`` (public ids) where given.

    Each response goes to those who graded it before. Where one of them has left the group or gets no new work, another
    annotator without a part in the response takes their place. “Cannot assess” needs a note if it did in an earlier
    batch of these responses. `DomainError` if nothing is lacking or nobody can grade.
    """
    lacking = _of_cases(lacking_in(group), cases)
    if not lacking:
        raise DomainError(
            _(
                "No response needs to be graded again: every graded response has decisions on all of its current "
                "criteria."
            )
        )
    warnings: list[str] = []
    annotators = able_annotators(group)
    able = annotators.users
    warnings += annotators.warnings()
    if not able:
        raise DomainError(_("The group has no annotator who can receive new assignments."))
    has_checker = Membership.objects.filter(group=group, role=Membership.Role.CHECKER, active=True).exists()
    if terms.fraction > 0 and not has_checker:
        raise DomainError(_(NO_CHECKER))
    pieces = _given_out(group, lacking, able, terms.seed, warnings)
    if not pieces:
        raise DomainError(_("No one in the group can grade these responses again."))
    pieces = _in_order(pieces, terms)
    if _notes_were_needed(group, pieces):
        terms = replace(terms, explain_cannot_assess=True)
        warnings.append(_("“Can’t assess” requires a note, as in an earlier batch with these responses."))
    warnings += without_account({piece.annotator for piece in pieces})
    warnings += warn_of_past(terms.due_date)
    return RegradingPlan(group, terms, tuple(pieces), _loads(group, pieces), tuple(warnings))


def _of_cases(rows: list[Lacking], cases: Iterable[str]) -> list[Lacking]:
    chosen = set(cases)
    if not chosen:
        return rows
    known = dict(Response.objects.filter(pk__in=[row.response for row in rows]).values_list("pk", "case__public_id"))
    return [row for row in rows if known[row.response] in chosen]


def _given_out(
    group: ExpertGroup, lacking: list[Lacking], able: list[int], seed: int, warnings: list[str]
) -> list[RegradingTask]:
    responses = [row.response for row in lacking]
    graders = graders_of(group, responses)
    authors = dict(Response.objects.filter(pk__in=responses).values_list("pk", "author_id"))
    parts: dict[int, set[int]] = {}
    for response, user in Involvement.objects.filter(response__in=responses).values_list("response_id", "user_id"):
        parts.setdefault(response, set()).add(user)
    load: Counter[int] = Counter()
    pieces, short, instead = [], 0, 0
    for row in lacking:
        again = [user for user in graders.get(row.response, []) if user in able]
        others = [user for user in able if user not in parts.get(row.response, set()) and user != authors[row.response]]
        gone = len(graders.get(row.response, [])) - len(again)
        others.sort(key=lambda user: (load[user], keyed(seed, "instead", row.response, user)))
        for user in (*again, *others[:gone]):
            load[user] += 1
            pieces.append(RegradingTask(row, user, user in again))
        instead += min(gone, len(others))
        short += max(0, gone - len(others))
    if instead:
        text = ngettext(
            "%(n)d assignment goes to another annotator, because assignments to the physician who graded "
            "the response are paused.",
            "%(n)d assignments go to other annotators, because assignments to the physicians who graded "
            "the responses are paused.",
            instead,
        )
        warnings.append(text % {"n": instead})
    if short:
        text = ngettext(
            "No one is left for %(n)d assignment: every annotator already has a role in the response.",
            "No one is left for %(n)d assignments: every annotator already has a role in the response.",
            short,
        )
        warnings.append(text % {"n": short})
    return pieces


def _notes_were_needed(group: ExpertGroup, pieces: list[RegradingTask]) -> bool:
    """Whether the group graded any of these responses in a batch where “cannot assess” needs a note."""
    graded = Assignment.objects.filter(
        batch__group=group,
        purpose=Assignment.Purpose.WORK,
        response__in={piece.lacking.response for piece in pieces},
        submitted_at__isnull=False,
    ).exclude(status=Assignment.Status.RELEASED)
    return graded.filter(batch__explain_cannot_assess=True).exists()


def _in_order(pieces: list[RegradingTask], terms: BatchTerms) -> list[RegradingTask]:
    """Tasks in the order of each annotator's queue (a keyed shuffle, by case where asked), with the checks drawn."""
    by_case = terms.order == Batch.Order.BY_CASE

    def place(piece: RegradingTask) -> tuple[int, int, int]:
        case = keyed(terms.seed, "queue", piece.annotator, "case", piece.lacking.case) if by_case else 0
        return case, keyed(terms.seed, "queue", piece.annotator, "response", piece.lacking.response), piece.annotator

    checked = drawn_places(len(pieces), terms.fraction, terms.seed)
    position: Counter[int] = Counter()
    ordered = []
    for number, piece in enumerate(sorted(pieces, key=place)):
        position[piece.annotator] += 1
        ordered.append(replace(piece, position=position[piece.annotator], to_check=number in checked))
    return ordered


def _loads(group: ExpertGroup, pieces: list[RegradingTask]) -> tuple[Load, ...]:
    users = {piece.annotator for piece in pieces}
    names = dict(
        Physician.objects.filter(benchmark=group.benchmark_id, user__in=users).values_list("user_id", "pseudonym")
    )
    loads = []
    for user in User.objects.filter(pk__in=users).order_by("name", "pk"):
        own = [piece for piece in pieces if piece.annotator == user.pk]
        decisions = sum(len(piece.lacking.criteria) for piece in own)
        loads.append(Load(user, names.get(user.pk, ""), len(own), decisions, sum(piece.again for piece in own)))
    return tuple(loads)


def _refuse_if_given_out_since(plan: RegradingPlan) -> None:
    """Refuse the second of two simultaneous batches from the same plan: nobody decides the same criteria twice."""
    lacking = {row.response: row for row in lacking_in(plan.group)}
    if any(lacking.get(piece.lacking.response) != piece.lacking for piece in plan.pieces):
        raise Conflict(_("Rubrics, decisions or members have changed since the preview. Review the new preview first."))


@transaction.atomic
def make_regrading(
    *,
    group: ExpertGroup,
    terms: BatchTerms,
    by: User | None,
    at: datetime,
    cases: Iterable[str] = (),
    digest: str = "",
) -> tuple[Batch, RegradingPlan]:
    """Plan a batch of what is lacking and make it; `AlreadyCreated` and `Conflict` as in `make_batch`."""
    lock_group(group)
    refuse_repeated(group=group, kind=Batch.Kind.GRADE, seed=terms.seed, digest=digest)
    plan = plan_regrading(group=group, terms=terms, cases=cases)
    return create_regrading(plan=plan, by=by, at=at, digest=digest), plan


@transaction.atomic
def create_regrading(*, plan: RegradingPlan, by: User | None, at: datetime, digest: str = "") -> Batch:
    """Make the batch exactly as planned. `Conflict` if ``digest`` is that of another plan."""
    if digest and digest != plan.digest:
        raise Conflict(_("Rubrics, decisions or members have changed since the preview. Review the new preview first."))
    lock_group(plan.group)
    refuse_repeated(group=plan.group, kind=Batch.Kind.GRADE, seed=plan.terms.seed, digest=digest)
    _refuse_if_given_out_since(plan)
    terms = plan.terms
    title = sound_title(terms.title, benchmark=plan.group.benchmark)
    per_response = Counter(piece.lacking.response for piece in plan.pieces)
    batch = Batch.objects.create(
        group=plan.group,
        title=title,
        order=terms.order,
        annotators_per_item=max(per_response.values()),
        check_policy=terms.check_policy,
        check_fraction=terms.fraction,
        explain_cannot_assess=terms.explain_cannot_assess,
        due_date=terms.due_date,
        seed=terms.seed,
        plan_digest=digest,
        # Nothing was drawn: every response that lacks decisions is included, however it came into earlier batches.
        frame={"filter": {"again": "criteria without a decision"}, "seed": terms.seed, "in_frame": plan.responses,
               "drawn": plan.responses, "inclusion_probability": 1.0},
        created_by=by,
        created_at=at,
    )  # fmt: skip
    lacking = {piece.lacking.response: piece.lacking for piece in plan.pieces}
    items = BatchItem.objects.bulk_create(
        [BatchItem(batch=batch, response_id=row.response, rubric_id=row.rubric) for row in lacking.values()],
        batch_size=1000,
    )
    slots = {
        (slot.item.response_id, slot.number): slot
        for slot in Slot.objects.bulk_create(
            [
                Slot(item=item, number=number)
                for item in items
                for number in range(1, per_response[item.response_id] + 1)
            ],
            batch_size=1000,
        )
    }
    taken: Counter[int] = Counter()
    rows = []
    for piece in plan.pieces:
        row = piece.lacking
        taken[row.response] += 1
        rows.append(
            Assignment(
                batch=batch,
                case_id=row.case,
                response_id=row.response,
                rubric_id=row.rubric,
                criteria=list(row.criteria),
                annotator_id=piece.annotator,
                slot=slots[row.response, taken[row.response]],
                position=piece.position,
                to_check=piece.to_check,
            )
        )
    with readable_constraint_errors():
        Assignment.objects.bulk_create(rows, batch_size=1000)
    notify_of_new_work(batch=batch, at=at)
    return batch
