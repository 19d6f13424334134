"""Reads case labels: a physician's own, and the results of a benchmark's questions.

`annotation.labels.answer_summary` says what the figures mean. Only handed-in answers count, one for each physician.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain, repeat
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from accounts.models import User
from annotation import access
from annotation.acuity.panel_results import LevelResults, agreed_cases, level_results
from annotation.acuity.votes import votes_by_question
from annotation.labels.agreement import Certainty, label_agreement
from annotation.labels.answer_summary import Answer, AnswerState, Summary, summarise
from annotation.models import (
    CANNOT_TELL,
    Attention,
    LabelAnswer,
    LabelQuestion,
    LabelTask,
    Physician,
    level_choices,
)
from annotation.selectors.case_work import CaseWork, case_work, of_excluded_cases
from annotation.selectors.own_work_queries import BATCH, Condition, OwnQuery
from annotation.selectors.queue_places import label_queue, up_to
from consilium.statistics.estimate import Figure
from rubrics.acuity.scales import STARTERS
from rubrics.codes.code import NONE_OF_THESE
from rubrics.codes.selectors import CodeLine, lines_of
from rubrics.models import AcuityScale, Benchmark, Case, Rubric, RubricItem

TAG_PREFIX = "physician_agreed_category:"

# A physician's own --------------------------------------------------------------------------------------------------


def _own_tasks(user: Any, within: Condition) -> QuerySet[Any, Any]:
    # Each person has one row of time at a task.
    spent = Attention.objects.filter(user=user, label_task=OuterRef("pk")).values("seconds")[:1]
    rows = access.own_label_tasks(user).filter(within(BATCH)).exclude(of_excluded_cases())
    rows = rows.order_by("batch", "position", "pk")
    return rows.values_list("batch", "public_id", "status", Coalesce(Subquery(spent), 0))


_TASKS = OwnQuery(_own_tasks)


def label_work(user: User, benchmark: Benchmark | None = None) -> list[CaseWork]:
    """The user's cases to label, a row for each batch, the earliest due date first; in one benchmark or in all.

    The number of queries does not depend on the number of cases.
    """
    return case_work(_TASKS.rows(user, benchmark))


@dataclass(frozen=True, slots=True)
class OptionLine:
    """An option under the key that chooses it."""

    key: int | str
    value: str
    label: str
    help: str
    chosen: bool
    code: CodeLine | None = None  # all that the code book says, of a code


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A question as its annotator sees it, with their own answer so far (``value`` empty: none).

    ``acuity``: it asks for a certainty, too. ``levels``: the options are levels of a scale.
    """

    id: str
    number: int
    text: str
    acuity: bool
    levels: bool
    options: tuple[OptionLine, ...]
    read: bool = False  # it is about a response: it has an escalation, and evidence
    coded: bool = False  # the options are codes of a code book, of which several may be chosen
    codes: Sequence[Mapping[str, Any]] = ()
    criteria: Sequence[tuple[int, str]] = ()  # of the case, to which a code may be tied
    answered: bool = False
    value: str = ""
    upper: str = ""
    reason: str = ""
    certainty: int | None = None
    note: str = ""
    escalation: str = ""
    evidence: Sequence[Mapping[str, Any]] = ()
    version: int = 0
    saved_at: datetime | None = None

    @property
    def cannot_tell(self) -> bool:
        """Whether the annotator named no level, because they cannot tell."""
        return self.levels and self.value == CANNOT_TELL

    @property
    def escalations(self) -> tuple[OptionLine, ...]:
        """The levels that a response may advise under a condition: all options but the last, that it advises none."""
        return self.options[:-1]

    @property
    def uncoded_options(self) -> tuple[OptionLine, ...]:
        """Options of which one is chosen: none where the options are codes."""
        return () if self.coded else self.options

    @property
    def none_of_these(self) -> bool:
        """Whether the annotator said that no code applies."""
        return self.coded and self.value == NONE_OF_THESE

    @property
    def codes_json(self) -> str:
        """The codes for the script of the page."""
        return json.dumps(list(self.codes))

    @property
    def evidence_json(self) -> str:
        """The evidence for the script of the page."""
        return json.dumps(list(self.evidence))

    @property
    def reasons(self) -> list[tuple[str, str]]:
        """Why somebody may not be able to tell: value and label."""
        return [(str(value), str(label)) for value, label in LabelAnswer.Reason.choices] if self.levels else []

    @property
    def heading(self) -> str:
        """What a screen reader calls the question."""
        return _("Question %(number)d") % {"number": self.number}


