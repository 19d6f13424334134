"""Draws the responses of a batch: a seeded sample, alone or overlapping with another group's batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from pydantic import Field
from pydantic.dataclasses import dataclass as command

from annotation.allocation.allocate import check_sample_size, keyed
from annotation.models import Batch, BatchItem, ExpertGroup
from annotation.services.known_terms import refuse_unknown
from consilium.core.commands import Label, OneOf
from consilium.core.errors import DomainError
from rubrics.models import Candidate, Difficulty, Register, Response, Rubric, RubricItem
from rubrics.selectors.case_selection import has_any_tag


@command(frozen=True, slots=True)
class ResponseFilter:
    """Which responses of the benchmark a batch draws from; an empty field leaves nothing out.

    With ``overlap_with``, the public id of another group's batch, ``overlap_share`` of the responses are drawn from
    that batch and the rest from responses that it does not hold. ``draw`` None then means as many as that batch holds.
    """

    candidates: Annotated[Sequence[str], Field(description="Names."), Label(gettext_lazy("Candidates"))] = ()
    kinds: Annotated[Sequence[Annotated[str, OneOf(Candidate.Kind)]], Label(gettext_lazy("Kind of candidate"))] = ()
    difficulties: Annotated[Sequence[Annotated[str, OneOf(Difficulty)]], Label(gettext_lazy("Difficulty"))] = ()
    registers: Annotated[Sequence[Annotated[str, OneOf(Register)]], Label(gettext_lazy("Register"))] = ()
    languages: Annotated[Sequence[str], Label(gettext_lazy("Language"))] = ()
    tags: Annotated[
        Sequence[str],
        Field(description="Cases with any of them."),
        Label(gettext_lazy("Tags"), gettext_lazy("Cases with any of these, separated by commas: theme:hedging, …")),
    ] = ()
    cases: Annotated[
        Sequence[str],
        Field(description="Keys."),
        Label(gettext_lazy("Cases"), gettext_lazy("Short names, separated by commas or line breaks.")),
    ] = ()
    skip_given: Annotated[
        bool,
        Field(description="Leave out what the group was given before."),
        Label(gettext_lazy("Exclude responses already assigned to this group")),
    ] = True
    draw: Annotated[
        int | None,
        Field(ge=1, description="How many, at random."),
        Label(gettext_lazy("Number"), gettext_lazy("Drawn at random from all that match. Leave empty to use all.")),
    ] = None
    overlap_with: Annotated[
        str,
        Field(description="Public id of a batch of another group, to share responses with."),
        Label(
            gettext_lazy("Same responses as"),
            gettext_lazy(
                "A batch of the other group. The agreement of the two groups is computed on the responses "
                "that both grade."
            ),
        ),
    ] = ""
    overlap_share: Annotated[
        float, Field(ge=0, le=1, description="How much of this batch is shared; the rest is fresh.")
    ] = 1.0

    def responses(self, group: ExpertGroup) -> QuerySet[Response]:
        """The frame: matching responses without a key, whose case is not excluded and has a published rubric."""
        queryset = self.matching(group)
        for condition in self._exclusions(group).values():
            queryset = queryset.exclude(condition)
        return queryset

    def _exclusions(self, group: ExpertGroup) -> dict[str, Q]:
        """Reason → condition on the matching responses that no batch of ``group`` takes."""
        current = Rubric.objects.current().filter(case=OuterRef("case"))
        items = RubricItem.objects.filter(rubric__case=OuterRef("case"), rubric__status="published")
        conditions = {
            "excluded": Q(case__excluded_at__isnull=False),
            "key": Q(key__isnull=False),
            "rubric": ~(Q(Exists(current)) & Q(Exists(items))),
        }
        if self.skip_given:
            given = BatchItem.objects.filter(response=OuterRef("pk"), batch__group=group)
            conditions["given"] = Q(Exists(given))
        return conditions

    def not_included(self, group: ExpertGroup) -> list[str]:
        """A sentence for each reason for which responses that match the filter are not in the frame.

        A response counts under the first reason that applies to it. Those with an answer key are named.
        """
        queryset, lines = self.matching(group), []
        for reason, condition in self._exclusions(group).items():
            rows = queryset.filter(condition)
            number = rows.count()
            if number:
                names = _named(rows, number) if reason == "key" else ""
                lines.append(_not_included(reason, number) % {"n": number, "names": names})
            queryset = queryset.exclude(condition)
        return lines

    def matching(self, group: ExpertGroup) -> QuerySet[Response]:
        """The responses of the benchmark that match the filter, whether a batch can take them or not."""
        queryset = Response.objects.filter(case__benchmark=group.benchmark_id)
        lists: dict[str, Sequence[str]] = {
            "candidate__kind__in": self.kinds,
            "case__difficulty__in": self.difficulties,
            "case__register__in": self.registers,
            "case__language__in": self.languages,
            "case__key__in": self.cases,
        }
        queryset = queryset.filter(**{lookup: list(values) for lookup, values in lists.items() if values})
        if self.candidates:
            queryset = queryset.filter(
                candidate__in=Candidate.objects.filter(benchmark=group.benchmark_id).called(self.candidates)
            )
        if not self.candidates and not self.kinds:
            queryset = queryset.of_originals()
        if self.tags:
            queryset = queryset.filter(has_any_tag(self.tags, "case__"))
        return queryset


NAMED = 5  # responses in a sentence


def _named(rows: QuerySet[Response], number: int) -> str:
    names = rows.order_by("case__key", "candidate__name", "pk").values_list("case__key", "candidate__name")
    text = "; ".join(f"{case}, {candidate}" for case, candidate in names[:NAMED])
    if number <= NAMED:
        return text
    return _("%(names)s; and %(n)d more") % {"names": text, "n": number - NAMED}


def _not_included(reason: str, number: int) -> str:
    texts = {
        "excluded": ngettext(
            "%(n)d matching response is not included because its case is excluded.",
            "%(n)d matching responses are not included because their cases are excluded.",
            number,
        ),
        "key": ngettext(
            "%(n)d matching response is not included because it has an answer key: %(names)s.",
            "%(n)d matching responses are not included because they have an answer key: %(names)s.",
            number,
        ),
        "rubric": ngettext(
            "%(n)d matching response is not included because its case has no published rubric.",
            "%(n)d matching responses are not included because their cases have no published rubric.",
            number,
        ),
        "given": ngettext(
            "%(n)d matching response is not included because it is already assigned to this group.",
            "%(n)d matching responses are not included because they are already assigned to this group.",
            number,
        ),
    }
    return texts[reason]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two strata: ``shared`` responses drawn of the ``of_shared`` that the other batch holds, ``fresh`` of the rest."""

    batch: Batch
    share: float
    shared: int
    of_shared: int
    fresh: int
    of_fresh: int

    def record(self) -> dict[str, object]:
        """The overlap as stored in the batch's frame."""
        return {
            "batch": self.batch.public_id,
            "title": self.batch.title,
            "group": self.batch.group.name,
            "share": self.share,
            "shared": self.shared,
            "of_shared": self.of_shared,
            "fresh": self.fresh,
            "of_fresh": self.of_fresh,
        }


