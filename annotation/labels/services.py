"""Writes to label questions and to physicians' answers. `batches` gives cases out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from annotation.acuity.outstanding import is_shown
from annotation.models import CANNOT_TELL, CODED, NO_LEVEL, Batch, LabelAnswer, LabelQuestion, LabelTask
from annotation.selectors.case_work import following, of_excluded_cases
from annotation.services.decisions import checked_passages
from annotation.services.rules import lock_batch_shared, readable_constraint_errors, refuse_unless_open
from annotation.services.staff_notices import notify_of_completed_batch
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_LABEL_VALUE_LENGTH, MAX_NOTE_LENGTH
from consilium.core.locks import RowLock, lock_exclusive, shared_lock_sql
from consilium.core.transitions import transition
from consilium.core.versioning import is_replay, refuse_stale
from rubrics.acuity.services import get_or_make_scale
from rubrics.codes.code import NONE_OF_THESE
from rubrics.models import AcuityScale, Benchmark, Criterion, slug_characters

MIN_OPTIONS, MAX_OPTIONS = 2, 9
ACUITY_LEVELS = 4
MAX_LABEL_LENGTH, MAX_HELP_LENGTH = 120, 500
MIN_ANSWERS, MIN_VOTES = 2, 3  # of a new question, and of one on a scale
CERTAINTY_STEP = 5  # of a vote


@dataclass(frozen=True, slots=True)
class Option:
    """One answer of a question: the value that is stored and becomes a tag, what people read, and what it means."""

    value: str
    label: str
    help: str = ""

    def stored(self) -> dict[str, str]:
        """The option as the question stores it."""
        return {"value": self.value, "label": self.label, "help": self.help}


@dataclass(frozen=True, slots=True)
class QuestionInput:
    """A question as its admin wants it. ``threshold`` is a share from 0.5 to 1.

    A question on a scale has no options of its own; ``scale`` names one of the benchmark's scales, or a starter.
    """

    name: str
    text: str
    kind: str
    options: Sequence[Option]
    threshold: float = 0.75
    minimum_answers: int | None = None  # None: `MIN_VOTES` on a scale, else `MIN_ANSWERS`
    scale: str = ""

    @property
    def is_levels(self) -> bool:
        return self.kind == LabelQuestion.Kind.LEVELS

    @property
    def minimum(self) -> int:
        if self.minimum_answers is not None:
            return self.minimum_answers
        return MIN_VOTES if self.is_levels else MIN_ANSWERS

    def stored_options(self) -> list[dict[str, str]]:
        """The options as the question stores them; none on a scale, whose levels they are."""
        return [] if self.is_levels else [option.stored() for option in self.options]


class OptionRefused(DomainError):
    """An option is not valid; ``row`` counts from 0, ``field`` is ``value``, ``label`` or ``help``."""

    def __init__(self, row: int, field: str, reason: str) -> None:
        super().__init__(reason, field=field)
        self.row = row


class Unlabelled(DomainError):
    """Not everything is answered; ``questions`` are the public ids of those without an answer, in order."""

    def __init__(self, questions: Sequence[str]) -> None:
        self.questions = list(questions)
        text = ngettext(
            "%(number)d question is not answered yet.", "%(number)d questions are not answered yet.", len(questions)
        )
        super().__init__(text % {"number": len(questions)})


# Questions ----------------------------------------------------------------------------------------------------------


@transaction.atomic
def make_question(
    *, benchmark: Benchmark, question_input: QuestionInput, at: datetime, by: User | None = None
) -> LabelQuestion:
    """Make a question, the last of its benchmark. `OptionRefused` names the row that is not valid."""
    _lock(benchmark)
    _refuse_impossible(benchmark, question_input, None)
    last = LabelQuestion.objects.filter(benchmark=benchmark).aggregate(last=Max("position"))["last"] or 0
    return LabelQuestion.objects.create(
        benchmark=benchmark,
        name=question_input.name,
        text=question_input.text.strip(),
        kind=question_input.kind,
        options=question_input.stored_options(),
        scale=_scale(benchmark, question_input, by, at),
        threshold=question_input.threshold,
        minimum_answers=question_input.minimum,
        position=last + 1,
        created_at=at,
    )


def _scale(benchmark: Benchmark, question_input: QuestionInput, by: User | None, at: datetime) -> AcuityScale | None:
    if not question_input.is_levels:
        return None
    return get_or_make_scale(benchmark=benchmark, name=question_input.scale, by=by, at=at)


@transaction.atomic
def change_question(
    *, question: LabelQuestion, question_input: QuestionInput, at: datetime, by: User | None = None
) -> None:
    """Change a question. Once it is answered, its words and options are fixed: `Conflict` on a change."""
    _lock(question.benchmark)
    _lock_question_exclusive(question.pk)
    _refuse_impossible(question.benchmark, question_input, question)
    options = question_input.stored_options()
    row = LabelQuestion.objects.select_related("scale").get(pk=question.pk)
    # A question stays on its version of a scale until it is put on another scale.
    keeps_scale = row.scale is not None and question_input.is_levels and row.scale.name == question_input.scale
    scale = row.scale if keeps_scale else _scale(question.benchmark, question_input, by, at)
    meant = (row.text, row.kind, row.options, row.scale) != (
        question_input.text.strip(), question_input.kind, options, scale,
    )  # fmt: skip
    if meant and LabelAnswer.objects.filter(question=row).exists():
        raise Conflict(
            _(
                "This question has answers, so its text and its options can no longer be changed. Retire it "
                "and create another one."
            )
        )
    question.name, question.text, question.kind, question.options = (
        question_input.name, question_input.text.strip(), question_input.kind, options,
    )  # fmt: skip
    question.threshold, question.minimum_answers = question_input.threshold, question_input.minimum
    question.scale = scale
    question.save(update_fields=["name", "text", "kind", "options", "scale", "threshold", "minimum_answers"])


@transaction.atomic
def retire_question(*, question: LabelQuestion) -> None:
    """Stop asking the question. Its answers stay; its tags are removed when tags are written the next time."""
    _lock_question_exclusive(question.pk)
    if LabelQuestion.objects.filter(pk=question.pk, active=True).update(active=False) != 1:
        raise Conflict(_("This question is already retired."))
    question.active = False


@transaction.atomic
def restore_question(*, question: LabelQuestion) -> None:
    """Ask it again. `DomainError` if another question has taken one of its values."""
    _lock(question.benchmark)
    taken = _values_of_others(question.benchmark, question)
    for option in question.options:
        if option["value"] in taken:
            raise DomainError(
                _("“%(value)s” is now a value of the question “%(name)s”. Retire that question first.")
                % {"value": option["value"], "name": taken[option["value"]]}
            )
    if LabelQuestion.objects.filter(pk=question.pk, active=False).update(active=True) != 1:
        raise Conflict(_("This question is already in use."))
    question.active = True


def _refuse_impossible(benchmark: Benchmark, question_input: QuestionInput, own: LabelQuestion | None) -> None:
    if (
        LabelQuestion.objects.filter(benchmark=benchmark, name=question_input.name)
        .exclude(pk=own.pk if own else 0)
        .exists()
    ):
        raise DomainError(_("A question with this short name already exists."))
    if not question_input.text.strip():
        raise DomainError(_("Enter the question."))
    if question_input.kind not in LabelQuestion.ABOUT_CASES:
        raise DomainError(_("A question must be a single choice, an acuity in four levels, or urgency on a scale."))
    if not 0.5 <= question_input.threshold <= 1 or question_input.minimum < 1:
        raise DomainError(
            _("The agreement threshold must be between 50 and 100%, and the minimum number of answers at least 1.")
        )
    if question_input.is_levels:
        return
    number = len(question_input.options)
    if question_input.kind == LabelQuestion.Kind.ACUITY and number != ACUITY_LEVELS:
        raise DomainError(_("Acuity has exactly %(number)d levels, the lowest first.") % {"number": ACUITY_LEVELS})
    if not MIN_OPTIONS <= number <= MAX_OPTIONS:
        raise DomainError(
            _("A single choice has %(fewest)d to %(most)d options.") % {"fewest": MIN_OPTIONS, "most": MAX_OPTIONS}
        )
    taken = _values_of_others(benchmark, own)
    seen: set[str] = set()
    for row, option in enumerate(question_input.options):
        try:
            slug_characters(option.value)
        except ValidationError as error:
            raise OptionRefused(row, "value", error.messages[0]) from error
        if len(option.value) > MAX_LABEL_VALUE_LENGTH:
            raise OptionRefused(row, "value", _("At most %(most)d characters.") % {"most": MAX_LABEL_VALUE_LENGTH})
        if option.value in seen:
            raise OptionRefused(row, "value", _("Two options cannot have the same value."))
        if option.value in taken:
            raise OptionRefused(
                row,
                "value",
                _("The question “%(name)s” already has this value, and a value can be only one tag.")
                % {"name": taken[option.value]},
            )
        if not option.label.strip() or len(option.label) > MAX_LABEL_LENGTH:
            raise OptionRefused(row, "label", _("1 to %(most)d characters.") % {"most": MAX_LABEL_LENGTH})
        if len(option.help) > MAX_HELP_LENGTH:
            raise OptionRefused(row, "help", _("At most %(most)d characters.") % {"most": MAX_HELP_LENGTH})
        seen.add(option.value)


def _values_of_others(benchmark: Benchmark, own: LabelQuestion | None) -> dict[str, str]:
    """Value → name of the question that has it, over the questions that are asked."""
    rows = LabelQuestion.objects.filter(benchmark=benchmark, active=True).exclude(pk=own.pk if own else 0)
    return {option["value"]: name for name, options in rows.values_list("name", "options") for option in options}


def _lock(benchmark: Benchmark) -> None:
    """Allow one change of a benchmark's questions at a time: a value belongs to one question only."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)


