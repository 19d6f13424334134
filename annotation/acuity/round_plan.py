"""Opens a second round: the ambiguous cases of a question go once more to the physicians who voted on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Annotated

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from accounts.models import User
from annotation.acuity.outstanding import votes_outstanding
from annotation.acuity.panel import AmbiguousRule, PanelStatus
from annotation.acuity.panel_results import LevelResults, level_results
from annotation.labels.batches import (
    LabelBatchInput,
    LabelLoad,
    questions_on_scales_of,
    store_label_batch,
    tasks_asking,
)
from annotation.models import LAST_ROUND, Batch, ExpertGroup, LabelQuestion, LabelTask, Physician, RulingRequest
from annotation.selectors.able import able_annotators
from annotation.services.batch_terms import MAX_SEED, CaseBatchTitle, DueDate, warn_of_past
from annotation.services.previews import lock_group, refuse_repeated
from consilium.core.commands import Label
from consilium.core.drawing import keyed
from consilium.core.errors import Conflict, DomainError
from consilium.core.order import natural
from rubrics.models import Case


@command(frozen=True, slots=True)
class RoundTerms:
    """How a second round is given out. A title may be empty in a preview."""

    title: CaseBatchTitle
    seed: Annotated[
        int,
        Field(ge=0, le=MAX_SEED),
        Label(
            gettext_lazy("Seed"),
            gettext_lazy("The seed shuffles the order in which each physician receives their cases."),
        ),
    ]
    due_date: DueDate = None


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """A second round before it is opened. ``digest`` identifies it: exactly the preview is opened, or nothing.

    ``votes`` has for each physician the cases that they vote on again, in the order of their queue.
    """

    group: ExpertGroup
    question: LabelQuestion
    rule: AmbiguousRule
    terms: RoundTerms
    cases: tuple[str, ...]
    votes: dict[int, tuple[int, ...]]
    loads: tuple[LabelLoad, ...]
    warnings: tuple[str, ...]
    digest: str

    @property
    def answers(self) -> int:
        """Number of votes asked for."""
        return sum(map(len, self.votes.values()))


def ambiguous_cases(results: LevelResults, rule: AmbiguousRule) -> dict[int, str]:
    """The cases that round 1 leaves ambiguous by the rule: id and key."""
    minimum = results.question.minimum_answers
    return {case.id: case.key for case in results.cases if case.panel.status(rule, minimum) is PanelStatus.AMBIGUOUS}


def cases_to_read(cases: dict[int, str]) -> tuple[dict[int, str], list[str]]:
    """Those of ``cases`` that are not excluded and have a text, and a warning if others are left out.

    Of a stub only labels, votes and readings are known: nobody can read it. `DomainError` if no case is left.
    """
    included = Case.with_stubs.included().filter(pk__in=cases)
    is_stub = dict(included.values_list("pk", "is_stub"))
    if not is_stub:
        raise DomainError(_("All ambiguous cases have since been excluded."))
    n_stubs = sum(is_stub.values())
    if n_stubs == len(is_stub):
        raise DomainError(
            ngettext(
                "The text of the ambiguous case is not stored here, so the case cannot be read. Import its text first.",
                "The texts of the %(number)d ambiguous cases are not stored here, so the cases cannot be "
                "read. Import their texts first.",
                n_stubs,
            )
            % {"number": n_stubs}
        )
    return {pk: key for pk, key in cases.items() if is_stub.get(pk) is False}, _stubs_warning(n_stubs)


def _stubs_warning(number: int) -> list[str]:
    if not number:
        return []
    text = ngettext(
        "The text of %(number)d ambiguous case is not stored here, so the case cannot be read and is not included.",
        "The texts of %(number)d ambiguous cases are not stored here, so the cases cannot be read and "
        "are not included.",
        number,
    )
    return [text % {"number": number}]


def unfinished_cases(question: LabelQuestion, cases: dict[int, str]) -> set[int]:
    """Those of ``cases`` about which somebody still has to answer the question, or another one on its scale."""
    unfinished: set[int] = set()
    for public_id in questions_on_scales_of([question]).values_list("public_id", flat=True):
        rows = LabelTask.objects.filter(votes_outstanding([public_id]), case__in=cases)
        unfinished |= set(rows.values_list("case", flat=True))
    return unfinished


def unfinished_warning(number: int) -> str:
    """Says that cases are left out because of open votes."""
    return ngettext(
        "%(number)d ambiguous case is still waiting for votes and is not included.",
        "%(number)d ambiguous cases are still waiting for votes and are not included.",
        number,
    ) % {"number": number}


def plan_round(*, group: ExpertGroup, question: LabelQuestion, rule: AmbiguousRule, terms: RoundTerms) -> RoundPlan:
    """Who would vote again on which cases; nothing is written. `DomainError` says what is missing.

    A case comes in if it is ambiguous by the votes of round 1, counts, can be read, all of its votes on the scale are
    in, and it has no second round and no request for a ruling yet. It goes to the annotators of the group who voted on
    it and may get new work.
    """
    if not question.active:
        raise DomainError(_("A retired question cannot be asked."))
    results = level_results(question, {})
    of_votes = ambiguous_cases(results, rule)
    if not of_votes:
        raise DomainError(_("No case is ambiguous by this rule."))
    ambiguous, warnings = cases_to_read(of_votes)
    later = tasks_asking([question]).filter(case__in=ambiguous, round=LAST_ROUND)
    later = later.exclude(status=LabelTask.Status.RELEASED)
    over = set(later.values_list("case", flat=True))
    over |= set(RulingRequest.objects.filter(question=question, case__in=ambiguous).values_list("case", flat=True))
    unfinished = unfinished_cases(question, ambiguous) - over
    ready = {pk: key for pk, key in ambiguous.items() if pk not in unfinished | over}
    people = able_annotators(group).users
    pairs = {(vote.case_id, vote.physician) for vote in results.votes if vote.case_id in ready}
    pairs = {(case, person) for case, person in pairs if person in people}
    if not pairs:
        raise DomainError(_no_case(len(unfinished), len(over), len(ready)))
    cases = tuple(sorted(ready[case] for case in {case for case, _person in pairs}))
    votes = {
        person: tuple(
            sorted(
                (case for case, voter in pairs if voter == person),
                key=lambda case: (keyed(terms.seed, "queue", person, ready[case]), case),
            )
        )
        for person in sorted({person for _case, person in pairs})
    }
    if unfinished:
        warnings.append(unfinished_warning(len(unfinished)))
    if len(cases) < len(ready):
        number = len(ready) - len(cases)
        warnings.append(
            ngettext(
                "%(number)d ambiguous case has no voter in this group and is not included.",
                "%(number)d ambiguous cases have no voter in this group and are not included.",
                number,
            )
            % {"number": number}
        )
    digest = sha256(repr((group.pk, question.pk, rule.in_words, sorted(votes.items()))).encode()).hexdigest()
    warnings = [*warnings, *warn_of_past(terms.due_date)]
    return RoundPlan(group, question, rule, terms, cases, votes, _loads(group, votes), tuple(warnings), digest)


def _no_case(n_unfinished: int, n_over: int, n_ready: int) -> str:
    if n_ready:
        return _("No physician in this group who can receive new assignments has voted on an ambiguous case.")
    if n_unfinished:
        return unfinished_warning(n_unfinished)
    return ngettext(
        "The %(number)d ambiguous case has already had its second round or is waiting for a ruling.",
        "All %(number)d ambiguous cases have already had their second round or are waiting for a ruling.",
        n_over,
    ) % {"number": n_over}


def _loads(group: ExpertGroup, votes: dict[int, tuple[int, ...]]) -> tuple[LabelLoad, ...]:
    names = dict(Physician.objects.filter(benchmark=group.benchmark_id).values_list("user_id", "pseudonym"))
    people = sorted(User.objects.filter(pk__in=votes), key=lambda user: (natural(user.name), user.pk))
    return tuple(LabelLoad(user, names.get(user.pk, ""), len(votes[user.pk])) for user in people)


@transaction.atomic
def open_round(
    *,
    group: ExpertGroup,
    question: LabelQuestion,
    rule: AmbiguousRule,
    terms: RoundTerms,
    by: User | None,
    at: datetime,
    digest: str = "",
) -> Batch:
    """Give the ambiguous cases once more to those who voted on them, as a batch of round 2.

    `AlreadyCreated` and `Conflict` as in `make_label_batch`.
    """
    # One round of a question at a time, whatever group it is for.
    LabelQuestion.objects.select_for_update(no_key=True).get(pk=question.pk)
    lock_group(group)
    refuse_repeated(group=group, kind=Batch.Kind.LABEL, seed=terms.seed, digest=digest)
    plan = plan_round(group=group, question=question, rule=rule, terms=terms)
    if digest and digest != plan.digest:
        raise Conflict(
            _("Votes or members have changed since the preview. Review the new preview, then open the round.")
        )
    most = max(Counter(case for cases in plan.votes.values() for case in cases).values())
    return store_label_batch(
        LabelBatchInput(
            group=group,
            title=terms.title,
            annotators_per_case=most,
            due_date=terms.due_date,
            seed=terms.seed,
            digest=digest,
            frame={
                "questions": [question.public_id],
                "round": LAST_ROUND,
                "ambiguous": rule.in_words,
                "seed": terms.seed,
                "in_frame": len(plan.cases),
                "drawn": len(plan.cases),
            },
        ),
        (
            LabelTask(case_id=case, annotator_id=person, position=position, round=LAST_ROUND)
            for person, cases in plan.votes.items()
            for position, case in enumerate(cases, start=1)
        ),
        by=by,
        at=at,
    )
