"""Makes rubric sets: from published rubrics, from the generic criteria, from a file. All of a set, or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import Progress
from consilium.core.limits import MAX_AXIS_LENGTH
from consilium.core.phrases import Phrase
from drafting.models import DraftingRun
from rubrics.generic import generic_criteria
from rubrics.imports.bulk import chunks
from rubrics.imports.registry import Counts
from rubrics.models import Benchmark, Case
from rubrics.parsing.faults import Faults
from validation.models import RubricSet
from validation.sets import selectors
from validation.sets.content import SetCriterion, digest_of
from validation.sets.frames import Frame, FramedCase, frame_of, funnel_of
from validation.sets.reading import SetRow, read_set_file
from validation.sets.storing import SetName, Source, store_set, taken

Origin = RubricSet.Origin
# What an import of a file takes, as texts; ``tags`` has one tag a line.
FILE_OPTIONS = ("name", "description", "criteria", "axes", "language", "tags", "mend")
CHUNK = 1000


@transaction.atomic
def make_set(
    *,
    benchmark: Benchmark,
    name: SetName,
    track: str,
    frame: Frame,
    run: DraftingRun | None = None,
    by: User | None,
    at: datetime,
) -> RubricSet:
    """Copy the published rubrics of ``track``, as they are now, for the cases in the frame.

    With ``run``, copy what that run has drafted, whatever physicians decided on it. Without a track and a run, every
    case in the frame gets the six generic criteria.
    """
    if run is not None and (run.benchmark_id != benchmark.pk or run.status in DraftingRun.LIVE):
        raise Conflict(_("The run has not ended."))
    funnel = selectors.funnel(benchmark, frame, track=track, run=run)
    content: list[tuple[FramedCase, Sequence[SetCriterion]]]
    if run is not None:
        drafted = selectors.drafted_criteria(run)
        content = [(case, drafted[case.pk]) for case in funnel.cases]
        source = Source(Origin.DRAFTING, drafting_run=run)
    elif track:
        # A published rubric never changes, so the criteria are those of the rubrics that the frame looked at.
        by_rubric = selectors.criteria_of_rubrics([case.rubric for case in funnel.cases if case.rubric is not None])
        content = [(case, by_rubric[case.rubric]) for case in funnel.cases if case.rubric in by_rubric]
        _check_axes(content)
        source = Source(Origin.GOLD if track == selectors.GOLD else Origin.TRACK, track=track)
    else:
        content = [(case, _generic(case.language)) for case in funnel.cases]
        source = Source(Origin.GENERIC)
    return store_set(benchmark, name, source, frame, funnel, content, by=by, at=at)


def _generic(language: str) -> list[SetCriterion]:
    return [SetCriterion(each.text, each.points, each.axis) for each in generic_criteria(language)]


def _check_axes(content: Sequence[tuple[FramedCase, Sequence[SetCriterion]]]) -> None:
    """Refuse an axis that no set can hold: a tag of a rubric may be longer."""
    for case, criteria in content:
        for number, criterion in enumerate(criteria, start=1):
            if len(criterion.axis) > MAX_AXIS_LENGTH:
                raise DomainError(
                    _("Case “%(case)s”, criterion %(number)d: the axis is longer than %(n)d characters.")
                    % {"case": case.key, "number": number, "n": MAX_AXIS_LENGTH}
                )


# Files -----------------------------------------------------------------------------------------------------------


@transaction.atomic
def import_rubric_set(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Make a set of a file. `ImportRefused` names every fault, and then nothing is written.

    The same file under the same name changes nothing. A case that counts no more, or that is outside the frame, is left
    out, and the counts say how many were.
    """
    name = SetName(options.get("name", ""), options.get("description", ""))
    frame = frame_of(
        criteria=options.get("criteria", ""),
        axes=options.get("axes", ""),
        language=options.get("language", ""),
        tags=options.get("tags", "").split("\n"),
    )
    file_digest = _digest_of_file(file)
    faults = Faults()
    axes = selectors.known_axes(benchmark)
    rows = list(read_set_file(file, faults, axes=axes, mend=bool(options.get("mend")), progress=progress))
    by_case = _resolve(benchmark, rows, faults)
    if not by_case and not faults.total:
        faults.add(0, "", Phrase("The file contains no cases."))
    faults.refuse_if_any()
    cases = selectors.framed_cases(benchmark, frame)
    funnel = funnel_of(frame, cases, source=("file", "", lambda case: case.pk in by_case))
    content = [(case, by_case[case.pk].criteria) for case in funnel.cases]
    mends = [(case.pk, mend) for case in funnel.cases for mend in by_case[case.pk].mends]
    source = Source(Origin.FILE, file_name=options.get("file_name", ""), file_digest=file_digest)
    known = RubricSet.objects.finished().filter(benchmark=benchmark, name=name.name.strip()).first()
    if known is not None:
        return _unchanged(known, name, frame, file_digest, {case.key: criteria for case, criteria in content})
    rubric_set = store_set(benchmark, name, source, frame, funnel, content, mends=mends, by=by, at=at)
    return {
        "rubric sets": {"created": 1, "unchanged": 0},
        "criteria": {"created": rubric_set.item_count, "unchanged": 0},
        "mends": {"created": rubric_set.mend_count, "unchanged": 0},
        "warnings": _warnings(len(by_case) - len(content), rubric_set),
    }


