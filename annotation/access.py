"""Querysets of the work that a user may see, and single rows fetched for them, else 404.

Blinding starts here: a physician reaches the assignments and adjudications below and nothing else. Access comes from
active memberships alone; running a benchmark or being a superuser adds nothing. One thing outlasts a membership:
annotators can read what they submitted themselves.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Case, Count, Exists, F, Func, JSONField, Min, OuterRef, Q, QuerySet, Subquery, When
from django.http import Http404
from django.shortcuts import get_object_or_404

from accounts.models import User
from accounts.unread_cases import unread_by
from annotation.acuity.outstanding import is_shown, public_id_of_question, votes_outstanding
from annotation.models import (
    AcuityRuling,
    Adjudication,
    Assignment,
    Batch,
    BatchItem,
    Check,
    CodeRuling,
    ExpertGroup,
    Involvement,
    LabelAnswer,
    LabelQuestion,
    LabelTask,
    Membership,
    Part,
    ReferenceSet,
    RulingRequest,
    WritingTask,
)
from consilium.core.compiled_queries import CompiledQuery
from rubrics.access import get_administered_benchmark, get_benchmark
from rubrics.models import Benchmark

AnyUser = User | AnonymousUser


def get_member_benchmark(user: AnyUser, slug: str) -> Benchmark:
    """The benchmark, for active members of its expert groups."""
    member = Membership.objects.filter(user=user.pk, active=True, group__benchmark=OuterRef("pk"))
    return get_object_or_404(Benchmark.objects.filter(Exists(member)), slug=slug)


def get_benchmark_of_work(user: AnyUser, slug: str) -> Benchmark:
    """The benchmark, for members of its expert groups and for former members, whose work there has ended."""
    member = Membership.objects.filter(user=user.pk, group__benchmark=OuterRef("pk"))
    return get_object_or_404(Benchmark.objects.filter(Exists(member)), slug=slug)


def ended_memberships(user: AnyUser, benchmark: Benchmark | None = None) -> QuerySet[Membership]:
    """The person's roles in expert groups that have ended, in one benchmark or in all."""
    rows = Membership.objects.filter(user=user.pk, active=False)
    return rows if benchmark is None else rows.filter(group__benchmark=benchmark)


_benchmarks_of_member = CompiledQuery(
    lambda user: Benchmark.objects.filter(
        Exists(Membership.objects.filter(user=user, active=True, group__benchmark=OuterRef("pk")))
    )[:2]
)


def only_benchmark(user: AnyUser) -> Benchmark | None:
    """The benchmark of a person who is a member of only one; pages of all their work are then shown within it."""
    benchmarks = _benchmarks_of_member.objects(user=user.pk)
    return benchmarks[0] if len(benchmarks) == 1 else None


def _in_group(user: AnyUser, role: str, group: str) -> Exists:
    """A condition: ``user`` is an active member in this part of the group that the column ``group`` names."""
    return Exists(Membership.objects.filter(user=user.pk, role=role, active=True, group=OuterRef(group)))


# Annotators ---------------------------------------------------------------------------------------------------------


def own_assignments(user: AnyUser) -> QuerySet[Assignment]:
    """The annotator's own work. In a paused or closed batch it can be read and not written (services refuse)."""
    return _ever_own(user).exclude(status=Assignment.Status.RELEASED)


def _ever_own(user: AnyUser) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        _in_group(user, Membership.Role.ANNOTATOR, "batch__group"), annotator=user.pk, batch__imported=False
    )


def submitted_assignments(user: AnyUser) -> QuerySet[Assignment]:
    """What the annotator has submitted, to read: also in groups in which their work has ended."""
    rows = Assignment.objects.filter(annotator=user.pk, batch__imported=False)
    return rows.exclude(status__in=[*Assignment.OPEN, Assignment.Status.RELEASED])


def get_readable_assignment(user: AnyUser, public_id: str) -> tuple[Assignment, bool]:
    """An own assignment to show, and whether its annotator's work in the group has ended.

    Where it has, only what they submitted can be read.
    """
    related = ("batch__group__benchmark", "case", "response", "rubric")
    own = _ever_own(user).filter(public_id=public_id).select_related(*related).first()
    if own is not None:
        return own, False
    return get_object_or_404(submitted_assignments(user).select_related(*related), public_id=public_id), True