def question_lines(task: LabelTask) -> list[QuestionLine]:
    """Questions of the task in order. Retired ones only where they were answered and handed in."""
    answers = {answer.question_id: answer for answer in LabelAnswer.objects.filter(task=task)}
    condition = Q(active=True, public_id__in=task.batch.frame.get("questions", []))
    if task.status == LabelTask.Status.SUBMITTED:
        condition = Q(pk__in=answers)
    lines = []
    questions = LabelQuestion.objects.filter(condition).select_related("scale", "code_book")
    for number, question in enumerate(questions, start=1):
        answer = answers.get(question.pk)
        value = answer.value if answer else ""
        options = _code_options(question, answer) or tuple(
            OptionLine(key, option["value"], option["label"], option.get("help", ""), option["value"] == value)
            for key, option in enumerate(question.choices, start=1)
        )
        line = QuestionLine(
            question.public_id,
            number,
            question.shown_text,
            acuity=question.kind in (LabelQuestion.Kind.ACUITY, LabelQuestion.Kind.LEVELS),
            read=question.is_read,
            coded=question.is_codes,
            criteria=_criteria_of(task) if question.is_codes else (),
            levels=question.is_levels,
            options=options,
        )
        lines.append(_with_answer(line, question, answer) if answer else line)
    return lines


# Keys of codes after 1 to 9; the others are keys of the page.
CODE_LETTERS = "adfghilmnopqrsuvwxyz"


def _code_options(question: LabelQuestion, answer: LabelAnswer | None) -> tuple[OptionLine, ...]:
    """The codes of the question's code book under their keys; none of another question."""
    if question.code_book is None:
        return ()
    given = {code["code"] for code in answer.codes} if answer else set()
    keys = chain("123456789", CODE_LETTERS, repeat(""))
    return tuple(
        OptionLine(key, line.key, line.title, line.definition, line.key in given, line)
        for key, line in zip(keys, lines_of(question.code_book), strict=False)
    )


def _criteria_of(task: LabelTask) -> list[tuple[int, str]]:
    """The criteria of the case to which a code may be tied, where the batch shows them."""
    if not task.batch.frame.get("criteria"):
        return []
    rubric = Rubric.objects.current().filter(case=task.case_id).first()
    items = RubricItem.objects.filter(rubric=rubric).order_by("position")
    return list(items.values_list("criterion_id", "criterion__text"))


def _with_answer(line: QuestionLine, question: LabelQuestion, answer: LabelAnswer) -> QuestionLine:
    return replace(
        line,
        answered=question.is_complete(answer),
        value=answer.value,
        upper=answer.upper,
        reason=answer.reason,
        certainty=answer.certainty,
        note=answer.note,
        escalation=answer.escalation,
        evidence=answer.evidence,
        codes=answer.codes,
        version=answer.version,
        saved_at=answer.updated_at,
    )


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """The position of the annotator in the batch: "Case 3 of 40"."""

    position: int
    total: int


def place_of(task: LabelTask) -> LabelPlace:
    """Place of the task in its annotator's own queue, among the cases that "My work" counts."""
    rows = label_queue(batch=task.batch_id, annotator=task.annotator_id, of=task.pk)
    counts = rows.aggregate(total=Count("pk"), place=Count("pk", filter=up_to(task.position, task.pk)))
    return LabelPlace(counts["place"], counts["total"])


# Scales -------------------------------------------------------------------------------------------------------------


def scales_of(benchmark: Benchmark) -> dict[str, list[dict[str, str]]]:
    """The levels of each scale that a question may be on, by its name: the benchmark's own, and the starters."""
    levels = {name: [asdict(level) for level in scale.levels] for name, scale in STARTERS.items()}
    for scale in AcuityScale.objects.filter(benchmark=benchmark).order_by("version"):
        levels[scale.name] = scale.levels
    return {name: level_choices(each) for name, each in levels.items()}


# For those who run the benchmark ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """A case and the summary of its answers; ``n_annotators`` is how many physicians were asked."""

    id: int
    key: str
    public_id: str
    n_annotators: int
    summary: Summary


