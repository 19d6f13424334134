"""Writes a rubric set with its rows, whatever its criteria come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_DESCRIPTION_LENGTH, MAX_RUBRIC_SET_NAME_LENGTH
from drafting.models import DraftingRun
from rubrics.imports.bulk import copy_rows
from rubrics.models import Benchmark
from validation.models import RubricSet, RubricSetItem, RubricSetMend, SplittingRun
from validation.sets.content import Mend, SetCriterion, digest_of
from validation.sets.frames import Frame, FramedCase, Funnel

ITEM_COLUMNS = ("rubric_set", "case", "position", "text", "points", "axis", "criterion", "source_item")
MEND_COLUMNS = ("rubric_set", "case", "line", "number", "field", "how", "before", "after", "text")


@dataclass(frozen=True, slots=True)
class SetName:
    """What a set is called, and what it is for."""

    name: str
    description: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise DomainError(_("A rubric set needs a name."))
        for text, longest in ((self.name, MAX_RUBRIC_SET_NAME_LENGTH), (self.description, MAX_DESCRIPTION_LENGTH)):
            if len(text) > longest:
                raise DomainError(_("This is longer than %(n)d characters.") % {"n": longest})


@dataclass(frozen=True, slots=True)
class SplitOf:
    """The set whose criteria were split, by which run, and in how many cases they stayed or were corrected."""

    rubric_set: RubricSet
    run: SplittingRun
    unsplit: int
    corrected: int


@dataclass(frozen=True, slots=True)
class Source:
    """Where the criteria of a set come from."""

    origin: str
    track: str = ""
    file_name: str = ""
    file_digest: str = ""
    split_of: SplitOf | None = None
    drafting_run: DraftingRun | None = None


def store_set(
    benchmark: Benchmark,
    name: SetName,
    source: Source,
    frame: Frame,
    funnel: Funnel,
    content: Sequence[tuple[FramedCase, Sequence[SetCriterion]]],
    *,
    mends: Sequence[tuple[int, Mend]] = (),
    by: User | None,
    at: datetime,
) -> RubricSet:
    """Write a set with its rows, and finish it. ``mends`` has the case of each."""
    if not content:
        raise DomainError(_("No case is in the frame. Widen the frame to create a set."))
    rubric_set = RubricSet(
        benchmark=benchmark,
        name=name.name.strip(),
        description=name.description,
        origin=source.origin,
        track=source.track,
        file_name=source.file_name[:255],
        file_digest=source.file_digest,
        frame={**frame.as_json(), "funnel": [_step_as_json(step) for step in funnel.steps]},
        digest=digest_of({case.key: criteria for case, criteria in content}),
        case_count=len(content),
        item_count=sum(len(criteria) for _case, criteria in content),
        mend_count=len(mends),
        **_split_fields(source.split_of),
        drafting_run=source.drafting_run,
        created_by=by,
        created_at=at,
    )
    try:
        with transaction.atomic():
            rubric_set.save(force_insert=True)
    except IntegrityError as error:
        if "validation_set_name_once" not in str(error):
            raise
        raise Conflict(taken(name)) from error
    pk = rubric_set.pk
    copy_rows(
        RubricSetItem,
        ITEM_COLUMNS,
        (
            (pk, case.pk, position, item.text, item.points, item.axis, item.criterion, item.source_item)
            for case, criteria in content
            for position, item in enumerate(criteria, start=1)
        ),
    )
    copy_rows(
        RubricSetMend,
        MEND_COLUMNS,
        (
            (pk, case, mend.line, mend.number, mend.field, str(mend.how), mend.before, mend.after, mend.text)
            for case, mend in mends
        ),
    )
    rubric_set.finished_at = at
    rubric_set.save(update_fields=["finished_at"])
    return rubric_set


def _split_fields(split: SplitOf | None) -> dict[str, Any]:
    if split is None:
        return {}
    return {
        "source": split.rubric_set,
        "split_run": split.run,
        "unsplit_count": split.unsplit,
        "corrected_count": split.corrected,
    }


def _step_as_json(step: Any) -> dict[str, Any]:
    return {"condition": step.condition, "value": step.value, "alone": step.alone, "together": step.together}


def taken(name: SetName) -> str:
    """Why a name cannot be used again."""
    return _("There is already a rubric set called “%(name)s”. A set never changes; choose another name.") % {
        "name": name.name.strip()
    }
