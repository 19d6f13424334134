"""A condition on many values that is one parameter of its query."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, BooleanField, Func, TextField, Value


class Among(Func):
    """Whether a column of whole numbers or of texts has one of ``values``: ``rows.filter(Among("case", cases))``.

    It finds the same rows as ``__in``, for which Django makes a placeholder of each value and the driver splits the
    text of the query at each of them. A run of steps asks for hundreds of values at a time, where that takes time.
    """

    arg_joiner = " = ANY("
    template = "(%(expressions)s))"

    def __init__(self, column: str, values: Collection[int] | Collection[str], **extra: Any) -> None:
        base: Any = TextField() if any(isinstance(value, str) for value in values) else BigIntegerField()
        super().__init__(column, Value(list(values), ArrayField(base)), output_field=BooleanField(), **extra)
