"""Rulings on cases whose panel stays ambiguous: asking adjudicators for them, and giving one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.acuity.panel import AmbiguousRule, PanelStatus
from annotation.acuity.panel_results import LevelResults, level_results
from annotation.acuity.round_plan import ambiguous_cases, cases_to_read, unfinished_cases, unfinished_warning
from annotation.acuity.votes import panels_of
from annotation.labels.batches import tasks_asking
from annotation.labels.services import refuse_impossible_note
from annotation.models import (
    LAST_ROUND,
    AcuityRuling,
    ExpertGroup,
    LabelAnswer,
    LabelQuestion,
    LabelTask,
    Membership,
    RulingRequest,
)
from annotation.services.notices import notify_of_rulings
from annotation.services.rules import readable_constraint_errors
from consilium.core.drawing import keyed
from consilium.core.errors import Conflict, DomainError

STAYS_AMBIGUOUS = "stays-ambiguous"


@dataclass(frozen=True, slots=True)
class RulingPlan:
    """Which cases adjudicators would be asked to rule on. ``digest`` identifies it, as in `RoundPlan`."""

    group: ExpertGroup
    question: LabelQuestion
    rule: AmbiguousRule
    cases: dict[int, str]  # id and key
    warnings: tuple[str, ...]
    digest: str


def plan_rulings(*, group: ExpertGroup, question: LabelQuestion, rule: AmbiguousRule) -> RulingPlan:
    """The cases that are still ambiguous after their last round; nothing is written.

    Such a case can be read, all votes on it are in, round 1 leaves it ambiguous by the rule, and so does round 2 where
    enough physicians voted in it. `DomainError` says what is missing.
    """
    adjudicators = list(
        Membership.objects.filter(
            group=group, role=Membership.Role.ADJUDICATOR, active=True, user__is_active=True
        ).values_list("user_id", flat=True)
    )
    if not adjudicators:
        raise DomainError(_("This group has no adjudicator."))
    results = level_results(question, {})
    still = still_ambiguous(results, rule)
    if not still:
        raise DomainError(_("No case is ambiguous by this rule after its last round."))
    ambiguous, warnings = cases_to_read(still)
    unfinished = unfinished_cases(question, ambiguous)
    requested = set(RulingRequest.objects.filter(question=question).values_list("case", flat=True))
    cases = {pk: key for pk, key in ambiguous.items() if pk not in unfinished | requested}
    if not cases:
        if unfinished - requested:
            raise DomainError(unfinished_warning(len(unfinished - requested)))
        raise DomainError(_("Rulings on all ambiguous cases have already been requested."))
    if unfinished:
        warnings.append(unfinished_warning(len(unfinished)))
    without = cases_without_adjudicator(question, cases, adjudicators)
    if without:
        warnings.append(
            ngettext(
                "Every adjudicator in this group has voted on %(number)d of the cases, so no one can rule on it.",
                "Every adjudicator in this group has voted on %(number)d of the cases, so no one can rule on them.",
                len(without),
            )
            % {"number": len(without)}
        )
    digest = sha256(repr((group.pk, question.pk, rule.in_words, sorted(cases))).encode()).hexdigest()
    return RulingPlan(group, question, rule, cases, tuple(warnings), digest)


def still_ambiguous(results: LevelResults, rule: AmbiguousRule) -> dict[int, str]:
    """The cases that round 1 leaves ambiguous by the rule, and round 2 too, if it has enough votes: id and key."""
    minimum = results.question.minimum_answers
    later = panels_of(results.later_votes, len(results.scale), LAST_ROUND)
    cases = {}
    for pk, key in ambiguous_cases(results, rule).items():
        panel = later.get(pk)
        if panel is None or panel.status(rule, minimum) in (PanelStatus.AMBIGUOUS, PanelStatus.TOO_FEW):
            cases[pk] = key
    return cases


def cases_without_adjudicator(question: LabelQuestion, cases: dict[int, str], adjudicators: list[int]) -> set[int]:
    """Those of ``cases`` that every one of the adjudicators has voted on, or was asked about."""
    tasks = tasks_asking([question]).filter(case__in=cases, annotator__in=adjudicators)
    tasks = tasks.exclude(status=LabelTask.Status.RELEASED)
    voted = LabelAnswer.objects.filter(
        task__case__in=cases, task__annotator__in=adjudicators, question__kind=LabelQuestion.Kind.LEVELS
    )
    pairs = {*tasks.values_list("case", "annotator"), *voted.values_list("task__case", "task__annotator")}
    return {case for case in cases if all((case, person) in pairs for person in adjudicators)}


@transaction.atomic
def request_rulings(
    *,
    group: ExpertGroup,
    question: LabelQuestion,
    rule: AmbiguousRule,
    seed: int,
    by: User | None,
    at: datetime,
    digest: str = "",
) -> int:
    """Ask the adjudicators of a group to rule on the cases that stay ambiguous; returns how many cases they are.

    ``seed`` shuffles them. `Conflict` where the cases are not those of the preview that ``digest`` names.
    """
    LabelQuestion.objects.select_for_update(no_key=True).get(pk=question.pk)
    plan = plan_rulings(group=group, question=question, rule=rule)
    if digest and digest != plan.digest:
        raise Conflict(
            _("Votes or rulings have changed since the preview. Review the new preview, then request rulings.")
        )
    shuffled = sorted(plan.cases, key=lambda case: (keyed(seed, "ruling", plan.cases[case]), case))
    with readable_constraint_errors():
        RulingRequest.objects.bulk_create(
            RulingRequest(
                question=question,
                case_id=case,
                group=group,
                position=position,
                ambiguous_rule=rule.by,
                ambiguous_threshold=rule.threshold,
                requested_by=by,
                requested_at=at,
            )
            for position, case in enumerate(shuffled, start=1)
        )
    notify_of_rulings(group=group, count=len(shuffled), at=at)
    return len(shuffled)


@dataclass(frozen=True, slots=True)
class RulingInput:
    """A ruling as its adjudicator gives it: the value of a level, or `STAYS_AMBIGUOUS`.

    ``upper`` is the next level up, in a ruling between the two.
    """

    level: str
    reason: str
    upper: str = ""
    note: str = ""


@transaction.atomic
def give_ruling(*, request: RulingRequest, adjudicator: User, ruling: RulingInput, at: datetime) -> AcuityRuling:
    """Rule on a case for good. `DomainError` on what is no ruling, and where the adjudicator has voted on the case.

    `Conflict` where somebody has ruled on it already.
    """
    # Before what may be wrong with the ruling: who hears of that gets the form again, for a case that is over.
    if AcuityRuling.objects.filter(question=request.question, case=request.case_id).exists():
        raise Conflict(_("Someone else has already ruled on this case."))
    low, high = _places(request.question, ruling)
    if ruling.reason not in AcuityRuling.Reason.values:
        raise DomainError(_("Choose the reason why the physicians disagreed."))
    refuse_impossible_note(ruling.note)
    with readable_constraint_errors():
        return AcuityRuling.objects.create(
            question=request.question,
            case_id=request.case_id,
            adjudicator=adjudicator,
            low=low,
            high=high,
            reason=ruling.reason,
            note=ruling.note,
            created_at=at,
        )


def _places(question: LabelQuestion, ruling: RulingInput) -> tuple[int, int] | tuple[None, None]:
    values = [choice["value"] for choice in question.choices]
    if ruling.level == STAYS_AMBIGUOUS:
        if ruling.upper:
            raise DomainError(_("A case that stays ambiguous cannot be between two levels."))
        return None, None
    if ruling.level not in values:
        raise DomainError(_("Choose a level, or “Stays ambiguous”."))
    place = values.index(ruling.level)
    if ruling.upper and ruling.upper not in values[place + 1 : place + 2]:
        raise DomainError(_("A ruling between two levels must cover one level and the next level up."))
    return place, place + 1 if ruling.upper else place
