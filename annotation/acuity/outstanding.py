"""What physicians still have to do about cases: conditions on rows with a case, and second rounds."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, Func, JSONField, OuterRef, Q, QuerySet

from annotation.models import FIRST_ROUND, LAST_ROUND, Batch, LabelQuestion, LabelTask


def votes_outstanding(questions: Any, **conditions: Any) -> Exists:
    """A condition on rows with a ``case``: somebody still has to answer ``questions`` about it.

    ``questions`` is a list of public ids, or an expression that gives JSON. Tasks in closed batches are over.
    """
    return Exists(open_tasks(questions).filter(case=OuterRef("case"), **conditions))


def open_tasks(questions: Any) -> QuerySet[LabelTask]:
    """Tasks in which somebody still has to answer ``questions``, as in `votes_outstanding`."""
    rows = LabelTask.objects.filter(status__in=LabelTask.OPEN, batch__frame__questions__contains=questions)
    return rows.exclude(batch__status=Batch.Status.CLOSED)


def is_shown() -> Q:
    """A condition on tasks: of round 1, or of round 2 once round 1 of the case is over, which must stay independent."""
    return Q(round=FIRST_ROUND) | ~Q(votes_outstanding(OuterRef("batch__frame__questions"), round=FIRST_ROUND))


def second_rounds(question: LabelQuestion) -> QuerySet[Batch]:
    """The batches of the second round of a question, each with its number of votes and of those handed in."""
    rows = Batch.objects.filter(
        group__benchmark=question.benchmark_id,
        kind=Batch.Kind.LABEL,
        frame__round=LAST_ROUND,
        frame__questions__contains=[question.public_id],
    )
    kept = ~Q(label_tasks__status=LabelTask.Status.RELEASED)
    return (
        rows.select_related("group")
        .annotate(
            n_votes=Count("label_tasks", filter=kept),
            n_handed_in=Count("label_tasks", filter=Q(label_tasks__status=LabelTask.Status.SUBMITTED)),
        )
        .order_by("created_at", "pk")
    )


def public_id_of_question() -> Func:
    """The public id of the ``question`` of the outer row, as JSON."""
    return Func(OuterRef("question__public_id"), function="to_jsonb", output_field=JSONField())