@dataclass(frozen=True)
class QuestionResults:
    """All cases that a question was asked about, in the order of their keys."""

    question: LabelQuestion
    cases: list[LabelledCase]
    certainties: list[Certainty]

    @property
    def ordered(self) -> bool:
        """Whether the options are levels."""
        return bool(self.question.kind == LabelQuestion.Kind.ACUITY)

    @cached_property
    def state_counts(self) -> Counter[str]:
        """How many cases are agreed, open, or have too few answers."""
        return Counter(str(case.summary.state) for case in self.cases)

    @property
    def answers(self) -> int:
        """Answers handed in."""
        return sum(case.summary.n for case in self.cases)

    @cached_property
    def agreed_values(self) -> list[tuple[str, str, int, int]]:
        """For each option: value, label, answers that chose it, and cases that agree on it."""
        agreed = Counter(case.summary.agreed_value for case in self.cases)
        chosen = [0] * len(self.question.options)
        for case in self.cases:
            chosen = [total + other for total, other in zip(chosen, case.summary.counts, strict=True)]
        return [
            (option["value"], option["label"], number, agreed[option["value"]])
            for option, number in zip(self.question.options, chosen, strict=True)
        ]

    @cached_property
    def agreement(self) -> dict[str, Figure]:
        """The figures of `annotation.labels.agreement` by name."""
        counts = [case.summary.counts for case in self.cases]
        return dict(label_agreement(counts, self.certainties, ordered=self.ordered))

    @property
    def alpha(self) -> Figure:
        """Krippendorff's alpha, nominal for a choice and ordinal for acuity; n is the cases with two answers."""
        return self.agreement["alpha"]


Answers = dict[int, dict[int, dict[int, Answer]]]  # question → case → annotator


def _answers(questions: Iterable[LabelQuestion]) -> Answers:
    rows = LabelAnswer.objects.filter(question__in=list(questions), task__status=LabelTask.Status.SUBMITTED)
    answers: Answers = {}
    # One vote for each physician: if a physician was ever asked twice, the later answer counts.
    for question, case, annotator, value, certainty in rows.order_by("task__submitted_at", "pk").values_list(
        "question_id", "task__case_id", "task__annotator_id", "value", "certainty"
    ):
        answers.setdefault(question, {}).setdefault(case, {})[annotator] = Answer(value, certainty)
    return answers


def _summary(question: LabelQuestion, answers: Iterable[Answer]) -> Summary:
    return summarise(
        list(answers),
        [option["value"] for option in question.options],
        ordered=question.kind == LabelQuestion.Kind.ACUITY,
        threshold=question.threshold,
        minimum=question.minimum_answers,
    )


def level_results_of(question: LabelQuestion) -> LevelResults:
    """The results of a question on a scale."""
    return level_results(question, _annotator_counts(question))


def _annotator_counts(question: LabelQuestion) -> dict[int, int]:
    """How many physicians were asked about each case."""
    rows = LabelTask.objects.filter(batch__frame__questions__contains=[question.public_id])
    rows = rows.exclude(status=LabelTask.Status.RELEASED).order_by()
    return dict(rows.values_list("case").annotate(Count("annotator", distinct=True)))


def results_of(question: LabelQuestion) -> QuestionResults:
    """All results that the page of a question shows, in three queries."""
    given = _answers([question]).get(question.pk, {})
    annotator_counts = _annotator_counts(question)
    rows = Case.objects.filter(pk__in={*given, *annotator_counts}).order_by("key")
    return QuestionResults(
        question,
        [
            LabelledCase(
                pk, key, public_id, annotator_counts.get(pk, 0), _summary(question, given.get(pk, {}).values())
            )
            for pk, key, public_id in rows.values_list("pk", "key", "public_id")
        ],
        [
            (case, physician, answer.certainty)
            for case, answers in given.items()
            for physician, answer in answers.items()
            if answer.certainty is not None
        ],
    )


@dataclass(frozen=True, slots=True)
class QuestionCount:
    """A question in the list: how many answers, about how many cases, and how many of those agree."""

    question: LabelQuestion
    answers: int
    cases: int
    agreed: int


