"""``import_votes``: physicians' votes on how urgent cases are, made elsewhere, as a closed batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.acuity.votes import CastVote, cast_votes, questions_on
from annotation.imports.decisions import group_called
from annotation.imports.raters import Raters
from annotation.labels.services import QuestionInput, make_question
from annotation.models import (
    CANNOT_TELL,
    FIRST_ROUND,
    AcuityRuling,
    Batch,
    ExpertGroup,
    LabelAnswer,
    LabelQuestion,
    LabelTask,
    Membership,
)
from annotation.services.rules import readable_constraint_errors
from consilium.core.errors import DomainError
from consilium.core.identifiers import new_public_id
from consilium.core.jobs import Progress
from consilium.core.limits import MAX_QUESTION_NAME_LENGTH
from rubrics.acuity.scales import FOUR, Scale
from rubrics.acuity.schemes import Scheme
from rubrics.acuity.services import get_or_make_scale
from rubrics.acuity.stored import scale_of
from rubrics.imports.bulk import check_references_at_once, chunks, copy_rows, reserve_ids
from rubrics.imports.registry import Counts
from rubrics.imports.unknown_cases import UnknownCases
from rubrics.models import AcuityScale, Benchmark, Case
from rubrics.parsing.acuity_files import LONG, WIDE, WITHOUT_FIRST, AcuityReader, AcuityRecords, Vote
from rubrics.parsing.faults import Faults

CHUNK = 5000
SHAPES = (LONG, WIDE)


@transaction.atomic
def import_acuity_votes(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import the votes of one expert group (option ``group``, made if missing) on a ``scale``, a closed batch a round.

    ``format`` is one of `SHAPES`, found by the heading where it is empty. A vote that is stored already is left alone.
    `ImportRefused` names every fault; nothing is written then.
    """
    check_references_at_once()
    shape = options.get("format", "")
    if shape and shape not in SHAPES:
        raise DomainError(
            _("A file of votes must have one of these structures: %(names)s.") % {"names": ", ".join(SHAPES)},
            field="format",
        )
    # One import at a time: each compares its votes with those that are stored.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    group, group_created = group_called(benchmark, options.get("group", ""))
    name = options.get("scale", "").strip() or only_scale(benchmark)
    scale = get_or_make_scale(benchmark=benchmark, name=name, by=by, at=at)
    levels = scale_of(scale)
    reader = AcuityReader(levels, Scheme("direct", levels, {}), progress=progress)
    faults = reader.read_votes(file, shape, refuse_without_first=False)
    votes = _new_votes(benchmark, group, scale, reader.records.votes, faults)
    faults.refuse_if_any()
    raters = Raters(group, faults)
    raters.enrol({vote.physician: {Membership.Role.ANNOTATOR} for vote in reader.records.votes})
    question = _question_on(benchmark, scale, by, at) if votes else None
    for number in sorted({vote.round for _case, vote in votes}):
        assert question is not None
        own = [(case, vote) for case, vote in votes if vote.round == number]
        _write(question, group, own, levels, raters.users, round=number, by=by, at=at)
    counts: Counts = {
        "groups": {"created": int(group_created), "unchanged": int(not group_created)},
        "physicians": {"created": raters.created},
        "votes": {"created": len(votes), "unchanged": len(reader.records.votes) - len(votes)},
    }
    warnings = list(_warnings(reader.records))
    return counts | {"warnings": warnings} if warnings else counts


def _warnings(records: AcuityRecords) -> Iterator[str]:
    """What a person should know of cells that are no votes, and of columns that were not read."""
    if records.empty_votes:
        message = ngettext(
            "%(n)s cell is empty and counts as no vote (line %(lines)s).",
            "%(n)s cells are empty and count as no votes (lines %(lines)s).",
            records.empty_votes,
        )
        shown = ", ".join(map(str, records.first_empty_votes[:10]))
        more = " …" if len(records.first_empty_votes) > 10 else ""
        yield message % {"n": records.empty_votes, "lines": f"{shown}{more}"}
    # A flag is stored with the label of its case.
    unused = records.unused | ({"ambiguous"} if records.flags else set())
    if unused:
        yield _("Columns that were not read: %(names)s.") % {"names": ", ".join(sorted(unused)[:10])}


def only_scale(benchmark: Benchmark) -> str:
    """The name of the benchmark's scale; the starter of four levels where it has none."""
    names = sorted(set(AcuityScale.objects.filter(benchmark=benchmark).values_list("name", flat=True)))
    if len(names) > 1:
        raise DomainError(_("Specify the scale of the votes: %(names)s.") % {"names": ", ".join(names)}, field="scale")
    return names[0] if names else FOUR.name


def _new_votes(
    benchmark: Benchmark, group: ExpertGroup, scale: AcuityScale, votes: Sequence[Vote], faults: Faults
) -> list[tuple[int, Vote]]:
    """The votes that are not stored yet, with the ids of their cases; what cannot be stored is a fault."""
    cases: dict[str, int] = {}
    for some in chunks(sorted({vote.case for vote in votes}), CHUNK):
        rows = Case.with_stubs.filter(benchmark=benchmark, key__in=list(some))
        cases.update(rows.values_list("key", "pk"))
    questions = questions_on(benchmark, scale)
    stored = {(vote.case_id, vote.physician, vote.round): vote for vote in cast_votes(questions)}
    rulings = AcuityRuling.objects.filter(case__in=cases.values())
    ruled = set(rulings.values_list("case_id", "adjudicator_id"))
    first = {(vote.case, vote.physician) for vote in votes if vote.round == FIRST_ROUND}
    raters = Raters(group, faults)
    sound: dict[str, bool] = {}
    _refuse_unknown_cases(votes, cases, faults)
    new = []
    for vote in votes:
        if vote.case not in cases:
            continue
        if vote.physician not in sound:
            sound[vote.physician] = raters.sound(vote.physician, vote.line, "physician")
        rater = cases[vote.case], raters.users.get(vote.physician, 0)
        if (
            vote.round > FIRST_ROUND
            and (vote.case, vote.physician) not in first
            and (*rater, FIRST_ROUND) not in stored
        ):
            faults.add(vote.line, "round", WITHOUT_FIRST)
        if rater in ruled:
            message = _("The physician “%(name)s” has ruled on this case and cannot vote on it.")
            faults.add(vote.line, "physician", message % {"name": vote.physician[:80]})
        before = stored.get((*rater, vote.round))
        if before is None:
            new.append((cases[vote.case], vote))
        elif not _is_same(vote, before):
            message = _("The physician “%(name)s” has already voted differently on this case.")
            faults.add(vote.line, "level", message % {"name": vote.physician[:80]})
    return new


