"""What physicians coded, per response and coder; where coders differ; rulings; rows of the files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.codes.batches import code_question
from annotation.models import Batch, CodeRuling, ExpertGroup, LabelAnswer, LabelQuestion, LabelTask, Physician
from rubrics.codes.code import NONE_OF_THESE
from rubrics.codes.selectors import CodeLine, lines_of
from rubrics.models import Benchmark, CodeBook, Criterion, Response


@dataclass(frozen=True, slots=True)
class Coding:
    """The codes that one physician (the id of a user) of a group gave to a response; handed in."""

    response: int
    coder: int
    group: int
    codes: frozenset[str]


def codings_of(question: LabelQuestion) -> list[Coding]:
    """All that was handed in on cases that are not excluded, one of each physician on a response."""
    rows = LabelAnswer.objects.filter(
        question=question, task__status=LabelTask.Status.SUBMITTED, task__case__excluded_at=None
    )
    fields = ("task__response_id", "task__annotator_id", "task__batch__group_id", "codes")
    latest = {
        (response, coder): Coding(response, coder, group, frozenset(code["code"] for code in codes))
        for response, coder, group, codes in rows.order_by("task__submitted_at", "pk").values_list(*fields)
    }
    return [latest[key] for key in sorted(latest)]


def rulings_of(question: LabelQuestion) -> dict[int, frozenset[str]]:
    """Response → the codes that an adjudicator ruled."""
    rows = CodeRuling.objects.filter(question=question, ruled_at__isnull=False, response__case__excluded_at=None)
    return {response: frozenset(codes) for response, codes in rows.values_list("response_id", "codes")}


def differing(codings: Sequence[Coding]) -> set[int]:
    """The responses to which two physicians gave other codes."""
    given: dict[int, set[frozenset[str]]] = defaultdict(set)
    for coding in codings:
        given[coding.response].add(coding.codes)
    return {response for response, codes in given.items() if len(codes) > 1}


def unclosed_batches(question: LabelQuestion) -> QuerySet[Batch]:
    """The batches in which responses are coded by the question that still take work."""
    return Batch.objects.filter(frame__questions__contains=[question.public_id]).exclude(status=Batch.Status.CLOSED)


def unfinished(question: LabelQuestion) -> set[int]:
    """The responses that somebody still has to code; batches that are closed are over."""
    rows = LabelTask.objects.filter(
        status__in=LabelTask.OPEN, batch__frame__questions__contains=[question.public_id], response__isnull=False
    ).exclude(batch__status=Batch.Status.CLOSED)
    return set(rows.values_list("response_id", flat=True))


@dataclass(frozen=True, slots=True)
class CodeCount:
    """A code with how many answers gave it, and on how many responses."""

    line: CodeLine
    answers: int
    responses: int


@dataclass(frozen=True)
class CodingState:
    """How far the coding by a version of the code book has come."""

    book: CodeBook
    question: LabelQuestion | None

    @cached_property
    def codings(self) -> list[Coding]:
        """All that was handed in."""
        return codings_of(self.question) if self.question else []

    @cached_property
    def n_responses(self) -> int:
        """Responses that somebody has coded."""
        return len({coding.response for coding in self.codings})

    @cached_property
    def n_physicians(self) -> int:
        """Physicians who have coded."""
        return len({coding.coder for coding in self.codings})

    @cached_property
    def n_none(self) -> int:
        """Answers that no code applies."""
        return sum(not coding.codes for coding in self.codings)

    @cached_property
    def differing(self) -> set[int]:
        """Responses on which coders differ."""
        return differing(self.codings)

    @cached_property
    def n_ruled(self) -> int:
        """Responses that an adjudicator has ruled on."""
        return len(rulings_of(self.question)) if self.question else 0

    @cached_property
    def n_requested(self) -> int:
        """Responses that wait for a ruling."""
        return CodeRuling.objects.filter(question=self.question, ruled_at=None).count() if self.question else 0

    @cached_property
    def counts(self) -> list[CodeCount]:
        """The codes of the book with their numbers."""
        answers: dict[str, int] = defaultdict(int)
        responses: dict[str, set[int]] = defaultdict(set)
        for coding in self.codings:
            for code in coding.codes:
                answers[code] += 1
                responses[code].add(coding.response)
        return [CodeCount(line, answers[line.key], len(responses[line.key])) for line in lines_of(self.book)]

    @cached_property
    def batches(self) -> list[Batch]:
        """The batches, the newest first, each with its number of tasks and of those handed in."""
        if self.question is None:
            return []
        kept = ~Q(label_tasks__status=LabelTask.Status.RELEASED)
        rows = Batch.objects.filter(
            group__benchmark=self.book.benchmark_id,
            kind=Batch.Kind.LABEL,
            frame__questions__contains=[self.question.public_id],
        )
        return list(
            rows.select_related("group")
            .annotate(
                n_tasks=Count("label_tasks", filter=kept),
                n_handed_in=Count("label_tasks", filter=Q(label_tasks__status=LabelTask.Status.SUBMITTED)),
            )
            .order_by("-created_at", "-pk")
        )


def state_of(book: CodeBook) -> CodingState:
    """The coding by a version of the code book."""
    return CodingState(book, code_question(book))


@dataclass(frozen=True, slots=True)
class CodeMark:
    """A code on the page of an adjudicator, with what coders marked, without names."""

    line: CodeLine
    key: str  # that chooses it
    n_coders: int
    quotes: tuple[str, ...]
    criteria: tuple[str, ...]


def marks_of(ruling: CodeRuling, keys: Sequence[str]) -> tuple[list[CodeMark], int, list[str]]:
    """What coders gave to the response of a ruling: each code, how many coders there are, and their notes.

    While a batch is open these are the coders of the ruling's group alone.
    """
    rows = LabelAnswer.objects.filter(
        question=ruling.question, task__response=ruling.response_id, task__status=LabelTask.Status.SUBMITTED
    ).order_by("task__submitted_at", "pk")
    if unclosed_batches(ruling.question).exists():
        rows = rows.filter(task__batch__group=ruling.group_id)
    answers = {coder: (codes, note) for coder, codes, note in rows.values_list("task__annotator_id", "codes", "note")}
    given = [code for codes, _note in answers.values() for code in codes]
    texts = dict(
        Criterion.objects.filter(pk__in={code["criterion"] for code in given if code["criterion"]}).values_list(
            "pk", "text"
        )
    )
    marks = []
    assert ruling.question.code_book is not None
    for place, line in enumerate(lines_of(ruling.question.code_book)):
        own = [code for code in given if code["code"] == line.key]
        quotes = dict.fromkeys(span["quote"] for code in own for span in code["evidence"])
        criteria = dict.fromkeys(texts[code["criterion"]] for code in own if code["criterion"] in texts)
        marks.append(CodeMark(line, keys[place] if place < len(keys) else "", len(own), tuple(quotes), tuple(criteria)))
    # In the order of their texts, so that the order says nothing about who wrote which.
    notes = sorted(note for _codes, note in answers.values() if note)
    return marks, len(answers), notes


# Files --------------------------------------------------------------------------------------------------------------

CODING_COLUMNS = (
    *("code_book", "case", "candidate", "setting", "sample", "response", "rater", "group", "code", "criterion"),
    *("evidence", "note", "submitted_at"),
)
CODING_TEXT = ("case", "candidate", "setting", "rater", "group", "criterion", "evidence", "note")


def coding_rows(book: CodeBook) -> Iterator[Sequence[Any]]:
    """Rows of `CODING_COLUMNS`: one for each code, and one with `none` for an answer that no code applies.

    Physicians have their pseudonyms; rulings have the rater ``adjudication``.
    """
    question = code_question(book)
    if question is None:
        return
    names = dict(Physician.objects.filter(benchmark=book.benchmark_id).values_list("user_id", "pseudonym"))
    groups = dict(ExpertGroup.objects.filter(benchmark=book.benchmark_id).values_list("pk", "name"))
    rows = LabelAnswer.objects.filter(question=question, task__status=LabelTask.Status.SUBMITTED)
    fields = (
        *("task__response_id", "task__annotator_id", "task__batch__group_id", "codes", "note", "task__submitted_at"),
    )
    answers = list(rows.order_by("task__case__key", "task__response_id", "pk").values_list(*fields))
    rulings = list(
        CodeRuling.objects.filter(question=question, ruled_at__isnull=False)
        .order_by("response__case__key", "response_id")
        .values_list("response_id", "group_id", "codes", "note", "ruled_at")
    )
    responses = Response.objects.select_related("case", "candidate").in_bulk(
        {row[0] for row in answers} | {row[0] for row in rulings}
    )
    criteria = {code["criterion"] for row in answers for code in row[3] if code["criterion"]}
    texts = dict(Criterion.objects.filter(pk__in=criteria).values_list("pk", "text"))

    def named(pk: int) -> tuple[Any, ...]:
        own = responses[pk]
        return (book.version, own.case.key, own.candidate.name, own.setting, own.sample, own.public_id)

    for response, coder, group, codes, note, at in answers:
        for code in codes or [{"code": NONE_OF_THESE, "criterion": None, "evidence": []}]:
            quotes = " | ".join(span["quote"] for span in code["evidence"])
            yield (
                *(*named(response), names.get(coder, ""), groups[group], code["code"]),
                *(texts.get(code["criterion"], ""), quotes, note, at.isoformat()),
            )
    for response, group, codes, note, at in rulings:
        for code in codes or [NONE_OF_THESE]:
            yield (*named(response), "adjudication", groups[group], code, "", "", note, at.isoformat() if at else "")


def newest_coded_book(benchmark: Benchmark) -> CodeBook | None:
    """The newest version by which a physician has coded a response; None where none has."""
    answers = LabelAnswer.objects.filter(
        question__code_book=OuterRef("pk"), task__status=LabelTask.Status.SUBMITTED, task__case__excluded_at=None
    )
    return CodeBook.objects.filter(Exists(answers), benchmark=benchmark).order_by("-version").first()


def books_of(benchmark: Benchmark) -> list[CodeBook]:
    """The versions by which something was or may be coded, the newest first."""
    return list(CodeBook.objects.filter(benchmark=benchmark).order_by("-version"))


def shown_book(benchmark: Benchmark, books: Sequence[CodeBook]) -> CodeBook | None:
    """The version that a page shows first: the newest that physicians have coded by, else were given, else have."""
    questions = LabelQuestion.objects.filter(benchmark=benchmark, code_book__isnull=False)
    given = set(questions.values_list("code_book", flat=True))
    newest = newest_coded_book(benchmark)
    return newest or next((book for book in books if book.pk in given), books[0] if books else None)