def _lock_question_exclusive(question_id: int) -> None:
    lock_exclusive(RowLock.LABEL_QUESTION, question_id)


# Answers ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnswerInput:
    """The whole state of one answer as its author wants it.

    ``question`` is a public id; ``version`` the one that the sender saw, 0 for none; ``client_id`` identifies this
    save.
    """

    question: str
    value: str
    certainty: int | None = None
    note: str = ""
    version: int = 0
    client_id: UUID | None = None
    upper: str = ""  # the next level up, of a vote between two levels
    reason: str = ""  # why somebody cannot tell
    escalation: str = ""  # the level that a response advises under a condition
    evidence: Sequence[Mapping[str, Any]] = ()  # the words of a response that say so, as of a decision
    # Codes that a response shows: code, and criterion and evidence where there are any.
    codes: Sequence[Mapping[str, Any]] = ()


@transaction.atomic
def save_answer(*, task: LabelTask, annotator: User, change: AnswerInput, at: datetime) -> LabelAnswer:
    """Save one answer. A repeated save (same ``client_id``) changes nothing and answers as the first did.

    `StaleSave` where the version in the database is not the one that the sender saw; `Conflict` where the task is
    not open to its annotator any more; `DomainError` on an invalid answer.
    """
    held = _held_answer(task, annotator, change.question)
    _refuse_impossible_answer(held.kind, held.values, change)
    evidence, codes = _passages(held, change), _codes(held, change, task)
    answer = held.answer
    if answer is None:
        if change.version:
            raise DomainError(_("This version of the answer does not exist."))
        answer = LabelAnswer(task=task, question_id=held.question_id, version=0, created_at=at)
    elif is_replay(change.client_id, stored=answer.client_id):
        return answer
    else:
        message = _("This answer was changed elsewhere in the meantime.")
        refuse_stale(change.version, stored=answer.version, current=answer, message=message)
    answer.value, answer.certainty, answer.note = change.value, change.certainty, change.note
    answer.upper, answer.reason = change.upper, change.reason
    answer.escalation, answer.evidence, answer.codes = change.escalation, evidence, codes
    answer.version, answer.client_id, answer.updated_at = change.version + 1, change.client_id, at
    answer.save(force_insert=answer.pk is None, force_update=answer.pk is not None)
    task.status = held.status
    if task.status == LabelTask.Status.NOT_STARTED:
        transition(task, source=[LabelTask.Status.NOT_STARTED], target=LabelTask.Status.DRAFT, started_at=at)
    return answer