def _refuse_unknown_cases(votes: Sequence[Vote], cases: Mapping[str, int], faults: Faults) -> None:
    """Note the votes on cases that the benchmark does not have, as one fault however many lines there are."""
    unknown = UnknownCases(
        _(
            "%(n)s lines name cases that are not in this benchmark (%(keys)s). Import the readings or the cases first, "
            "then the votes."
        )
    )
    for vote in votes:
        if vote.case not in cases:
            unknown.add(vote.line, "case", vote.case)
    unknown.note(faults)


def _is_same(vote: Vote, before: CastVote) -> bool:
    """Whether a vote is the stored one; a certainty and a note that the file leaves out are not compared."""
    if (vote.low, vote.high) != (before.low, before.high):
        return False
    return vote.certainty in (None, before.certainty) and vote.note in ("", before.note)


def _question_on(benchmark: Benchmark, scale: AcuityScale, by: User | None, at: datetime) -> LabelQuestion:
    """The question that votes on the scale answer: one that is asked, else a retired one, else a new one."""
    rows = LabelQuestion.objects.filter(benchmark=benchmark, scale=scale, kind=LabelQuestion.Kind.LEVELS).order_by(
        "-active", "position", "pk"
    )
    question = rows.first()
    if question is not None:
        return question
    taken = set(LabelQuestion.objects.filter(benchmark=benchmark).values_list("name", flat=True))
    base = f"votes-{scale.name}"[: MAX_QUESTION_NAME_LENGTH - 4]
    names = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
    question_input = QuestionInput(
        name=next(name for name in names if name not in taken),
        text=_("What care does this case need, as it is described, and how soon?"),
        kind=LabelQuestion.Kind.LEVELS,
        options=[],
        scale=scale.name,
    )
    return make_question(benchmark=benchmark, question_input=question_input, by=by, at=at)


def make_closed_batch(
    *,
    group: ExpertGroup,
    question: LabelQuestion,
    title: str,
    per_case: int,
    round: int,
    by: User | None,
    at: datetime,
    frame: Mapping[str, Any] | None = None,
) -> Batch:
    """The batch of votes of one round that were cast elsewhere; ``per_case`` is the most that a case has.

    ``frame``: what is known besides of what it was drawn from.
    """
    return Batch.objects.create(
        group=group,
        title=title,
        kind=Batch.Kind.LABEL,
        status=Batch.Status.CLOSED,
        imported=True,
        order=Batch.Order.SHUFFLED,
        annotators_per_item=per_case,
        check_policy=Batch.CheckPolicy.NONE,
        check_fraction=0.0,
        seed=0,
        frame={"imported": True, "questions": [question.public_id], "round": round, **(frame or {})},
        created_by=by,
        created_at=at,
        closed_at=at,
    )


def _write(
    question: LabelQuestion,
    group: ExpertGroup,
    votes: Sequence[tuple[int, Vote]],
    scale: Scale,
    users: Mapping[str, int],
    *,
    round: int,
    by: User | None,
    at: datetime,
) -> None:
    """The closed batch with a task for each vote. A vote is frozen once its task is handed in, so that comes last."""
    per_case = max(Counter(case for case, _vote in votes).values())
    title = _("Imported votes, round %(round)d") % {"round": round}
    batch = make_closed_batch(group=group, question=question, title=title, per_case=per_case, round=round, by=by, at=at)
    ids = reserve_ids(LabelTask, len(votes))
    copy_rows(
        LabelTask,
        ("id", "public_id", "batch", "case", "annotator", "status", "position", "round", "started_at"),
        (
            (
                *(pk, new_public_id(), batch.pk, case, users[vote.physician]),
                *(LabelTask.Status.DRAFT.value, position, round, at),
            )
            for position, (pk, (case, vote)) in enumerate(zip(ids, votes, strict=True), start=1)
        ),
    )
    columns = ("task", "question", "value", "upper", "reason", "certainty", "note", "version")
    copy_rows(
        LabelAnswer,
        (*columns, "created_at", "updated_at"),
        (
            (pk, question.pk, *_level(vote, scale), "", vote.certainty, vote.note, 1, at, at)
            for pk, (_case, vote) in zip(ids, votes, strict=True)
        ),
    )
    with readable_constraint_errors():
        LabelTask.objects.filter(batch=batch).update(status=LabelTask.Status.SUBMITTED, submitted_at=at)


def _level(vote: Vote, scale: Scale) -> tuple[str, str]:
    """The level of a vote, and the next one up where it is between the two."""
    if vote.low is None or vote.high is None:
        return CANNOT_TELL, ""
    return scale.values[vote.low], scale.values[vote.high] if vote.high > vote.low else ""