class FrameRow(NamedTuple):
    """A response of the frame; ``name`` identifies it outside the database."""

    name: tuple[str, str, str, int]
    pk: int
    case: int
    author: int | None


@dataclass(frozen=True, slots=True)
class Sample:
    """Drawn rows in the order of their names, from ``in_frame`` rows; inclusion probabilities by response."""

    rows: list[FrameRow]
    in_frame: int
    probabilities: dict[int, float]
    overlap: Overlap | None = None


def draw_sample(*, group: ExpertGroup, filter: ResponseFilter, seed: int) -> Sample:
    """Draw the responses of a batch by its seed. `DomainError` names what is missing."""
    refuse_unknown(
        group.benchmark,
        candidates=filter.candidates,
        cases=filter.cases,
        tags=filter.tags,
        languages=filter.languages,
        prefix="filter.",
    )
    frame = frame_of(filter.responses(group))
    if not frame:
        raise DomainError(
            _(
                "No responses match. Loosen the filter, import responses, or include those already assigned "
                "to the group."
            )
        )
    if filter.overlap_with:
        return _draw_overlapping(frame, group, filter, seed)
    rows = at_random(frame, filter.draw or len(frame), seed, "draw")
    return Sample(rows, len(frame), {row.pk: len(rows) / len(frame) for row in rows})


