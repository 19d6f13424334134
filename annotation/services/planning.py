"""Plans a batch: which responses are drawn, and who would get which of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import PhysicianProfile, User
from annotation.allocation.allocate import (
    Allocation,
    Infeasible,
    Item,
    allocate,
    check_sample_size,
    refuse_impossible_pool,
)
from annotation.allocation.specialties import case_specialty, matching
from annotation.models import Assignment, Batch, ExpertGroup, Involvement, Membership, Physician
from annotation.qualification.gold import gold_available
from annotation.selectors.able import able_annotators
from annotation.selectors.languages_read import (
    LanguageRow,
    language_rows,
    languages_of,
    languages_read,
    refuse_unchecked,
    refuse_unread,
    unreadable,
    warn_of_unadjudicated,
    warn_of_unsaid,
)
from annotation.services.batch_terms import BatchTerms, warn_of_past
from annotation.services.drawing import FrameRow, Overlap, ResponseFilter, draw_sample
from annotation.services.slots.free_slots import why_not_given
from annotation.writing.exclusions import pledged_to_write
from consilium.core.errors import DomainError
from consilium.core.order import natural
from rubrics.models import Benchmark, Case, Response, Rubric, RubricItem


@dataclass(frozen=True, slots=True)
class PhysicianLoad:
    """Responses that one annotator would get, or may take from the pool; ``open_work`` is their work in other batches.

    ``matching`` counts the responses of their specialty among these; None where no match is asked for.
    """

    user: User
    pseudonym: str
    responses: int
    criteria: int
    open_work: int
    capacity: int | None
    specialty: str
    matching: int | None
    languages: tuple[str, ...]  # that they read; empty where they have named none


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """A batch before it is made. ``digest`` identifies the plan, so that only the previewed plan can be made."""

    group: ExpertGroup
    terms: BatchTerms
    filter: ResponseFilter
    in_frame: int
    responses: tuple[int, ...]
    probabilities: dict[int, float]  # response → the probability with which it was drawn
    overlap: Overlap | None
    rubrics: dict[int, int]  # response → rubric
    cases: dict[int, int]  # response → case
    allocation: Allocation  # without slots where responses are taken from a pool
    loads: tuple[PhysicianLoad, ...]
    criteria: int  # decisions to be made in all
    warnings: tuple[str, ...]
    languages: tuple[LanguageRow, ...]  # of the cases, by response, with the number of annotators who read each
    gold: int = 0  # gold items in all, besides the responses; for a pool, the most that its annotators can get

    @property
    def inclusion_probability(self) -> float | None:
        """The probability with which each response of the frame was drawn; None if it is not the same for all."""
        values = set(self.probabilities.values())
        return values.pop() if len(values) == 1 else None

    @property
    def checks(self) -> int:
        """Pieces of work drawn for a secondary check."""
        if self.terms.pool:
            return check_sample_size(len(self.responses) * self.terms.annotators_per_item, self.terms.fraction)
        return self.allocation.checks

    @property
    def digest(self) -> str:
        """Changes with the responses, their rubrics, the annotators, the queues and the drawn checks.

        A pool has no queues yet: its digest changes with the terms by which responses are taken from it.
        """
        parts: list[tuple[object, ...]] = [
            (s.response, self.rubrics[s.response], s.annotator, s.position, s.to_check) for s in self.allocation.slots
        ]
        if self.terms.pool:
            terms = self.terms
            parts = [
                (terms.annotators_per_item, terms.fraction, terms.specialty_match, terms.match_languages, terms.seed),
                (terms.order, terms.lease_hours, terms.gold_per_annotator),
            ]
            parts += [(response, self.rubrics[response]) for response in self.responses]
        return sha256(repr((self.in_frame, parts)).encode()).hexdigest()[:16]


def plan_batch(*, group: ExpertGroup, terms: BatchTerms, filter: ResponseFilter) -> BatchPlan:
    """Draw the responses and allocate them, without writing anything. `DomainError` names what is missing."""
    sample = draw_sample(group=group, filter=filter, seed=terms.seed)
    team = _team(group)
    if not team.annotators:
        raise DomainError(_("The group has no annotator yet. Add members to it first."))
    annotators = able_annotators(group, include_invited=terms.include_invited)
    annotators.refuse_if_only_invited()
    able = annotators.users
    if not able:
        raise DomainError(_("Assignments are paused for every annotator in the group; see “Quality” for the reasons."))
    warnings = [*annotators.warnings(), *_not_qualified(annotators.unqualified)]
    warnings += [*without_account(able), *without_rule_sheet(group.benchmark)]
    work = _open_work(team.annotators)
    responses = tuple(row.pk for row in sample.rows)
    cases = {row.pk: row.case for row in sample.rows}
    excluded = _excluded(responses, team) | _pledged(cases, team)
    known = languages_read({*team.annotators, *team.checkers})
    language_of = languages_of(set(cases.values()))
    languages = language_rows([language_of[case] for case in cases.values()], {user: known[user] for user in able})
    if terms.match_languages:
        refuse_unread(languages, needed=min(terms.annotators_per_item, len(able)))
        if terms.fraction == 1:  # which responses a smaller share is drawn from is not known yet
            refuse_unchecked({row.tag for row in languages}, {user: known[user] for user in team.checkers})
        unread = unreadable(language_of, known)
        excluded |= {(response, user) for response, case in cases.items() for user in known if (case, user) in unread}
        warnings += warn_of_unsaid({user: known[user] for user in able}) if len(languages) > 1 else []
    specialties = dict(PhysicianProfile.objects.filter(user__in=team.annotators).values_list("user_id", "specialty"))
    matches = None
    if terms.specialty_match != Batch.SpecialtyMatch.NONE:
        matches = _matches(group, set(cases.values()), {user: specialties.get(user, "") for user in able})
        nameless = sum(not specialties.get(user) for user in able)
        if nameless:
            warnings.append(
                ngettext(
                    "%(n)d annotator has no specialty in their profile and matches only cases without a specialty.",
                    "%(n)d annotators have no specialty in their profile and match only cases without a specialty.",
                    nameless,
                )
                % {"n": nameless}
            )
    try:
        allocation, takable = _allocate(sample.rows, team, able, terms, group, work, excluded, matches)
    except Infeasible as missing:
        text = _(missing.template) % missing.values
        if missing.responses:
            row = sample.rows[missing.responses[0]]
            text = f"{text} {_why_too_few(group, row, able, known=known, terms=terms)}"
        raise DomainError(text) from missing
    rubrics = dict(Rubric.objects.current().filter(case__in=set(cases.values())).values_list("case_id", "pk"))
    sizes = dict(
        RubricItem.objects.filter(rubric__in=rubrics.values()).values_list("rubric").annotate(Count("pk")).order_by()
    )
    size_of = {response: sizes[rubrics[case]] for response, case in cases.items()}
    if terms.annotators_per_item > 1 and not team.adjudicators:
        warnings.append(_("The group has no adjudicator. Conflicts between its annotators wait until it has one."))
    elif terms.annotators_per_item > 1 and terms.match_languages:
        warnings += warn_of_unadjudicated({row.tag for row in languages}, languages_read(team.adjudicators))
    warnings += warn_of_past(terms.due_date)
    gold = _gold(group, terms, takable or allocation.load)
    warnings += _too_few_gold(list(gold.values()), number=terms.gold_per_annotator)
    return BatchPlan(
        group=group,
        terms=terms,
        filter=filter,
        in_frame=sample.in_frame,
        responses=responses,
        probabilities=sample.probabilities,
        overlap=sample.overlap,
        rubrics={response: rubrics[case] for response, case in cases.items()},
        cases=cases,
        allocation=allocation,
        loads=_loads(group, team, allocation, takable, cases, size_of, work, specialties, known, matches),
        criteria=sum(size_of.values()) * terms.annotators_per_item,
        warnings=tuple(warnings),
        languages=languages,
        gold=sum(min(number, terms.gold_per_annotator) for number in gold.values()),
    )


# Who may grade --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Team:
    """User → capacity by role, in the order of joining the group; a capacity of None is no limit."""

    annotators: dict[int, int | None]
    checkers: dict[int, int | None]
    adjudicators: dict[int, int | None]


def _team(group: ExpertGroup) -> _Team:
    members: dict[str, dict[int, int | None]] = {role: {} for role in Membership.Role.values}
    rows = Membership.objects.filter(group=group, active=True, user__is_active=True).order_by("pk")
    for user, role, capacity in rows.values_list("user_id", "role", "capacity"):
        members[role][user] = capacity
    return _Team(members["annotator"], members["checker"], members["adjudicator"])


def _why_too_few(
    group: ExpertGroup,
    row: FrameRow,
    able: Sequence[int],
    *,
    known: Mapping[int, Sequence[str]],
    terms: BatchTerms,
) -> str:
    """Why so few of ``able`` can grade the response ``row``, and what an admin can do about it."""
    unread = unreadable(languages_of({row.case}), known) if terms.match_languages else set()
    reasons = why_not_given(
        group=group,
        response=Response.objects.get(pk=row.pk),
        people=able,
        unread={user for _case, user in unread},
        pledged={user for _case, user in pledged_to_write(set(able), {row.case})},
    )
    todo = _("Add annotators to the group, exclude these cases, or continue with them in the batch that has them.")
    example = _("For example, case “%(case)s”: %(reasons)s") % {"case": row.name[0], "reasons": " ".join(reasons)}
    return f"{example} {todo}"


def _gold(group: ExpertGroup, terms: BatchTerms, load: Mapping[int, int]) -> dict[int, int]:
    """User → gold items that they could get, of everybody with work in the batch; empty where none are asked for."""
    if not terms.gold_per_annotator:
        return {}
    users = [user for user, responses in load.items() if responses]
    return gold_available(group, users, match_languages=terms.match_languages)


def _too_few_gold(available: Collection[int], *, number: int) -> list[str]:
    short = [each for each in available if each < number]
    if not short:
        return []
    text = ngettext(
        "%(n)d annotator gets fewer than %(asked)d gold items (at the least: %(fewest)d), because no other gold item "
        "may be given to them. Add answer keys under “Qualification and gold items”, or choose a smaller number.",
        "%(n)d annotators get fewer than %(asked)d gold items (at the least: %(fewest)d), because no other gold item "
        "may be given to them. Add answer keys under “Qualification and gold items”, or choose a smaller number.",
        len(short),
    )
    return [text % {"asked": number, "n": len(short), "fewest": min(short)}]


def _not_qualified(number: int) -> list[str]:
    if not number:
        return []
    text = ngettext(
        "%(n)d annotator has not qualified yet and can begin once they have.",
        "%(n)d annotators have not qualified yet and can begin once they have.",
        number,
    )
    return [text % {"n": number}]


def without_account(annotators: Collection[int]) -> list[str]:
    """A warning about annotators imported from a file: they have no address, and cannot sign in to do the work."""
    names = User.objects.filter(pk__in=annotators, email="").count()
    if not names:
        return []
    text = ngettext(
        "%(n)d annotator was imported with a file of decisions and cannot sign in. Hand over their work, or stop them.",
        "%(n)d annotators were imported with a file of decisions and cannot sign in. Hand over their "
        "work, or stop them.",
        names,
    )
    return [text % {"n": names}]


def without_rule_sheet(benchmark: Benchmark) -> list[str]:
    """A warning where the benchmark does not say what "met" means: each annotator would decide that alone."""
    if benchmark.rule_sheet.strip():
        return []
    return [
        _("The benchmark has no rule sheet, so physicians do not know when a criterion is met. Write one in Settings.")
    ]


def _excluded(responses: Sequence[int], team: _Team) -> set[tuple[int, int]]:
    """(response, user) pairs with a part in the response. A checker of a response may check it again."""
    people = {*team.annotators, *team.checkers}
    involved = Involvement.objects.filter(response__in=responses, user__in=people)
    return {
        (response, user)
        for response, user, part in involved.values_list("response_id", "user_id", "part")
        if not (part == "checker" and user in team.checkers and user not in team.annotators)
    }


def _pledged(cases: Mapping[int, int], team: _Team) -> set[tuple[int, int]]:
    """(response, user) pairs in which the user still has to answer the response's case without reading any answer."""
    people = {*team.annotators, *team.checkers}
    pledged = pledged_to_write(people, set(cases.values()))
    return {(response, user) for response, case in cases.items() for user in people if (case, user) in pledged}


