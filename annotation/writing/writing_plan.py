"""Plans a writing batch: which cases are written to, who writes, and with which references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Literal

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as command

from accounts.models import PhysicianProfile, User
from annotation.allocation.allocate import Allocation, Infeasible, Item, allocate, keyed
from annotation.allocation.specialties import case_specialty, matching
from annotation.labels.batches import CaseDifficulties, CaseFilter, CaseLanguages, CaseTags
from annotation.models import Batch, ExpertGroup, Physician, WritingTask
from annotation.selectors.able import able_annotators
from annotation.selectors.languages_read import MatchLanguages
from annotation.services.batch_terms import CaseBatchSeed, CaseBatchTitle, DueDate, IncludeInvited, warn_of_past
from annotation.services.known_terms import refuse_unknown
from annotation.writing.exclusions import ExclusionReason, Pair, excluded_writers
from consilium.core.commands import Label, OneOf
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_INSTRUCTIONS_LENGTH, MAX_KEY_LENGTH, MAX_MODE_NAME_LENGTH
from consilium.core.order import natural
from rubrics.models import Candidate, Case, Response

UNAIDED, AIDED = "unaided", "aided"
MAX_REFERENCES = 8


@command(frozen=True, slots=True)
class WritingFilter:
    """Which cases are written to; an empty field leaves nothing out. Excluded cases are always left out.

    ``skip_written`` leaves out cases that have, or are to get, a response of the candidate in this mode.
    """

    tags: CaseTags = ()
    languages: CaseLanguages = ()
    difficulties: CaseDifficulties = ()
    skip_written: Annotated[
        bool, Label(gettext_lazy("Exclude cases that already have, or will get, such a response"))
    ] = True
    draw: Annotated[
        int | None,
        Field(ge=1),
        Label(gettext_lazy("Number"), gettext_lazy("Drawn at random from all that match. Leave empty to use all.")),
    ] = None

    def cases(self, group: ExpertGroup, order: WritingOrder) -> QuerySet[Case]:
        """Matching cases in the order of keys."""
        queryset = CaseFilter(self.tags, self.languages, self.difficulties, skip_given=False).cases(group, ())
        queryset = queryset.filter(excluded_at=None)
        candidate = order.known_candidate()
        if self.skip_written and candidate is not None:
            written = Response.objects.filter(candidate=candidate, writing_mode=order.mode)
            open_ = WritingTask.objects.filter(
                status__in=WritingTask.OPEN,
                batch__writing_terms__candidate=candidate,
                batch__writing_terms__mode=order.mode,
            ).exclude(batch__status=Batch.Status.CLOSED)
            queryset = queryset.exclude(pk__in=written.values("case")).exclude(pk__in=open_.values("case"))
        return queryset

    def record(self) -> dict[str, object]:
        """The filter as stored in the batch's frame, with the names that other batches use."""
        chosen = {"tags": self.tags, "languages": self.languages, "difficulties": self.difficulties}
        return {name: list(values) for name, values in chosen.items() if values}


@command(frozen=True, slots=True, config=ConfigDict(arbitrary_types_allowed=True))
class WritingOrder:
    """What is written, by how many writers, and with which references. A new ``candidate`` is made with the batch."""

    group: ExpertGroup
    title: CaseBatchTitle
    seed: CaseBatchSeed
    mode: Annotated[Literal["unaided", "aided"], Label(gettext_lazy("Writing mode"))] = "unaided"
    candidate: Annotated[
        str,
        Field(max_length=MAX_KEY_LENGTH),
        Label(
            gettext_lazy("Written for the candidate"),
            gettext_lazy("A physician candidate of the benchmark, or a new name. Each response is a sample of it."),
        ),
    ] = "physician"
    mode_name: Annotated[
        str,
        Field(max_length=MAX_MODE_NAME_LENGTH),
        Label(
            gettext_lazy("Name of the mode"),
            gettext_lazy("The name used in the study, such as “older models”. It is stored with each response."),
        ),
    ] = ""
    references: Annotated[Sequence[Candidate], Label(gettext_lazy("References"))] = ()
    instructions: Annotated[
        str,
        Field(max_length=MAX_INSTRUCTIONS_LENGTH),
        Label(
            gettext_lazy("Instructions"),
            gettext_lazy("Shown above the editor, after the instructions that every writer sees. Supports Markdown."),
        ),
    ] = ""
    writers_per_case: Annotated[
        int,
        Field(ge=1, le=20),
        Label(gettext_lazy("Writers per case"), gettext_lazy("Each physician writes independently.")),
    ] = 1
    specialty_match: Annotated[
        str,
        OneOf(Batch.SpecialtyMatch),
        Label(
            gettext_lazy("Specialty"),
            gettext_lazy("Compares the writer’s specialty with the first specialty tag of the case."),
        ),
    ] = Batch.SpecialtyMatch.NONE
    match_languages: MatchLanguages = True
    due_date: DueDate = None
    include_invited: IncludeInvited = False

    def known_candidate(self) -> Candidate | None:
        """The candidate of this name, if there is one."""
        return Candidate.objects.filter(benchmark=self.group.benchmark_id, name=self.candidate.strip()).first()