def frame_of(responses: QuerySet[Response]) -> list[FrameRow]:
    """The responses in the order of their names. Python sorts them, since a database sorts text by its own locale."""
    rows = responses.order_by().values_list(
        "case__key", "candidate__name", "setting", "sample", "pk", "case_id", "author_id"
    )
    return sorted(FrameRow((key, candidate, setting, sample), *rest) for key, candidate, setting, sample, *rest in rows)


def at_random(rows: list[FrameRow], size: int, seed: int, word: str) -> list[FrameRow]:
    """At most ``size`` of the rows, drawn by the seed."""
    if size >= len(rows):
        return rows
    drawn = sorted(rows, key=lambda row: (keyed(seed, word, *row.name), row.name))[:size]
    return sorted(drawn, key=lambda row: row.name)


def _draw_overlapping(frame: list[FrameRow], group: ExpertGroup, filter: ResponseFilter, seed: int) -> Sample:
    """A stratified sample: part from what the other batch holds, part from the rest.

    Given the other batch, each stratum is a simple random sample of its part of the frame, so the probabilities are
    those of the strata. Where no fresh responses are drawn, a response can be drawn only through the other batch: its
    probability is then the product of both draws, over the other batch's own frame.
    """
    other = (
        Batch.objects.select_related("group")
        .filter(public_id=filter.overlap_with, group__benchmark=group.benchmark_id, kind=Batch.Kind.GRADE)
        .first()
    )
    if other is None or other.group_id == group.pk:
        raise DomainError(_("Choose a batch of the other group to overlap with."))
    if not 0 < filter.overlap_share <= 1:
        raise DomainError(_("The overlap must be above 0% and at most 100%."))
    held = dict(BatchItem.objects.filter(batch=other).values_list("response_id", "inclusion_probability"))
    overlap_frame = [row for row in frame if row.pk in held]
    rest = [row for row in frame if row.pk not in held]
    size = filter.draw or len(held)
    shared = check_sample_size(size, filter.overlap_share)
    fresh = size - shared
    if len(overlap_frame) < shared:
        raise DomainError(
            _("%(asked)d responses of that batch are required, but %(there)d of its %(held)d match the filter.")
            % {"asked": shared, "there": len(overlap_frame), "held": len(held)}
        )
    if len(rest) < fresh:
        raise DomainError(
            _("%(asked)d new responses are required besides the shared ones, but %(rest)d match the filter.")
            % {"asked": fresh, "rest": len(rest)}
        )
    if not size:
        raise DomainError(_("At least one response is needed."))
    shared_rows = at_random(overlap_frame, shared, seed, "overlap") if shared else []
    fresh_rows = at_random(rest, fresh, seed, "draw") if fresh else []
    probabilities = {row.pk: shared / len(overlap_frame) * (1 if fresh else held[row.pk]) for row in shared_rows}
    probabilities |= {row.pk: fresh / len(rest) for row in fresh_rows}
    overlap = Overlap(other, filter.overlap_share, shared, len(overlap_frame), fresh, len(rest))
    rows = sorted(shared_rows + fresh_rows)
    return Sample(rows, len(frame) if fresh else len(overlap_frame), probabilities, overlap)