def _matches(group: ExpertGroup, cases: set[int], people: Mapping[int, str]) -> set[tuple[int, int]]:
    """(case, user) pairs whose specialties match by the benchmark's map."""
    specialties = {pk: case_specialty(tags) for pk, tags in Case.objects.filter(pk__in=cases).values_list("pk", "tags")}
    return matching(specialties, people, group.benchmark.maps.get("specialty", {}))


def _open_work(annotators: Collection[int], group: ExpertGroup | None = None) -> dict[int, int]:
    rows = Assignment.objects.filter(
        annotator__in=annotators, status__in=Assignment.OPEN, batch__status__in=["open", "paused"]
    )
    if group is not None:
        rows = rows.filter(batch__group=group).exclude(batch__kind=Batch.Kind.QUALIFY)
    return dict(rows.values_list("annotator").annotate(Count("pk")).order_by())


def _allocate(
    drawn: Sequence[FrameRow],
    team: _Team,
    able: Sequence[int],
    terms: BatchTerms,
    group: ExpertGroup,
    work: Mapping[int, int],
    excluded: Collection[tuple[int, int]],
    matches: Collection[tuple[int, int]] | None,
) -> tuple[Allocation, dict[int, int]]:
    """Call `allocate` with positions instead of row ids; for a pool, return how many responses each annotator may take.

    Responses are numbered in the order of names and people in the order of joining the group, so that the same seed
    gives the same plan in every database with the same benchmark and group.
    """
    people = [*team.annotators, *(user for user in team.checkers if user not in team.annotators)]
    response_at = {row.pk: place for place, row in enumerate(drawn)}
    case_at = {case: place for place, case in enumerate(dict.fromkeys(row.case for row in drawn))}
    person_at = {user: place for place, user in enumerate(people)}
    items = [
        Item(response_at[row.pk], case_at[row.case], person_at.get(row.author) if row.author else None) for row in drawn
    ]
    annotators = [person_at[user] for user in able]
    checkers = [person_at[user] for user in team.checkers]
    excluded = {(response_at[response], person_at[user]) for response, user in excluded}
    pairs = None if matches is None else {(case_at[case], person_at[user]) for case, user in matches}
    required = terms.specialty_match == Batch.SpecialtyMatch.REQUIRED
    if terms.pool:
        pool_counts = refuse_impossible_pool(
            items,
            annotators,
            per_item=terms.annotators_per_item,
            seed=terms.seed,
            checkers=checkers,
            check_fraction=terms.fraction,
            excluded=excluded,
            matches=pairs if required else None,
        )
        return Allocation(()), {people[person]: number for person, number in pool_counts.items()}
    here = _open_work(able, group)
    # A capacity limits open work in this group; other open work only decides who gets a remaining response.
    room = {
        user: capacity - here.get(user, 0) + work.get(user, 0)
        for user, capacity in team.annotators.items()
        if capacity is not None
    }
    allocation = allocate(
        items,
        annotators,
        per_item=terms.annotators_per_item,
        seed=terms.seed,
        checkers=checkers,
        check_fraction=terms.fraction,
        by_case=terms.order == Batch.Order.BY_CASE,
        existing_load={person_at[user]: load for user, load in work.items()},
        excluded=excluded,
        capacity={person_at[user]: most for user, most in room.items()},
        matches=pairs,
        match_required=required,
    )
    slots = (replace(s, response=drawn[s.response].pk, annotator=people[s.annotator]) for s in allocation.slots)
    return Allocation(tuple(slots)), {}