# Run by `_held_answer`. The locks are statements of their own, so that the last statement sees commits made while they
# waited: one that locks and reads would read the answer as it was before another save of it. A question that was
# retired, or that the batch does not ask, has no id in the row.
HELD_ANSWER_SQL = f"""
    SELECT
        {shared_lock_sql(RowLock.BATCH, "%(batch)s")},
        (
            SELECT {shared_lock_sql(RowLock.LABEL_QUESTION, "q.id::integer")}
            FROM annotation_labelquestion q WHERE q.public_id = %(question)s
        );
    SELECT 1 FROM annotation_labeltask t WHERE t.id = %(task)s AND t.annotator_id = %(annotator)s FOR NO KEY UPDATE;
    SELECT
        t.status, b.status, q.id, q.kind,
        ARRAY(
            SELECT COALESCE(choice.choice->>'value', choice.choice->>'key')
            FROM jsonb_array_elements(COALESCE(s.levels, k.codes, q.options)) WITH ORDINALITY AS choice(choice, place)
            ORDER BY choice.place
        ),
        r.text,
        a.id, a.value, a.upper, a.reason, a.certainty, a.escalation, a.evidence, a.codes, a.note, a.version,
        a.client_id, a.created_at, a.updated_at
    FROM annotation_labeltask t
    JOIN annotation_batch b ON b.id = t.batch_id
    LEFT JOIN annotation_labelquestion q
        ON q.public_id = %(question)s AND q.active AND jsonb_exists(b.frame->'questions', q.public_id)
    LEFT JOIN rubrics_acuityscale s ON s.id = q.scale_id
    LEFT JOIN rubrics_codebook k ON k.id = q.code_book_id
    LEFT JOIN rubrics_response r ON r.id = t.response_id
    LEFT JOIN annotation_labelanswer a ON a.task_id = t.id AND a.question_id = q.id
    WHERE t.id = %(task)s AND t.annotator_id = %(annotator)s
"""
ANSWER_COLUMNS = (  # in the order of the model
    *("id", "task_id", "question_id", "value", "upper", "reason", "certainty", "escalation", "evidence", "codes"),
    *("note", "version", "client_id", "created_at", "updated_at"),
)