def get_own_assignment(user: AnyUser, public_id: str) -> Assignment:
    """One of the annotator's own assignments, with what its page shows.

    Includes released work: where a lease ended while the page was open, the service that the view calls raises the
    error.
    """
    rows = _ever_own(user).select_related("batch__group__benchmark", "case", "response", "rubric")
    return get_object_or_404(rows, public_id=public_id)


# What a save needs. Every autosave runs it, and building the query each time took longer than running it.
_own_work = CompiledQuery(
    lambda user, public_id: (
        _ever_own(user)
        .filter(public_id=public_id)
        .order_by()
        .only(
            *("public_id", "batch_id", "rubric_id", "annotator_id"),
            *("status", "round", "position", "purpose", "started_at"),
        )
    )
)


def get_own_work(user: AnyUser, public_id: str) -> Assignment:
    """One of the annotator's own assignments with no more than a save needs; 404 as in `get_own_assignment`."""
    row = None if "\x00" in public_id else _own_work.first(user=user.pk, public_id=public_id)
    if row is None:
        raise Http404
    return row


def batches_to_take_from(user: AnyUser) -> QuerySet[Batch]:
    """Batches of the annotator's own groups in which responses are graded; closed ones, which give no work, too."""
    rows = Batch.objects.filter(_in_group(user, Membership.Role.ANNOTATOR, "group"), imported=False)
    return rows.filter(kind=Batch.Kind.GRADE)


def get_batch_to_take_from(user: AnyUser, public_id: str) -> Batch:
    """A batch that the annotator may take responses from, 404 else."""
    return get_object_or_404(batches_to_take_from(user).select_related("group__benchmark"), public_id=public_id)


def get_work_in_hand(user: AnyUser, public_id: str) -> tuple[Assignment | None, Adjudication | None]:
    """What this person grades or checks under that id, or what they adjudicate; 404 if it is neither.

    Includes work that they have just finished: the page reports its last minute after going on to the next.
    """
    checked = Assignment.objects.filter(_in_group(user, Membership.Role.CHECKER, "batch__group"), checker=user.pk)
    own_work = Q(pk__in=own_assignments(user).values("pk")) | Q(pk__in=checked.values("pk"))
    assignment = Assignment.objects.filter(own_work, public_id=public_id).first()
    if assignment is not None:
        return assignment, None
    ruled = Adjudication.objects.filter(_may_adjudicate(user), adjudicator=user.pk)
    return None, get_object_or_404(ruled, public_id=public_id)


def own_label_tasks(user: AnyUser) -> QuerySet[LabelTask]:
    """Cases that the annotator answers questions about, whatever the state of their batches; not those given up.

    Nor cases of a second round while somebody still votes on them in the first, which must stay independent.
    """
    rows = LabelTask.objects.filter(_in_group(user, Membership.Role.ANNOTATOR, "batch__group"), annotator=user.pk)
    return rows.filter(is_shown()).exclude(status=LabelTask.Status.RELEASED)


def get_own_label_task(user: AnyUser, public_id: str) -> LabelTask:
    """One of the annotator's own cases to label, with what its page shows."""
    rows = own_label_tasks(user).select_related("batch__group__benchmark", "case", "response")
    return get_object_or_404(rows, public_id=public_id)


def submitted_label_tasks(user: AnyUser) -> QuerySet[LabelTask]:
    """Cases that the annotator has labelled, to read: also in groups in which their work has ended."""
    return LabelTask.objects.filter(annotator=user.pk, status=LabelTask.Status.SUBMITTED).filter(is_shown())


def get_readable_label_task(user: AnyUser, public_id: str) -> LabelTask:
    """A case that the annotator has to label or, also in a group in which their work has ended, has labelled."""
    own, submitted = own_label_tasks(user).values("pk"), submitted_label_tasks(user).values("pk")
    rows = LabelTask.objects.filter(Q(pk__in=own) | Q(pk__in=submitted))
    return get_object_or_404(rows.select_related("batch__group__benchmark", "case", "response"), public_id=public_id)