def _digest_of_file(file: BinaryIO) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()


def _unchanged(
    known: RubricSet, name: SetName, frame: Frame, file_digest: str, content: Mapping[str, Sequence[SetCriterion]]
) -> Counts:
    """The counts of a file that is there already; `Conflict` where the name belongs to something else."""
    conditions = {key: value for key, value in known.frame.items() if key != "funnel"}
    if (
        known.origin != Origin.FILE
        or known.file_digest != file_digest
        or conditions != frame.as_json()
        or known.digest != digest_of(content)
    ):
        raise Conflict(taken(name))
    return {
        "rubric sets": {"created": 0, "unchanged": 1},
        "criteria": {"created": 0, "unchanged": known.item_count},
        "mends": {"created": 0, "unchanged": known.mend_count},
    }


def _warnings(n_left_out: int, rubric_set: RubricSet) -> list[str]:
    warnings = []
    if n_left_out:
        warnings.append(
            ngettext(
                "%(n)d case of the file is not in the set because it is outside the frame or excluded.",
                "%(n)d cases of the file are not in the set because they are outside the frame or excluded.",
                n_left_out,
            )
            % {"n": n_left_out}
        )
    if rubric_set.mend_count:
        warnings.append(
            ngettext(
                "%(n)d fix was made; the set lists it.", "%(n)d fixes were made; the set lists them.",
                rubric_set.mend_count,
            )
            % {"n": rubric_set.mend_count}
        )  # fmt: skip
    return warnings


def _resolve(benchmark: Benchmark, rows: Sequence[SetRow], faults: Faults) -> dict[int, SetRow]:
    """The rows by case. A case that is not there, or that stands twice, is a fault.

    A case of another benchmark is not there: whoever imports need not have access to it.
    """
    keys: dict[str, int] = {}
    named = {value for row in rows for _name, value in row.references if isinstance(value, str)}
    cases = Case.objects.filter(benchmark=benchmark).order_by("pk")
    for names in chunks(sorted(named), CHUNK):
        keys |= dict(cases.filter(key__in=names).values_list("key", "pk"))
    by_index = any(name == "index" for row in rows for name, _value in row.references)
    in_order = list(cases.values_list("pk", flat=True)) if by_index else []
    by_case: dict[int, SetRow] = {}
    for row in rows:
        pks = []
        for name, value in row.references:
            if isinstance(value, str):
                pk = keys.get(value)
                missing = Phrase("There is no case “%(key)s” in this benchmark.", key=value[:80])
            else:
                pk = in_order[value] if value < len(in_order) else None
                missing = Phrase(
                    "There is no case %(index)s: the benchmark has %(n)s cases, counted from 0 in the order of import.",
                    index=value,
                    n=len(in_order),
                )
            if pk is None:
                faults.add(row.line, name, missing)
            else:
                pks.append(pk)
        if len(pks) < len(row.references):
            continue
        if len(set(pks)) > 1:
            faults.add(row.line, row.references[1][0], Phrase("The line names two different cases."))
        elif pks[0] in by_case:
            message = Phrase("This case is already on line %(line)s.", line=by_case[pks[0]].line)
            faults.add(row.line, row.references[0][0], message)
        else:
            by_case[pks[0]] = row
    return by_case
