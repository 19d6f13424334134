"""The responses in which a failure was marked, and by whom: what stands behind the counts of a report."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.codes.batches import code_question
from annotation.models import CodeRuling, ExpertGroup, LabelAnswer, LabelTask, Physician
from consilium.core.among import Among
from rubrics.models import CodeBook, Response
from scoring.coding.selectors import counting_runs
from scoring.models import PipelineStep


@dataclass(frozen=True, slots=True)
class Mark:
    """That somebody gave the code to a response; ``kind`` is physician, ruling or judge."""

    kind: str
    name: str
    group: str = ""
    quotes: tuple[str, ...] = ()
    note: str = ""


Marks = dict[int, list[Mark]]  # by the id of the response


def marks_of_code(book: CodeBook, code: str) -> Marks:
    """All marks of a code in responses to cases that are not excluded, those of physicians first."""
    marks: defaultdict[int, list[Mark]] = defaultdict(list)
    _add_physicians(marks, book, code)
    for name, run in counting_runs(book).items():
        given = run.steps.filter(
            state=PipelineStep.State.DONE,
            output__codes__contains=[{"code": code}],
            coded__response__case__excluded_at=None,
        )
        for response, output in given.values_list("coded__response", "output"):
            own = next(each for each in (output or {})["codes"] if each["code"] == code)
            quotes = tuple(words["quote"] for words in own["evidence"])
            marks[response].append(Mark("judge", name, quotes=quotes, note=own["why"]))
    return dict(marks)


def in_order(marks: Marks) -> QuerySet[Response]:
    """The marked responses, by the keys of their cases."""
    order = ("case__key", "candidate__name", "setting", "sample", "pk")
    return Response.objects.filter(Among("pk", marks)).order_by(*order)


def _add_physicians(marks: defaultdict[int, list[Mark]], book: CodeBook, code: str) -> None:
    question = code_question(book)
    if question is None:
        return
    people = dict(Physician.objects.filter(benchmark=book.benchmark_id).values_list("user_id", "pseudonym"))
    groups = dict(ExpertGroup.objects.filter(benchmark=book.benchmark_id).values_list("pk", "name"))
    answers = LabelAnswer.objects.filter(
        question=question,
        task__status=LabelTask.Status.SUBMITTED,
        task__case__excluded_at=None,
        codes__contains=[{"code": code}],
    ).order_by("task__submitted_at", "pk")
    fields = ("task__response_id", "task__annotator_id", "task__batch__group_id", "codes", "note")
    for response, coder, group, codes, note in answers.values_list(*fields):
        own = next(each for each in codes if each["code"] == code)
        quotes = tuple(words["quote"] for words in own["evidence"])
        marks[response].append(Mark("physician", people.get(coder, ""), groups[group], quotes, note))
    rulings = CodeRuling.objects.filter(question=question, ruled_at__isnull=False, response__case__excluded_at=None)
    for response, group, note in rulings.filter(codes__contains=[code]).values_list("response", "group", "note"):
        marks[response].append(Mark("ruling", "", groups[group], note=note))