_own_label_work = CompiledQuery(
    lambda user, public_id: (
        own_label_tasks(user)
        .filter(public_id=public_id)
        .order_by()
        .only("public_id", "batch_id", "case_id", "annotator_id", "status", "position", "started_at")
    )
)


def get_own_label_work(user: AnyUser, public_id: str) -> LabelTask:
    """One of the annotator's own cases to label with no more than a save needs; 404 as in `get_own_label_task`."""
    row = None if "\x00" in public_id else _own_label_work.first(user=user.pk, public_id=public_id)
    if row is None:
        raise Http404
    return row


def own_pools(user: AnyUser) -> QuerySet[Batch]:
    """The annotator's batches whose responses are taken one by one, or in which work was put back for anybody."""
    rows = Assignment.objects.filter(slot__isnull=False)
    held = rows.filter(slot=OuterRef("slot")).exclude(status=Assignment.Status.RELEASED)
    put_back = rows.filter(~Exists(held), batch=OuterRef("pk"), status=Assignment.Status.RELEASED)
    return batches_to_take_from(user).filter(Q(strategy=Batch.Strategy.POOL) | Exists(put_back))


# Checkers -----------------------------------------------------------------------------------------------------------


def _may_check(user: AnyUser) -> Q:
    # A trigger enters every annotator of a response as involved in it, so this leaves out a checker's own work, too.
    other_part = Involvement.objects.filter(
        Q(response=OuterRef("response"), user=user.pk) & ~Q(part=Part.CHECKER, group=OuterRef("batch__group"))
    )
    return Q(_in_group(user, Membership.Role.CHECKER, "batch__group")) & ~Q(Exists(other_part))


def waiting_checks(user: AnyUser) -> QuerySet[Assignment]:
    """Handed-in work of the checker's own group that this checker may take.

    Work that was sent back and handed in again waits for the checker who sent it back, while they
    are still a checker. Excluded cases are left out.
    """
    still_checker = Membership.objects.filter(
        user=OuterRef("checker"), role=Membership.Role.CHECKER, active=True, group=OuterRef("batch__group")
    )
    unread = Q(batch__match_languages=True) & unread_by(user.pk or 0, "case")
    return (
        Assignment.objects.filter(_may_check(user), status=Assignment.Status.SUBMITTED, batch__status=Batch.Status.OPEN)
        .filter(purpose=Assignment.Purpose.WORK)  # work that is compared with a key needs no check
        .filter(case__excluded_at=None)
        .filter(Q(checker=None) | Q(checker=user.pk) | ~Q(Exists(still_checker)))
        .exclude(response__author=user.pk)
        .exclude(unread & ~Q(checker=user.pk))  # what they sent back is theirs, whatever they read now
    )


def held_checks(user: AnyUser) -> QuerySet[Assignment]:
    """Work that this checker has taken and not finished."""
    return Assignment.objects.filter(
        _in_group(user, Membership.Role.CHECKER, "batch__group"), status=Assignment.Status.IN_CHECK, checker=user.pk
    ).exclude(batch__status=Batch.Status.CLOSED)


def released_checks(user: AnyUser) -> QuerySet[Assignment]:
    """Work that this checker claimed last and that was released before a result."""
    left = Check.objects.filter(assignment=OuterRef("pk"), round=OuterRef("round"), checker=user.pk, result="")
    rows = Assignment.objects.filter(
        Exists(left), _in_group(user, Membership.Role.CHECKER, "batch__group"), status=Assignment.Status.SUBMITTED
    )
    return rows.exclude(batch__status=Batch.Status.CLOSED)


def done_checks(user: AnyUser) -> QuerySet[Check]:
    """Checks that this person has finished, in groups that they are still a checker of."""
    return Check.objects.filter(
        _in_group(user, Membership.Role.CHECKER, "assignment__batch__group"), checker=user.pk
    ).exclude(result="")