@dataclass(frozen=True, slots=True)
class _HeldAnswer:
    """What a save needs of a task that is locked until the transaction ends; ``values`` may be answered.

    ``response_text`` is None of a task about a case.
    """

    status: str
    question_id: int
    kind: str
    values: list[str]
    response_text: str | None
    answer: LabelAnswer | None


def _held_answer(task: LabelTask, annotator: User, question: str) -> _HeldAnswer:
    """Lock the task; `Conflict` unless it is open. One round trip: this runs on every autosave."""
    parameters: dict[str, int | str] = {
        "batch": task.batch_id,
        "question": question,
        "task": task.pk,
        "annotator": annotator.pk,
    }
    with connection.cursor() as cursor:
        cursor.execute(HELD_ANSWER_SQL, parameters)
        while cursor.nextset():  # the last statement has the row
            pass
        row = cursor.fetchone()
    if row is None:
        raise LabelTask.DoesNotExist
    status, batch_status, question_id, kind, values, response_text, *stored = row
    _refuse_unless_writable(status, batch_status)
    if question_id is None:
        raise DomainError(_("This question is no longer in use."), field="question")
    answer = None
    if stored[0] is not None:
        columns = dict(zip(ANSWER_COLUMNS, (stored[0], task.pk, question_id, *stored[1:]), strict=True))
        for name in ("evidence", "codes"):
            columns[name] = json.loads(columns[name])
        answer = LabelAnswer.from_db(DEFAULT_DB_ALIAS, ANSWER_COLUMNS, tuple(columns.values()))
    if kind == LabelQuestion.Kind.READ:
        values = [*values, NO_LEVEL]
    return _HeldAnswer(status, question_id, kind, values, response_text, answer)


