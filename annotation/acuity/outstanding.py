"""Conditions on rows about a case: whether physicians still have to vote on it."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, Func, JSONField, OuterRef, Q

from annotation.models import FIRST_ROUND, Batch, LabelTask


def votes_outstanding(questions: Any, **conditions: Any) -> Exists:
    """A condition on rows with a ``case``: somebody still has to answer ``questions`` about it.

    ``questions`` is a list of public ids, or an expression that gives JSON. Tasks in closed batches are over.
    """
    rows = LabelTask.objects.filter(
        case=OuterRef("case"),
        status__in=LabelTask.OPEN,
        batch__frame__questions__contains=questions,
        **conditions,
    )
    return Exists(rows.exclude(batch__status=Batch.Status.CLOSED))


def is_shown() -> Q:
    """A condition on tasks: of round 1, or of round 2 once round 1 of the case is over, which must stay independent."""
    return Q(round=FIRST_ROUND) | ~Q(votes_outstanding(OuterRef("batch__frame__questions"), round=FIRST_ROUND))


def public_id_of_question() -> Func:
    """The public id of the ``question`` of the outer row, as JSON."""
    return Func(OuterRef("question__public_id"), function="to_jsonb", output_field=JSONField())
