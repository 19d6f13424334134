"""Rulings on responses whose codes differ: asking adjudicators for them, and giving one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.codes.selectors import codings_of, differing, unclosed_batches, unfinished
from annotation.labels.batches import tasks_asking
from annotation.labels.services import refuse_impossible_note
from annotation.models import CodeRuling, ExpertGroup, LabelQuestion, LabelTask, Membership
from annotation.services.notices import notify_of_code_rulings
from annotation.services.rules import readable_constraint_errors
from annotation.writing.exclusions import pledged_to_write
from consilium.core.drawing import keyed
from consilium.core.errors import Conflict, DomainError
from rubrics.codes.code import NONE_OF_THESE
from rubrics.models import Response


@transaction.atomic
def request_code_rulings(
    *, group: ExpertGroup, question: LabelQuestion, seed: int, by: User | None, at: datetime
) -> int:
    """Ask the adjudicators of a group to rule on all responses whose codes differ; returns how many these are.

    While a batch is open only the group's own codes count, since neither group may learn about the other. Responses
    that somebody still has to code are left out, so that coders stay independent, and so are those that a ruling was
    asked for before, and those on which no adjudicator of the group may rule. ``seed`` shuffles them. `DomainError`
    where none is left.
    """
    adjudicators = set(
        Membership.objects.filter(
            group=group, role=Membership.Role.ADJUDICATOR, active=True, user__is_active=True
        ).values_list("user_id", flat=True)
    )
    if not adjudicators:
        raise DomainError(_("This group has no adjudicator."))
    LabelQuestion.objects.select_for_update(no_key=True).get(pk=question.pk)
    requested = set(CodeRuling.objects.filter(question=question).values_list("response_id", flat=True))
    codings, is_open = codings_of(question), unclosed_batches(question).exists()
    readable = [coding for coding in codings if coding.group == group.pk] if is_open else codings
    unsettled = differing(readable) - requested
    ready = unsettled - unfinished(question)
    if not ready:
        if unsettled:
            raise DomainError(_("Someone still has to code the responses on which the codes differ."))
        if differing(codings) - requested:
            raise DomainError(
                _("Close the batches of both groups first. Until then, neither group may learn about the other.")
            )
        raise DomainError(_("No response is left on which the codes differ."))
    barred = _not_to_rule(question, ready, adjudicators)
    ready = {pk for pk in ready if adjudicators - barred[pk]}
    if not ready:
        raise DomainError(
            _(
                "No adjudicator in this group can rule on the responses on which the codes differ: they have coded or "
                "written them, or still have to write a response to their cases."
            )
        )
    names = {
        pk: (key, candidate, setting, str(sample))
        for pk, key, candidate, setting, sample in Response.objects.filter(pk__in=ready).values_list(
            "pk", "case__key", "candidate__name", "setting", "sample"
        )
    }
    shuffled = sorted(ready, key=lambda pk: (keyed(seed, "code-ruling", *names[pk]), pk))
    with readable_constraint_errors():
        CodeRuling.objects.bulk_create(
            CodeRuling(
                question=question,
                response_id=pk,
                group=group,
                position=position,
                requested_by=by,
                requested_at=at,
            )
            for position, pk in enumerate(shuffled, start=1)
        )
    counts = Counter(user for pk in ready for user in adjudicators - barred[pk])
    notify_of_code_rulings(group=group, counts=counts, at=at)
    return len(shuffled)


def _not_to_rule(question: LabelQuestion, responses: Collection[int], people: Collection[int]) -> dict[int, set[int]]:
    """Response → those of ``people`` who do not rule on it, as `annotation.access.code_rulings` has it.

    They were given it to code, wrote it, or still have to write to its case without having read any answer.
    """
    tasks = tasks_asking([question]).filter(response__in=responses, annotator__in=people)
    given = tasks.exclude(status=LabelTask.Status.RELEASED).values_list("response_id", "annotator_id")
    written = Response.objects.filter(pk__in=responses, author__in=people).values_list("pk", "author_id")
    cases = dict(Response.objects.filter(pk__in=responses).values_list("pk", "case_id"))
    pledged = pledged_to_write(people, set(cases.values()))
    to_write = [(pk, user) for pk, case in cases.items() for user in people if (case, user) in pledged]
    barred: dict[int, set[int]] = {pk: set() for pk in responses}
    for pk, user in (*given, *written, *to_write):
        barred[pk].add(user)
    return barred


@transaction.atomic
def rule_on_codes(
    *, ruling: CodeRuling, adjudicator: User, codes: Sequence[str], note: str, at: datetime
) -> CodeRuling:
    """Give the final codes of a response, for good; `NONE_OF_THESE` alone says that no code applies.

    The same ruling sent twice changes nothing. `DomainError` on what is no ruling, and where the adjudicator has coded
    the response; `Conflict` where somebody has ruled on it already.
    """
    row = CodeRuling.objects.select_for_update(no_key=True, of=("self",)).select_related("question__code_book")
    locked = row.get(pk=ruling.pk)
    assert locked.question.code_book is not None
    known = [code["key"] for code in locked.question.code_book.codes]
    given = [key for key in known if key in codes]
    if locked.ruled_at is not None:
        if locked.adjudicator_id != adjudicator.pk:
            raise Conflict(_("Someone else has already ruled on this response."))
        if (locked.codes, locked.note) != (given, note):
            raise Conflict(_("You have already ruled on this response, and a ruling cannot be changed."))
        return locked
    if not codes or (NONE_OF_THESE in codes and len(set(codes)) > 1):
        raise DomainError(_("Choose at least one code, or “None of these”."), field="codes")
    if any(code not in known for code in codes if code != NONE_OF_THESE):
        raise DomainError(_("This is not one of the codes."), field="codes")
    refuse_impossible_note(note)
    locked.adjudicator, locked.note, locked.ruled_at = adjudicator, note, at
    locked.codes = given
    with readable_constraint_errors():
        locked.save(update_fields=["adjudicator", "codes", "note", "ruled_at"])
    return locked