def has_checked_for_another(user: AnyUser, work: Assignment) -> bool:
    """Whether this checker has finished a check of the same response, as another annotator graded it."""
    rows = done_checks(user).filter(assignment__response=work.response_id)
    return rows.exclude(assignment__annotator=work.annotator_id).exists()


def get_missed_check(user: AnyUser, public_id: str) -> Assignment:
    """A check that this checker could have claimed if another checker had not been quicker; 404 for any other."""
    rows = Assignment.objects.filter(_may_check(user), purpose=Assignment.Purpose.WORK)
    claimed = Exists(Check.objects.filter(assignment=OuterRef("pk")).exclude(checker=user.pk))
    rows = rows.filter(claimed).exclude(response__author=user.pk)
    return get_object_or_404(rows, public_id=public_id)


def get_waiting_check(user: AnyUser, public_id: str) -> QuerySet[Assignment]:
    """One piece of waiting work, as a queryset to claim from; 404 if it is not there for this checker."""
    rows = waiting_checks(user).filter(public_id=public_id)
    get_object_or_404(rows)
    return rows


def get_held_check(user: AnyUser, public_id: str) -> Assignment:
    """A piece of work that this checker holds, with what its page shows."""
    rows = held_checks(user).select_related("batch__group__benchmark", "case", "response", "rubric")
    return get_object_or_404(rows, public_id=public_id)


def get_done_check(user: AnyUser, public_id: str, number: int | None = None) -> Check:
    """A check that this person has finished, to read: of round ``number``, or their last one of that work."""
    rows = done_checks(user).filter(assignment__public_id=public_id)
    if number is not None:
        rows = rows.filter(round=number)
    rows = rows.select_related(
        "assignment__batch__group__benchmark", "assignment__case", "assignment__response", "assignment__rubric"
    )
    check = rows.order_by("-round").first()
    if check is None:
        raise Http404
    return check


def get_own_check(user: AnyUser, public_id: str) -> Assignment:
    """A piece of work that this checker holds, or has checked before."""
    held = held_checks(user).filter(public_id=public_id).first()
    return held or get_done_check(user, public_id).assignment


# Adjudicators -------------------------------------------------------------------------------------------------------


def _may_adjudicate(user: AnyUser) -> Q:
    parts = Involvement.objects.filter(response=OuterRef("response"), user=user.pk)
    within = (
        Q(other_group=None)
        & Q(_in_group(user, Membership.Role.ADJUDICATOR, "group"))
        & ~Q(Exists(parts.exclude(part=Part.ADJUDICATOR, group=OuterRef("group"))))
    )
    between = (
        Q(other_group__isnull=False)
        & (
            Q(_in_group(user, Membership.Role.ADJUDICATOR, "group"))
            | Q(_in_group(user, Membership.Role.ADJUDICATOR, "other_group"))
        )
        & ~Q(Exists(parts.exclude(part=Part.ADJUDICATOR, group=None)))
    )
    return within | between


def open_adjudications(user: AnyUser) -> QuerySet[Adjudication]:
    """Conflicts that this adjudicator holds or may take, lowest agreement first.

    Unless they hold them already: not of excluded cases, nor of cases in a language that they do not read, where
    batches of these cases are matched to languages.
    """
    matched = Assignment.objects.filter(response=OuterRef("response"), batch__match_languages=True)
    unread = Q(Exists(matched)) & unread_by(user.pk or 0, "response__case")
    return (
        Adjudication.objects.filter(_may_adjudicate(user), status=Adjudication.Status.OPEN)
        .filter(Q(adjudicator=None) | Q(adjudicator=user.pk))
        .exclude(response__author=user.pk)
        .exclude((unread | Q(response__case__excluded_at__isnull=False)) & Q(adjudicator=None))
    )


def in_paused_batch() -> Q:
    """Adjudications within a group whose response is in a paused batch of it; they cannot be worked on."""
    paused = Batch.objects.filter(
        group=OuterRef("group"), items__response=OuterRef("response"), status=Batch.Status.PAUSED
    )
    return Q(Exists(paused), other_group=None)