def question_counts(benchmark: Benchmark) -> list[QuestionCount]:
    """The questions of a benchmark in order, active ones first; three queries."""
    rows = LabelQuestion.objects.about_cases().filter(benchmark=benchmark).select_related("scale")
    questions = list(rows.order_by("-active", "position", "pk"))
    given = _answers(question for question in questions if not question.is_levels)
    votes = votes_by_question(question for question in questions if question.is_levels)
    counts = []
    for question in questions:
        if question.is_levels:
            own = votes.get(question.pk, [])
            n_cases = len({vote.case_id for vote in own})
            counts.append(QuestionCount(question, len(own), n_cases, agreed_cases(question, own)))
            continue
        cases = [_summary(question, answers.values()) for answers in given.get(question.pk, {}).values()]
        agreed = sum(bool(case.agreed_value) for case in cases)
        counts.append(QuestionCount(question, sum(case.n for case in cases), len(cases), agreed))
    return counts


def agreed_tags(benchmark: Benchmark) -> dict[int, list[str]]:
    """Case → tags that its physicians agree on, in the order of the questions; cases without any are left out.

    Votes on a scale give no tags: they lead to reference levels.
    """
    questions = list(LabelQuestion.objects.about_cases().filter(benchmark=benchmark, active=True, scale=None))
    given = _answers(questions)
    tags: dict[int, list[str]] = {}
    for question in questions:
        for case, answers in given.get(question.pk, {}).items():
            value = _summary(question, answers.values()).agreed_value
            if value:
                tags.setdefault(case, []).append(TAG_PREFIX + value)
    return tags


def tag_changes(benchmark: Benchmark) -> dict[int, list[str]]:
    """Case → the agreed tags that it should have, for the cases whose written tags differ."""
    tags_by_case = agreed_tags(benchmark)
    rows = Case.objects.filter(Q(benchmark=benchmark) & (Q(pk__in=tags_by_case) | ~Q(label_tags=[])))
    changes = {}
    for pk, label_tags in rows.values_list("pk", "label_tags"):
        written = [tag for tag in label_tags if tag.startswith(TAG_PREFIX)]
        if written != tags_by_case.get(pk, []):
            changes[pk] = tags_by_case.get(pk, [])
    return changes


# Files --------------------------------------------------------------------------------------------------------------

FIGURES = ("share", "dispersion", "level", "spread", "certainty")
ANSWER_COLUMNS = ("question", "case", "physician", "value", "certainty", "note", "submitted_at")
ANSWER_TEXT = ("question", "case", "physician", "note")
ANSWER_STATES: Mapping[str, str] = {
    AnswerState.AGREED: "agreed",
    AnswerState.OPEN: "not_agreed",
    AnswerState.FEW: "too_few",
}


def case_columns(question: LabelQuestion) -> tuple[str, ...]:
    """Columns of the file of cases; a column for each option."""
    options = (f"n_{option['value']}" for option in question.options)
    return ("question", "case", "asked", "answers", *options, "majority", *FIGURES, "state", "note")


def case_rows(results: QuestionResults) -> Iterator[Sequence[object]]:
    """One row for each case; a figure that is undefined is an empty cell."""
    for case in results.cases:
        summary = case.summary
        figures: list[Figure] = [getattr(summary, name) for name in FIGURES]
        note = "" if summary.n else "no answers yet"
        if summary.n and not summary.majority:
            note = "tie"
        yield (
            *(results.question.name, case.key, case.n_annotators, summary.n, *summary.counts, summary.majority),
            *(figure.value for figure in figures),
            *(ANSWER_STATES[summary.state], note),
        )


AGREEMENT_COLUMNS = ("question", "figure", "value", "low", "high", "n_cases", "note")


def agreement_rows(results: QuestionResults | LevelResults) -> Iterator[Sequence[object]]:
    """One row for each figure of agreement; one that is undefined has an empty cell, and its reason in the note."""
    for name, figure in results.agreement.items():
        yield results.question.name, name, figure.value, figure.low, figure.high, figure.n, figure.note


def answer_rows(question: LabelQuestion) -> Iterator[Sequence[object]]:
    """One row for each answer that was handed in, under the physicians' pseudonyms."""
    names = dict(Physician.objects.filter(benchmark=question.benchmark_id).values_list("user_id", "pseudonym"))
    rows = LabelAnswer.objects.filter(question=question, task__status=LabelTask.Status.SUBMITTED)
    fields = ("task__case__key", "task__annotator_id", "value", "certainty", "note", "task__submitted_at")
    ordered = rows.order_by("task__case__key", "pk").values_list(*fields)
    for key, annotator, value, certainty, note, at in ordered.iterator(chunk_size=2000):
        yield question.name, key, names.get(annotator, ""), value, certainty, note, at.isoformat()
