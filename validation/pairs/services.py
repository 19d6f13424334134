"""Makes groups of pairs and pairs by hand, and stores what physicians say about pairs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.i18n import translate
from consilium.core.limits import (
    MAX_AXIS_LENGTH,
    MAX_KEY_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_PAIR_GROUP_NAME_LENGTH,
    MAX_REASON_LENGTH,
)
from rubrics.models import Benchmark, Case
from validation.models import ErrorKind, NearMissPair, PairGroup, PairJudgement, SkippedQuestion
from validation.models.pairs import MAX_JUDGEMENTS_DUE
from validation.near_miss import UnusableEdit, change_words, near_miss
from validation.pairs.keys import free_key
from validation.pairs.settling import grade_of, settlement

Origin, State = NearMissPair.Origin, NearMissPair.State


@transaction.atomic
def get_or_make_group(
    *, benchmark: Benchmark, name: str, judgements_due: int, by: User | None, at: datetime
) -> PairGroup:
    """The group of that name, made where it is not there. `Conflict` if it asks for another number of judgements."""
    name = name.strip()
    if not 1 <= len(name) <= MAX_PAIR_GROUP_NAME_LENGTH:
        raise DomainError(_("The name of a group must have 1 to %(n)d characters.") % {"n": MAX_PAIR_GROUP_NAME_LENGTH})
    if not 1 <= judgements_due <= MAX_JUDGEMENTS_DUE:
        raise DomainError(_("A pair is judged by one physician or by two."))
    group, _created = PairGroup.objects.get_or_create(
        benchmark=benchmark,
        name=name,
        defaults={"judgements_due": judgements_due, "created_by": by, "created_at": at},
    )
    if group.judgements_due != judgements_due:
        raise Conflict(
            _("The group “%(name)s” already exists, with a different number of physicians.") % {"name": name}
        )
    return group


@dataclass(frozen=True, slots=True)
class Change:
    """A near miss as somebody writes it: the words of the reference to replace, and those in their place."""

    find: str
    replace: str
    kind: str
    axis: str = ""
    why: str = ""


@transaction.atomic
def add_pair(
    *, group: PairGroup, case: Case, reference: str, change: Change, key: str, by: User | None, at: datetime
) -> NearMissPair:
    """A pair by hand. `DomainError` says why the change makes none."""
    if case.benchmark_id != group.benchmark_id:
        raise DomainError(_("This case does not exist."), field="case")
    if change.kind not in ErrorKind.values:
        raise DomainError(_("Choose the kind of error."), field="kind")
    for text, longest in ((change.axis, MAX_AXIS_LENGTH), (change.why, MAX_REASON_LENGTH), (key, MAX_KEY_LENGTH)):
        if len(text) > longest:
            raise DomainError(_("This is longer than %(n)d characters.") % {"n": longest})
    try:
        miss = near_miss(reference, change.find, change.replace)
    except UnusableEdit as error:
        is_about_replacement = error.kind in ("same", "nothing_left")
        raise DomainError(translate(error.phrase), field="replace" if is_about_replacement else "find") from None
    if not reference.strip():
        raise DomainError(_("The reference is empty."))
    # Two people at once get different keys.
    PairGroup.objects.select_for_update().get(pk=group.pk)
    taken = set(NearMissPair.objects.filter(group=group).values_list("key", flat=True))
    key = key.strip() or free_key(case.key, taken)
    if key in taken:
        raise Conflict(_("The group already has a pair “%(key)s”.") % {"key": key})
    if NearMissPair.objects.filter(group=group, case=case, reference=reference, candidate=miss.candidate).exists():
        raise Conflict(_("The group already has this pair."))
    return NearMissPair.objects.create(
        group=group,
        case=case,
        key=key,
        reference=reference,
        candidate=miss.candidate,
        start=miss.span.start,
        reference_end=miss.span.reference_end,
        candidate_end=miss.span.candidate_end,
        kind=change.kind,
        axis=change.axis.strip(),
        change=change_words(change.find, change.replace),
        why=change.why.strip(),
        origin=Origin.HAND,
        created_by=by,
        created_at=at,
    )


@transaction.atomic
def add_pair_to(
    *,
    benchmark: Benchmark,
    group: str,
    judgements_due: int,
    case: Case,
    reference: str,
    change: Change,
    key: str = "",
    by: User | None,
    at: datetime,
) -> NearMissPair:
    """A pair by hand, in the group of that name, which is made where it is not there."""
    row = get_or_make_group(benchmark=benchmark, name=group, judgements_due=judgements_due, by=by, at=at)
    return add_pair(group=row, case=case, reference=reference, change=change, key=key, by=by, at=at)


@dataclass(frozen=True, slots=True)
class Answers:
    """What a physician answers about a pair."""

    is_single: bool
    harm: str
    has_other_flaw: bool
    note: str = ""

    @property
    def grade(self) -> str:
        """What the answers come to."""
        return grade_of(is_single=self.is_single, harm=self.harm, has_other_flaw=self.has_other_flaw)


@transaction.atomic
def judge(*, pair: NearMissPair, answers: Answers, by: User, at: datetime) -> PairJudgement:
    """Store what a physician says, and settle the pair where enough of them agree.

    One's own judgement may be changed. `Conflict` where the pair needs none of somebody who has not judged it.
    """
    if answers.harm not in PairJudgement.Harm.values:
        raise DomainError(_("Choose one of the answers."))
    if len(answers.note) > MAX_NOTE_LENGTH:
        raise DomainError(_("This is longer than %(n)d characters.") % {"n": MAX_NOTE_LENGTH})
    # Judgements of one pair are stored one after the other, so that each sees the others.
    row = NearMissPair.objects.select_for_update(of=("self",)).select_related("group").get(pk=pair.pk)
    own = PairJudgement.objects.filter(pair=row, physician=by).first()
    if own is None and row.state != State.PROPOSED:
        raise Conflict(_("Other physicians have judged this pair in the meantime."))
    values = {
        "is_single": answers.is_single,
        "harm": answers.harm,
        "has_other_flaw": answers.has_other_flaw,
        "note": answers.note.strip(),
        "grade": answers.grade,
    }
    SkippedQuestion.objects.filter(pair=row, physician=by).delete()
    if own is None:
        own = PairJudgement.objects.create(pair=row, physician=by, judged_at=at, **values)
    elif any(getattr(own, name) != value for name, value in values.items()):
        for name, value in values.items():
            setattr(own, name, value)
        own.judged_at = at
        own.save(update_fields=[*values, "judged_at"])
    _settle(row, at)
    return own


def _settle(row: NearMissPair, at: datetime) -> None:
    grades = list(row.judgements.order_by("pk").values_list("grade", flat=True))
    now = settlement(grades, row.group.judgements_due)
    if (row.state, row.grade, row.disputed) == (now.state, now.grade, now.is_disputed):
        return
    row.state, row.grade, row.disputed = now.state, now.grade, now.is_disputed
    row.settled_at = None if now.state == State.PROPOSED else at
    row.save(update_fields=["state", "grade", "disputed", "settled_at"])