def with_batch(rows: QuerySet[Adjudication]) -> QuerySet[Adjudication]:
    """The same with ``batch`` and ``batch_title``: id and title of the one batch of the group that has the response.

    Both are None where several batches have it, and for a conflict between groups, which belongs to no batch.
    """
    items = BatchItem.objects.filter(batch__group=OuterRef("group"), response=OuterRef("response")).order_by()
    batches = items.values("response").annotate(
        n=Count("batch", distinct=True), one=Min("batch__public_id"), title=Min("batch__title")
    )
    columns = {"batch": "one", "batch_title": "title"}
    return rows.annotate(
        **{
            name: Case(When(other_group=None, then=Subquery(batches.filter(n=1).values(column))))
            for name, column in columns.items()
        }
    )


def done_adjudications(user: AnyUser) -> QuerySet[Adjudication]:
    """Conflicts that this adjudicator has settled, in benchmarks that they still adjudicate for."""
    return Adjudication.objects.filter(_may_adjudicate(user), status=Adjudication.Status.DONE, adjudicator=user.pk)


def get_missed_adjudication(user: AnyUser, public_id: str) -> Adjudication:
    """A conflict that this adjudicator could have claimed if another had not been quicker; 404 for any other."""
    rows = Adjudication.objects.filter(_may_adjudicate(user), adjudicator__isnull=False)
    rows = rows.exclude(adjudicator=user.pk).exclude(response__author=user.pk)
    return get_object_or_404(rows, public_id=public_id)


def get_open_adjudication(user: AnyUser, public_id: str) -> QuerySet[Adjudication]:
    """One open conflict, as a queryset to claim from; 404 if it is not there for this adjudicator."""
    rows = open_adjudications(user).filter(public_id=public_id)
    get_object_or_404(rows)
    return rows


def get_held_adjudication(user: AnyUser, public_id: str) -> Adjudication:
    """An open adjudication that this person holds, with what its page shows."""
    rows = open_adjudications(user).filter(adjudicator=user.pk)
    rows = rows.select_related("response__case", "rubric", "group__benchmark", "other_group")
    return get_object_or_404(rows, public_id=public_id)


def get_done_adjudication(user: AnyUser, public_id: str) -> Adjudication:
    """An adjudication that this person has finished, to read."""
    rows = done_adjudications(user).select_related("response__case", "rubric", "group__benchmark", "other_group")
    return get_object_or_404(rows, public_id=public_id)


def get_own_adjudication(user: AnyUser, public_id: str) -> Adjudication:
    """An adjudication that this person holds, or has finished."""
    rows = open_adjudications(user).filter(adjudicator=user.pk) | done_adjudications(user)
    return get_object_or_404(rows, public_id=public_id)


def _may_rule(user: AnyUser) -> Q:
    """A condition on requests: ``user`` adjudicates in the group, and neither votes on the case nor has voted."""
    own = LabelTask.objects.filter(case=OuterRef("case"), annotator=user.pk)
    tasks = own.filter(batch__frame__questions__contains=public_id_of_question()).exclude(
        status=LabelTask.Status.RELEASED
    )
    votes = LabelAnswer.objects.filter(
        task__case=OuterRef("case"), task__annotator=user.pk, question__kind=LabelQuestion.Kind.LEVELS
    )
    return Q(_in_group(user, Membership.Role.ADJUDICATOR, "group")) & ~Q(Exists(tasks)) & ~Q(Exists(votes))


def ruling_requests(user: AnyUser) -> QuerySet[RulingRequest]:
    """Ambiguous cases that this adjudicator may rule on; those with a ruling, by whomever, too."""
    rows = RulingRequest.objects.filter(_may_rule(user))
    return rows.exclude(votes_outstanding(public_id_of_question()))


def open_ruling_requests(user: AnyUser) -> QuerySet[RulingRequest]:
    """Ambiguous cases that wait for a ruling of this adjudicator or another one.

    Not excluded cases, nor those in a language that they do not read, where the panel's batches are matched to
    languages.
    """
    matched = LabelTask.objects.filter(
        case=OuterRef("case"),
        batch__match_languages=True,
        batch__frame__questions__contains=public_id_of_question(),
    )
    unread = Q(Exists(matched)) & unread_by(user.pk or 0, "case")
    waiting = ruling_requests(user).filter(case__excluded_at=None)
    return waiting.exclude(Exists(_rulings_on_request())).exclude(unread)