@dataclass(frozen=True, slots=True)
class WriterLoad:
    """How many cases one physician would get; ``kept_out``: how many cases of the plan they may not write to."""

    user: User
    pseudonym: str
    cases: int
    kept_out: int


@dataclass(frozen=True, slots=True)
class WritingPlan:
    """A batch before it is made. ``digest`` identifies the plan, so that only the previewed plan can be made."""

    order: WritingOrder
    filter: WritingFilter
    matching: int  # cases that the filter lets through
    without_references: int  # of the matching cases, left out because a chosen candidate did not answer them
    without_writers: int  # left out because too few physicians may write to them
    in_frame: int  # number of cases that the cases were drawn from
    cases: tuple[int, ...]
    shown: Mapping[int, tuple[int, ...]]  # case → the responses shown beside its editor
    allocation: Allocation
    loads: tuple[WriterLoad, ...]
    left_out: tuple[str, ...]
    warnings: tuple[str, ...]
    digest: str

    @property
    def responses(self) -> int:
        """How many responses will be written."""
        return len(self.allocation.slots)


def plan_writing(*, order: WritingOrder, filter: WritingFilter) -> WritingPlan:
    """Choose the cases and spread them evenly over those who may write to them. `DomainError` names what is missing."""
    _refuse_impossible(order)
    refuse_unknown(order.group.benchmark, tags=filter.tags, languages=filter.languages)
    matched = list(filter.cases(order.group, order).values_list("pk", "tags"))
    if not matched:
        raise DomainError(_("No cases match. Cases that already have a response of this kind may have been excluded."))
    shown = _references(order, [pk for pk, _tags in matched])
    with_references = [pk for pk, _tags in matched if order.mode == UNAIDED or pk in shown]
    if not with_references:
        raise DomainError(_("No matching case has an answer from each of the chosen references."))
    able = able_annotators(order.group, include_invited=order.include_invited)
    able.refuse_if_only_invited()
    people = able.users
    if len(people) < order.writers_per_case:
        raise DomainError(
            _(
                "%(asked)d writers per case are required, but only %(people)d annotators in the group can "
                "receive new assignments."
            )
            % {"asked": order.writers_per_case, "people": len(people)}
        )
    matches = _matches(order, {pk: case_specialty(tags) for pk, tags in matched}, people)
    exclusions = excluded_writers(
        mode=order.mode,
        candidate=order.known_candidate(),
        cases=with_references,
        people=people,
        match_languages=order.match_languages,
    )
    excluded = set().union(*exclusions.values())
    eligible = _may_be_written(order, with_references, people, excluded, matches)
    if not eligible:
        raise DomainError(
            " ".join([_("No case is left that enough physicians can write a response to."), *_in_words(exclusions)])
        )
    drawn = _drawn(eligible, filter.draw, order.seed)
    allocation = _allocated(order, drawn, people, excluded, matches)
    parts = (order.group.pk, order.mode, order.candidate.strip(), sorted(shown.items()), allocation.slots)
    return WritingPlan(
        order=order,
        filter=filter,
        matching=len(matched),
        without_references=len(matched) - len(with_references),
        without_writers=len(with_references) - len(eligible),
        in_frame=len(eligible),
        cases=drawn,
        shown={case: shown.get(case, ()) for case in drawn},
        allocation=allocation,
        loads=_loads(order.group, people, allocation, {pair for pair in excluded if pair[0] in set(drawn)}),
        left_out=tuple(_in_words(exclusions)),
        warnings=(*able.warnings(), *_warnings(order, len(drawn), filter.draw), *warn_of_past(order.due_date)),
        digest=sha256(repr(parts).encode()).hexdigest(),
    )


def _refuse_impossible(order: WritingOrder) -> None:
    name = order.candidate.strip()
    if not name:
        raise DomainError(_("Enter the name of the candidate that the responses are written for."))
    known = order.known_candidate()
    if known is not None and known.kind != Candidate.Kind.PHYSICIAN:
        raise DomainError(_("“%(name)s” is not a physician. Choose another name.") % {"name": name})
    if order.mode == UNAIDED and order.references:
        raise DomainError(_("Unaided writing has no references. Choose the other mode to show some."))
    if order.mode == AIDED and not order.references:
        raise DomainError(_("Choose the candidates whose answers are shown."))
    if len(order.references) > MAX_REFERENCES:
        raise DomainError(_("At most %(most)d references are shown.") % {"most": MAX_REFERENCES})
    if any(reference.name == name for reference in order.references):
        raise DomainError(_("The candidate that is written for cannot be its own reference."))