def _refuse_unless_writable(status: str, batch_status: str) -> None:
    refuse_unless_open(Batch(status=batch_status))
    if status not in LabelTask.OPEN:
        raise Conflict(_("The answers about this case have been submitted and can no longer be changed."))


@transaction.atomic
def submit_labels(*, task: LabelTask, annotator: User, at: datetime) -> None:
    """Hand the answers in; from then on they count. `Unlabelled` lists what is not answered yet.

    `DomainError` where the physician has voted on the case in this round already, or has ruled on it.
    """
    row = _locked(task, annotator)
    given = {answer.question_id: answer for answer in LabelAnswer.objects.filter(task=row)}
    missing = []
    for question in questions_of_task(row):
        answer = given.get(question.pk)
        if answer is None or not question.is_complete(answer):
            missing.append(question.public_id)
    if missing:
        raise Unlabelled(missing)
    with readable_constraint_errors():
        transition(
            row,
            source=LabelTask.OPEN,
            target=LabelTask.Status.SUBMITTED,
            submitted_at=at,
            started_at=row.started_at or at,
        )
    notify_of_completed_batch(batch=row.batch, at=at)
    task.status, task.submitted_at = row.status, row.submitted_at


def questions_of_task(task: LabelTask) -> QuerySet[LabelQuestion]:
    """Questions that the batch of ``task`` asks, without those that were retired since."""
    public_ids = task.batch.frame.get("questions", [])
    return LabelQuestion.objects.filter(public_id__in=public_ids, active=True)


def next_label_task(*, annotator: User, after: LabelTask) -> LabelTask | None:
    """The annotator's next task: from here on in the queue of the batch, then from its start."""
    rows = LabelTask.objects.filter(batch=after.batch_id, annotator=annotator, status__in=LabelTask.OPEN)
    rows = rows.filter(is_shown()).exclude(of_excluded_cases())
    return following(rows, after)


def _locked(task: LabelTask, annotator: User) -> LabelTask:
    lock_batch_shared(task.batch_id)
    rows = LabelTask.objects.select_for_update(no_key=True, of=("self",)).select_related("batch", "response")
    row = rows.get(pk=task.pk, annotator=annotator)
    _refuse_unless_writable(row.status, row.batch.status)
    return row


def _refuse_impossible_answer(kind: str, values: Sequence[str], change: AnswerInput) -> None:
    is_read = kind == LabelQuestion.Kind.READ
    if kind == LabelQuestion.Kind.CODES:
        _refuse_impossible_codes(values, change)
        return
    if change.codes:
        raise DomainError(_("Only answers to a question with a code book can have codes."))
    if not is_read and (change.escalation or change.evidence):
        raise DomainError(_("Only readings of responses can have an escalation or evidence."))
    if kind == LabelQuestion.Kind.LEVELS:
        _refuse_impossible_vote(values, change)
    elif is_read:
        _refuse_impossible_reading(values, change)
    elif change.upper or change.reason:
        raise DomainError(_("Only votes on a scale can be between two levels or have a reason."))
    elif change.value not in values:
        raise DomainError(_("This is not one of the options."))
    if change.certainty is not None:
        if kind == LabelQuestion.Kind.CHOICE:
            raise DomainError(_("Only answers about acuity have a certainty."))
        if not 0 <= change.certainty <= 100:
            raise DomainError(_("Certainty must be a number from 0 to 100."))
    refuse_impossible_note(change.note)