def own_rulings(user: AnyUser) -> QuerySet[RulingRequest]:
    """The cases that this adjudicator has ruled on."""
    return ruling_requests(user).filter(Exists(_rulings_on_request().filter(adjudicator=user.pk)))


def _rulings_on_request() -> QuerySet[AcuityRuling]:
    return AcuityRuling.objects.filter(question=OuterRef("question"), case=OuterRef("case"))


def get_ruling_request(user: AnyUser, public_id: str, *, ruled_by_others: bool = False) -> RulingRequest:
    """A case that this adjudicator may rule on, or has ruled on, with what its page shows.

    ``ruled_by_others``: also one that somebody else has ruled on meanwhile, for the service that then says so.
    """
    rows = ruling_requests(user)
    if not ruled_by_others:
        rows = rows.exclude(Exists(_rulings_on_request().exclude(adjudicator=user.pk)))
    rows = rows.select_related("question__scale", "case", "group__benchmark")
    return get_object_or_404(rows, public_id=public_id)


def code_rulings(user: AnyUser) -> QuerySet[CodeRuling]:
    """Responses on whose codes this adjudicator may rule; those with a ruling, by whomever, too.

    Never those that they wrote or were given to code, those to a case that they still have to write to without having
    read any answer, nor those that somebody still has to code. While a batch with the question is open, only those on
    which the group's own coders differ: that it differs from the other group is a result of the other group.
    """
    tasks = LabelTask.objects.filter(
        response=OuterRef("response"), batch__frame__questions__contains=public_id_of_question()
    )
    own = tasks.filter(annotator=user.pk).exclude(status=LabelTask.Status.RELEASED)
    open_ = tasks.filter(status__in=LabelTask.OPEN).exclude(batch__status=Batch.Status.CLOSED)
    rows = _known_code_rulings(user).exclude(Exists(own)).exclude(Exists(open_)).exclude(response__author=user.pk or 0)
    to_write = WritingTask.objects.filter(
        case=OuterRef("response__case"),
        writer=user.pk,
        status__in=WritingTask.OPEN,
        batch__writing_terms__mode="unaided",
    )
    return rows.exclude(Exists(to_write.exclude(batch__status=Batch.Status.CLOSED)))


def _known_code_rulings(user: AnyUser) -> QuerySet[CodeRuling]:
    """Rulings of which this adjudicator's groups may know, whether they may rule on them or not."""
    unclosed = Batch.objects.filter(frame__questions__contains=public_id_of_question()).exclude(
        status=Batch.Status.CLOSED
    )
    # Codes are stored in the order of their book, so that lists of keys are equal where sets are.
    keys = Func(F("codes"), template="jsonb_path_query_array(%(expressions)s, '$[*].code')", output_field=JSONField())
    differ_within = (
        LabelAnswer.objects.filter(
            question=OuterRef("question"),
            task__response=OuterRef("response"),
            task__batch__group=OuterRef("group"),
            task__status=LabelTask.Status.SUBMITTED,
        )
        .order_by()
        .values("question")
        .annotate(n=Count(keys, distinct=True))
        .filter(n__gt=1)
    )
    rows = CodeRuling.objects.filter(_in_group(user, Membership.Role.ADJUDICATOR, "group"))
    return rows.filter(~Exists(unclosed) | Exists(differ_within))


def open_code_rulings(user: AnyUser) -> QuerySet[CodeRuling]:
    """Responses that wait for a ruling on their codes; not of excluded cases."""
    return code_rulings(user).filter(ruled_at=None, response__case__excluded_at=None)


def unruled_code_rulings(user: AnyUser) -> QuerySet[CodeRuling]:
    """The known rulings on codes that nobody has given yet, also those that this adjudicator cannot give now."""
    return _known_code_rulings(user).filter(ruled_at=None)


