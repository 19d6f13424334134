"""The place of a piece of work in its physician's own queue, 1 to n: the number that pages and the API show.

The stored positions have gaps where work was released, postponed or excluded. So they order a queue and number nothing.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Count, IntegerField, Model, OuterRef, Q, QuerySet, Subquery

from annotation.acuity.outstanding import is_shown
from annotation.models import Assignment, LabelTask, WritingTask
from annotation.selectors.case_work import of_excluded_cases


def up_to(position: Any, pk: Any) -> Q:
    """A condition on rows of a queue: at this place or before it."""
    return Q(position__lt=position) | Q(position=position, pk__lte=pk)


def graded_queue(*, batch: Any, annotator: Any, of: Any) -> QuerySet[Assignment]:
    """An annotator's responses in a batch without those that were released, but with the row ``of``."""
    rows = Assignment.objects.filter(batch=batch, annotator=annotator).order_by()
    return rows.filter(~Q(status=Assignment.Status.RELEASED) | Q(pk=of))


def label_queue(*, batch: Any, annotator: Any, of: Any) -> QuerySet[LabelTask]:
    """A physician's cases with questions in a batch, as *My work* counts them, and the row ``of``."""
    rows = LabelTask.objects.filter(is_shown(), batch=batch, annotator=annotator).order_by()
    return rows.exclude(status=LabelTask.Status.RELEASED).filter(~of_excluded_cases() | Q(pk=of))


def writing_queue(*, batch: Any, writer: Any, of: Any) -> QuerySet[WritingTask]:
    """A writer's cases in a batch, as *My work* counts them, and the row ``of``."""
    rows = WritingTask.objects.filter(batch=batch, writer=writer).order_by()
    return rows.exclude(status=WritingTask.Status.RELEASED).filter(~of_excluded_cases() | Q(pk=of))


def graded_place() -> Subquery:
    """The place of each assignment of a query in its annotator's queue."""
    return _place(graded_queue(batch=OuterRef("batch"), annotator=OuterRef("annotator"), of=OuterRef("pk")))


def label_place() -> Subquery:
    """The place of each label task of a query in its annotator's queue."""
    return _place(label_queue(batch=OuterRef("batch"), annotator=OuterRef("annotator"), of=OuterRef("pk")))


def writing_place() -> Subquery:
    """The place of each writing task of a query in its writer's queue."""
    return _place(writing_queue(batch=OuterRef("batch"), writer=OuterRef("writer"), of=OuterRef("pk")))


def _place(queue: QuerySet[Any]) -> Subquery:
    rows: QuerySet[Model, Any] = queue.filter(up_to(OuterRef("position"), OuterRef("pk"))).values("batch")
    return Subquery(rows.annotate(n=Count("pk")).values("n"), output_field=IntegerField())
