"""What waits for a physician, as lines of the one list by due date, with the time that is left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Batch
from annotation.selectors.case_work import CaseWork
from annotation.selectors.workload import BatchWork, Workload, workload
from consilium.core.todo import Todo, by_due_date

if TYPE_CHECKING:
    from accounts.models import User

Part = BatchWork | CaseWork


def todos(user: User) -> Iterator[Todo]:
    """What waits for ``user`` in all benchmarks; a source of `consilium.core.todo`."""
    load = workload(user)
    yield from _qualifications(load)
    for todo, _part in todo_rows(load):
        yield todo


def todo_rows(load: Workload) -> list[tuple[Todo, Part | None]]:
    """The lines by due date, each with the batch that it is about; qualifications are not among them."""
    rows: list[tuple[Todo, Part | None]] = [*_graded(load), *_cases(load)]
    rows += [(todo, None) for todo in _others(load)]
    # Returned work comes before other work that is due on the same day.
    rows.sort(key=lambda row: not (isinstance(row[1], BatchWork) and row[1].returned))
    places = {id(todo): place for place, todo in enumerate(by_due_date(todo for todo, _part in rows))}
    return sorted(rows, key=lambda row: places[id(row[0])])


def _graded(load: Workload) -> Iterator[tuple[Todo, BatchWork]]:
    for work in load.current:
        if work.batch.status != Batch.Status.OPEN or not (work.next_id or work.may_take):
            continue
        batch = work.batch
        pace = work.pace or load.grading_pace
        if not work.next_id:
            yield (
                Todo(
                    task=_("Grade responses"),
                    title=batch.title,
                    benchmark=batch.group.benchmark.title,
                    # No number: it would stay the same where the next response is a gold item.
                    left=_("Responses to claim"),
                    button=_("Claim next response"),
                    url=reverse("annotation:take", args=[batch.public_id]),
                    post=True,
                    due=batch.due_date,
                    seconds=pace,
                    each=True,
                ),
                work,
            )
            continue
        left = ngettext("%(n)d response left", "%(n)d responses left", work.open) % {"n": work.open}
        if work.returned:
            number = len(work.returned)
            left = ngettext("%(left)s, %(n)d of them returned", "%(left)s, %(n)d of them returned", number) % {
                "left": left,
                "n": number,
            }
        place = {"position": work.next_position, "total": work.total}
        if any(row.public_id == work.next_id for row in work.returned):
            button = _("Review the returned response %(position)s of %(total)s")
        elif work.started:
            button = _("Continue with response %(position)s of %(total)s")
        else:
            button = _("Start with response %(position)s of %(total)s")
        yield (
            Todo(
                task=_("Grade responses"),
                title=batch.title,
                benchmark=batch.group.benchmark.title,
                left=left,
                button=button % place,
                url=reverse("annotation:grade", args=[work.next_id]),
                due=batch.due_date,
                seconds=None if pace is None else pace * work.open,
            ),
            work,
        )


def _cases(load: Workload) -> Iterator[tuple[Todo, CaseWork]]:
    for works, view in ((load.labels, "annotation:label"), (load.writing, "annotation:writing-task")):
        for work in works:
            if not work.takes_work:
                continue
            responses = work.batch.frame.get("about") in ("response", "codes")
            yield (
                Todo(
                    task=task_of(work),
                    title=work.batch.title,
                    benchmark=work.batch.group.benchmark.title,
                    left=_left_of(work.open, responses=responses),
                    button=_button_of(work, responses=responses),
                    url=reverse(view, args=[work.next_id]),
                    due=work.batch.due_date,
                    seconds=None if work.pace is None else work.pace * work.open,
                ),
                work,
            )


def task_of(work: CaseWork) -> str:
    """What is asked about the cases or responses of a batch, in words."""
    batch = work.batch
    if batch.kind == Batch.Kind.WRITE:
        if batch.writing_terms.mode == "unaided":
            return _("Responses to write, unaided")
        return _("Responses to write, with references")
    if batch.frame.get("about") == "response":
        return _("Read advice: which level of care responses advise")
    if batch.frame.get("about") == "codes":
        return _("Code failures: which failures responses show")
    if batch.frame.get("round") == 2:
        return _("Second round: vote again, with the votes of round 1 shown")
    return _("Questions about cases")


def _left_of(number: int, *, responses: bool) -> str:
    if responses:
        return ngettext("%(n)d response left", "%(n)d responses left", number) % {"n": number}
    return ngettext("%(n)d case left", "%(n)d cases left", number) % {"n": number}


def _button_of(work: CaseWork, *, responses: bool) -> str:
    place = {"position": work.next_position, "total": work.total}
    if responses:
        if work.started:
            return _("Continue with response %(position)s of %(total)s") % place
        return _("Start with response %(position)s of %(total)s") % place
    if work.started:
        return _("Continue with case %(position)s of %(total)s") % place
    return _("Start with case %(position)s of %(total)s") % place


def _others(load: Workload) -> Iterator[Todo]:
    """Checks, conflicts and rulings: of all batches together, since each is claimed when it is opened."""
    pieces = load.checks_waiting + load.checks_held
    if pieces:
        left = ngettext("%(n)d response to check", "%(n)d responses to check", pieces) % {"n": pieces}
        if load.checks_held:
            held = load.checks_held
            left = ngettext("%(left)s, %(n)d claimed by you", "%(left)s, %(n)d claimed by you", held) % {
                "left": left,
                "n": held,
            }
        if load.checks_again:
            again = load.checks_again
            left = ngettext(
                "%(left)s, %(n)d resubmitted after you returned it",
                "%(left)s, %(n)d resubmitted after you returned them",
                again,
            ) % {"left": left, "n": again}
        yield Todo(
            task=_("Check decisions"),
            title="",
            benchmark=" · ".join(load.checks_in),
            left=left,
            button=_("Continue checking") if load.checks_held else _("Start next check"),
            url=(
                reverse("annotation:check", args=[load.held_checks[0]])
                if load.checks_held
                else reverse("annotation:check-next")
            ),
            post=not load.checks_held,
            due=load.checks_due,
            seconds=load.seconds_of("check", pieces),
            list_url=reverse("annotation:checks"),
        )
    if load.adjudications:
        number, held_conflicts = load.adjudications, load.held_adjudications
        left = ngettext("%(n)d response in conflict", "%(n)d responses in conflict", number) % {"n": number}
        if held_conflicts:
            claimed = len(held_conflicts)
            left = ngettext("%(left)s, %(n)d claimed by you", "%(left)s, %(n)d claimed by you", claimed) % {
                "left": left,
                "n": claimed,
            }
        yield Todo(
            task=_("Adjudicate conflicts"),
            title="",
            benchmark=" · ".join(load.adjudications_in),
            left=left,
            button=_("Continue adjudicating") if held_conflicts else _("Start next adjudication"),
            url=(
                reverse("annotation:adjudication", args=[held_conflicts[0]])
                if held_conflicts
                else reverse("annotation:adjudicate-next")
            ),
            post=not held_conflicts,
            seconds=load.seconds_of("adjudicate", number),
            list_url=reverse("annotation:adjudications"),
        )
    if load.rulings:
        number = load.rulings
        yield Todo(
            task=_("Rule on cases whose urgency the physicians did not agree on"),
            title="",
            benchmark="",
            left=ngettext("%(n)d case left", "%(n)d cases left", number) % {"n": number},
            button=_("Give rulings"),
            url=reverse("annotation:rulings"),
            seconds=load.seconds_of("rule", number),
        )
    if load.code_rulings:
        number = load.code_rulings
        yield Todo(
            task=_("Rule on responses whose codes differ"),
            title="",
            benchmark="",
            left=ngettext("%(n)d response left", "%(n)d responses left", number) % {"n": number},
            button=_("Give rulings"),
            url=reverse("annotation:code-rulings"),
            seconds=load.seconds_of("rule_on_codes", number),
        )


def _qualifications(load: Workload) -> Iterator[Todo]:
    """An attempt to begin or to continue: it comes first, because no new work is assigned before it is passed."""
    for eligibility in load.eligibilities:
        if eligibility.reason == "qualification" and not eligibility.nothing_to_qualify_on:
            yield Todo(
                task=_("Qualification"),
                title="",
                benchmark=eligibility.group.benchmark.title,
                left=_("You are assigned work here after you pass."),
                button=_("Continue qualification") if eligibility.under_way else _("Start qualification"),
                url=reverse("annotation:qualification-start", args=[eligibility.group.public_id]),
                post=True,
                first=True,
            )