def own_code_rulings(user: AnyUser) -> QuerySet[CodeRuling]:
    """The responses on whose codes this adjudicator has ruled."""
    return code_rulings(user).filter(adjudicator=user.pk, ruled_at__isnull=False)


def get_code_ruling(user: AnyUser, public_id: str, *, ruled_by_others: bool = False) -> CodeRuling:
    """A response on whose codes this adjudicator may rule, or has ruled, with what its page shows.

    ``ruled_by_others``: also one that somebody else has ruled on meanwhile, for the service that then says so.
    """
    rows = code_rulings(user)
    if not ruled_by_others:
        rows = rows.filter(Q(ruled_at=None) | Q(adjudicator=user.pk))
    rows = rows.select_related("question__code_book", "response__case", "group__benchmark")
    return get_object_or_404(rows, public_id=public_id)


# Who runs the benchmark ---------------------------------------------------------------------------------------------


def get_group(user: AnyUser, slug: str, public_id: str) -> ExpertGroup:
    """An expert group of a benchmark that ``user`` runs."""
    return _group(get_benchmark(user, slug), public_id)


def get_administered_group(user: AnyUser, slug: str, public_id: str) -> ExpertGroup:
    """An expert group of a benchmark that ``user`` is an admin of."""
    return _group(get_administered_benchmark(user, slug), public_id)


def get_administered_membership(user: AnyUser, slug: str, public_id: str, membership: int) -> Membership:
    """A membership of a group of a benchmark that ``user`` is an admin of."""
    group = get_administered_group(user, slug, public_id)
    return get_object_or_404(Membership.objects.select_related("group", "user").filter(group=group), pk=membership)


def get_batch(user: AnyUser, slug: str, public_id: str) -> Batch:
    """A batch of a benchmark that ``user`` runs."""
    return _batch(get_benchmark(user, slug), public_id)


def get_administered_batch(user: AnyUser, slug: str, public_id: str) -> Batch:
    """A batch of a benchmark that ``user`` is an admin of."""
    return _batch(get_administered_benchmark(user, slug), public_id)


def get_label_question(user: AnyUser, slug: str, public_id: str) -> LabelQuestion:
    """A question about cases, of a benchmark that ``user`` runs."""
    return _label_question(get_benchmark(user, slug), public_id)


def get_administered_label_question(user: AnyUser, slug: str, public_id: str) -> LabelQuestion:
    """A question about cases, of a benchmark that ``user`` is an admin of."""
    return _label_question(get_administered_benchmark(user, slug), public_id)


def get_question_on_scale(user: AnyUser, slug: str, public_id: str) -> LabelQuestion:
    """A question whose answers are votes on a scale, of a benchmark that ``user`` runs."""
    return _on_scale(get_label_question(user, slug, public_id))


def get_administered_question_on_scale(user: AnyUser, slug: str, public_id: str) -> LabelQuestion:
    """A question whose answers are votes on a scale, of a benchmark that ``user`` is an admin of."""
    return _on_scale(get_administered_label_question(user, slug, public_id))


def _on_scale(question: LabelQuestion) -> LabelQuestion:
    if not question.is_levels:
        raise Http404
    return question


def _label_question(benchmark: Benchmark, public_id: str) -> LabelQuestion:
    return get_object_or_404(
        LabelQuestion.objects.about_cases().select_related("benchmark", "scale"),
        benchmark=benchmark,
        public_id=public_id,
    )


def _group(benchmark: Benchmark, public_id: str) -> ExpertGroup:
    rows = ExpertGroup.objects.select_related("benchmark").filter(benchmark=benchmark)
    return get_object_or_404(rows, public_id=public_id)


def _batch(benchmark: Benchmark, public_id: str) -> Batch:
    rows = Batch.objects.select_related("group__benchmark", "created_by").filter(group__benchmark=benchmark)
    return get_object_or_404(rows, public_id=public_id)


def get_reference_set(user: AnyUser, slug: str, number: int) -> ReferenceSet:
    """A reference set of a benchmark that ``user`` runs."""
    sets = ReferenceSet.objects.select_related("scale", "benchmark")
    return get_object_or_404(sets, benchmark=get_benchmark(user, slug), number=number)