def _loads(
    group: ExpertGroup,
    team: _Team,
    allocation: Allocation,
    takable: Mapping[int, int],
    cases: Mapping[int, int],
    size_of: Mapping[int, int],
    work: Mapping[int, int],
    specialties: Mapping[int, str],
    languages: Mapping[int, Sequence[str]],
    matches: Collection[tuple[int, int]] | None,
) -> tuple[PhysicianLoad, ...]:
    responses = allocation.load or takable
    criteria = dict.fromkeys(team.annotators, 0)
    fitting = dict.fromkeys(team.annotators, 0)
    for slot in allocation.slots:
        criteria[slot.annotator] += size_of[slot.response]
        fitting[slot.annotator] += (cases[slot.response], slot.annotator) in (matches or ())
    if takable:
        for user in takable:
            fitting[user] = sum((case, user) in (matches or ()) for case in cases.values())
    names = dict(
        Physician.objects.filter(benchmark=group.benchmark_id, user__in=team.annotators).values_list(
            "user_id", "pseudonym"
        )
    )
    return tuple(
        PhysicianLoad(
            user,
            names.get(user.pk, ""),
            responses.get(user.pk, 0),
            criteria[user.pk],
            work.get(user.pk, 0),
            team.annotators[user.pk],
            specialties.get(user.pk, ""),
            None if matches is None else fitting[user.pk],
            tuple(languages[user.pk]),
        )
        for user in sorted(User.objects.filter(pk__in=team.annotators), key=lambda user: (natural(user.name), user.pk))
    )