def _passages(held: _HeldAnswer, change: AnswerInput) -> list[dict[str, Any]]:
    """The evidence of an answer about a response; none about a case."""
    if held.kind != LabelQuestion.Kind.READ or held.response_text is None:
        return []
    return checked_passages(change.evidence, held.response_text)


def _codes(held: _HeldAnswer, change: AnswerInput, task: LabelTask) -> list[dict[str, Any]]:
    """The codes of an answer in the order of the code book, each with its criterion and its passages."""
    if held.kind != LabelQuestion.Kind.CODES or held.response_text is None:
        return []
    named = {code["criterion"] for code in change.codes if code.get("criterion") is not None}
    if named:
        known = Criterion.objects.filter(case=task.case_id, pk__in=named).values_list("pk", flat=True)
        if named - set(known):
            raise DomainError(_("This criterion does not belong to the case."), field="codes")
    given = {
        code["code"]: {
            "code": code["code"],
            "criterion": code.get("criterion"),
            "evidence": checked_passages(code.get("evidence", ()), held.response_text),
        }
        for code in change.codes
    }
    return [given[value] for value in held.values if value in given]


def _refuse_impossible_codes(values: Sequence[str], change: AnswerInput) -> None:
    if change.upper or change.reason or change.escalation or change.evidence or change.certainty is not None:
        raise DomainError(_("Codes have neither a level nor a certainty."))
    keys = [code.get("code") for code in change.codes]
    if any(key not in values for key in keys):
        raise DomainError(_("This is not one of the codes."), field="codes")
    if len(set(keys)) < len(keys):
        raise DomainError(_("A code can be given only once."), field="codes")
    # Empty: all codes were taken away again, and the answer is open. It cannot be handed in.
    if (change.value == CODED) != bool(keys) or change.value not in (CODED, NONE_OF_THESE, ""):
        raise DomainError(_("Choose at least one code, or “None of these”."), field="codes")
    refuse_impossible_note(change.note)


def _refuse_impossible_reading(values: Sequence[str], change: AnswerInput) -> None:
    if change.value not in values:
        raise DomainError(_("This is not one of the levels."))
    if change.escalation and change.escalation not in values[:-1]:  # the last is that it advises none
        raise DomainError(_("This is not one of the levels."))
    if change.upper or change.reason or change.certainty is not None:
        raise DomainError(_("A reading of a response is one level or none, without a certainty."))


def refuse_impossible_note(note: str) -> None:
    """`DomainError` where a note is too long, or holds what cannot be stored."""
    if len(note) > MAX_NOTE_LENGTH:
        raise DomainError(_("A note has at most %(most)d characters.") % {"most": MAX_NOTE_LENGTH})
    if "\x00" in note or any("\ud800" <= sign <= "\udfff" for sign in note):
        raise DomainError(_("A note cannot contain a NUL or an incomplete character."))


def _refuse_impossible_vote(values: Sequence[str], change: AnswerInput) -> None:
    if change.value == CANNOT_TELL:
        if change.certainty is not None or change.upper:
            raise DomainError(_("“Cannot tell” cannot be combined with a level or a certainty."))
        if change.reason and change.reason not in LabelAnswer.Reason.values:
            raise DomainError(_("This is not one of the reasons."))
        return
    if change.value not in values:
        raise DomainError(_("This is not one of the levels."))
    if change.upper and change.upper not in values[values.index(change.value) + 1 :][:1]:
        raise DomainError(_("A vote between two levels must cover one level and the next level up."))
    if change.reason:
        raise DomainError(_("A reason can be given only for “cannot tell”."))
    if change.certainty is not None and change.certainty % CERTAINTY_STEP:
        raise DomainError(_("Certainty must be a multiple of %(step)d.") % {"step": CERTAINTY_STEP})