def _references(order: WritingOrder, cases: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Case → the first response of each reference candidate, for cases that all of these candidates answered."""
    first: dict[Pair, int] = {}
    rows = Response.objects.filter(candidate__in=order.references, case__in=cases)
    for case, candidate, pk in rows.order_by("setting", "sample", "pk").values_list("case_id", "candidate_id", "pk"):
        first.setdefault((case, candidate), pk)
    reference_ids = [reference.pk for reference in order.references]
    return {
        case: tuple(first[case, reference_id] for reference_id in reference_ids)
        for case in cases
        if reference_ids and all((case, reference_id) in first for reference_id in reference_ids)
    }


def order_shown(responses: Sequence[int], *, seed: int, case: int, writer: int) -> list[int]:
    """References in an order drawn for case and writer, so that “Reference A” is not always the same candidate."""
    return sorted(responses, key=lambda response: (keyed(seed, "reference", case, writer, response), response))


def specialties_of(people: Collection[int]) -> dict[int, str]:
    """User → specialty, empty where the profile names none."""
    known = dict(PhysicianProfile.objects.filter(user__in=people).values_list("user_id", "specialty"))
    return {user: known.get(user, "") for user in people}


def _matches(order: WritingOrder, specialties: Mapping[int, str], people: Collection[int]) -> set[Pair] | None:
    if order.specialty_match == Batch.SpecialtyMatch.NONE:
        return None
    return matching(specialties, specialties_of(people), order.group.benchmark.maps.get("specialty", {}))


def _may_be_written(
    order: WritingOrder,
    cases: Sequence[int],
    people: Sequence[int],
    excluded: Collection[Pair],
    matches: Collection[Pair] | None,
) -> list[int]:
    """Cases that at least ``order.writers_per_case`` people may write to."""
    required = matches if order.specialty_match == Batch.SpecialtyMatch.REQUIRED else None
    return [
        case
        for case in cases
        if sum((case, person) not in excluded and (required is None or (case, person) in required) for person in people)
        >= order.writers_per_case
    ]


def _drawn(cases: Sequence[int], draw: int | None, seed: int) -> tuple[int, ...]:
    if draw is None or draw >= len(cases):
        return tuple(cases)
    chosen = set(sorted(cases, key=lambda case: (keyed(seed, "draw", case), case))[:draw])
    return tuple(case for case in cases if case in chosen)


def _allocated(
    order: WritingOrder,
    cases: Sequence[int],
    people: Sequence[int],
    excluded: Collection[Pair],
    matches: Collection[Pair] | None,
) -> Allocation:
    open_ = WritingTask.objects.filter(writer__in=people, status__in=WritingTask.OPEN).exclude(batch__status="closed")
    try:
        return allocate(
            [Item(case, case) for case in cases],
            people,
            per_item=order.writers_per_case,
            seed=order.seed,
            check_fraction=0.0,
            by_case=False,
            existing_load=dict(open_.order_by().values_list("writer").annotate(Count("pk"))),
            excluded=excluded,
            matches=matches,
            match_required=order.specialty_match == Batch.SpecialtyMatch.REQUIRED,
        )
    except Infeasible as missing:
        raise DomainError(_(missing.template) % missing.values) from missing


def _loads(
    group: ExpertGroup, people: Sequence[int], allocation: Allocation, excluded: Collection[Pair]
) -> tuple[WriterLoad, ...]:
    names = dict(Physician.objects.filter(benchmark=group.benchmark_id).values_list("user_id", "pseudonym"))
    kept_out = Counter(user for _case, user in excluded)
    users = sorted(User.objects.filter(pk__in=people), key=lambda user: (natural(user.name), user.pk))
    return tuple(
        WriterLoad(user, names.get(user.pk, ""), allocation.load.get(user.pk, 0), kept_out[user.pk]) for user in users
    )


def _in_words(exclusions: Mapping[ExclusionReason, Collection[Pair]]) -> list[str]:
    """A sentence for each reason: how many physicians are excluded from how many cases."""
    sentences = {
        ExclusionReason.READ: _(
            "%(people)s cannot be assigned %(cases)s because they were already given an answer to the case."
        ),
        ExclusionReason.AUTHORED: _(
            "%(people)s cannot be assigned %(cases)s because they wrote the case, or wrote or reviewed its rubric."
        ),
        ExclusionReason.WROTE: _(
            "%(people)s cannot be assigned %(cases)s because they have written, or will write, a response to the case."
        ),
        ExclusionReason.LANGUAGE: _(
            "%(people)s cannot be assigned %(cases)s because they do not read the language of the case."
        ),
    }
    lines = []
    for reason, pairs in exclusions.items():
        cases, people = len({case for case, _user in pairs}), len({user for _case, user in pairs})
        if pairs:
            lines.append(
                sentences[reason]
                % {
                    "cases": ngettext("%(number)d case", "%(number)d cases", cases) % {"number": cases},
                    "people": ngettext("%(number)d physician", "%(number)d physicians", people) % {"number": people},
                }
            )
    return lines


def _warnings(order: WritingOrder, drawn: int, n_requested: int | None) -> list[str]:
    warnings = []
    if n_requested is not None and drawn < n_requested:
        warnings.append(
            _("%(asked)d cases are required, but only %(drawn)d are available for writing.")
            % {"asked": n_requested, "drawn": drawn}
        )
    if order.mode == UNAIDED:
        warnings.append(
            _(
                "For a calibration, have another group grade the responses written here: gradings by "
                "physicians who wrote one of the responses are not counted."
            )
        )
    return warnings
