"""Extra slices of item analysis: single criteria, points, lengths, languages.

``criterion:CASE/POSITION`` · ``points:positive`` or ``negative`` · ``criterion_length:LOW-HIGH`` and
``response_length:LOW-HIGH`` in code points · ``language:TAG``. They are looked up in the database on request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from django.db.models import Q
from django.db.models.functions import Length
from numpy.typing import NDArray

from rubrics.models import Case, Criterion, Response, Rubric, RubricItem

KINDS = ("criterion", "points", "criterion_length", "response_length", "language")

Ints = NDArray[np.int64]


def selection(name: str, *, case: Ints, response: Ints, criterion: Ints) -> NDArray[np.bool_]:
    """Which pairs, given as ids of cases, responses and criteria, belong to the slice; KeyError where there is none."""
    kind, _colon, value = name.partition(":")
    if kind == "criterion":
        return np.isin(criterion, _at_position(value, case, criterion))
    if kind == "points" and value in ("positive", "negative"):
        criterion_ids = [pk for pk, points, *_ in _newest(criterion) if (points > 0) == (value == "positive")]
        return np.isin(criterion, _some(criterion_ids))
    if kind == "language":
        return np.isin(case, _some(Case.objects.filter(pk__in=_ids(case), language=value).values_list("pk", flat=True)))
    band = re.fullmatch(r"(\d{1,9})-(\d{1,9})", value)
    if band and kind in ("criterion_length", "response_length"):
        lengths = Q(n__gte=int(band[1]), n__lte=int(band[2]))
        if kind == "criterion_length":
            texts = Criterion.objects.filter(pk__in=_ids(criterion)).annotate(n=Length("text")).filter(lengths)
            return np.isin(criterion, _some(texts.values_list("pk", flat=True)))
        answers = Response.objects.filter(pk__in=_ids(response)).annotate(n=Length("text")).filter(lengths)
        return np.isin(response, _some(answers.values_list("pk", flat=True)))
    raise KeyError(name)


def _at_position(value: str, case: Ints, criterion: Ints) -> list[int]:
    """The criteria that stand at ``CASE/POSITION`` in the newest rubric that holds them."""
    key, slash, position = value.rpartition("/")
    if not slash or not re.fullmatch(r"\d{1,9}", position):
        raise KeyError(value)
    criterion_ids = [
        pk for pk, _points, at, case_key in _newest(criterion, key) if at == int(position) and case_key == key
    ]
    if not criterion_ids:
        raise KeyError(value)
    return criterion_ids


def _newest(criterion: Ints, case_key: str | None = None) -> Iterable[tuple[int, int, int, str]]:
    """Criterion, points, position and case of each criterion, in the newest rubric that holds it."""
    shown = (Rubric.Status.PUBLISHED, Rubric.Status.SUPERSEDED)
    rows = RubricItem.objects.filter(rubric__status__in=shown, criterion__in=_ids(criterion))
    if case_key is not None:
        rows = rows.filter(rubric__case__key=case_key)
    newest = rows.order_by("criterion_id", "-rubric__version", "-pk").distinct("criterion_id")
    return newest.values_list("criterion_id", "points", "position", "rubric__case__key")


def _ids(ids: Ints) -> list[int]:
    return [int(pk) for pk in np.unique(ids)]


def _some(ids: Iterable[int]) -> Ints:
    """The ids as an array; KeyError where there are none, since every slice has at least one pair."""
    id_array = np.array(list(ids), dtype=np.int64)
    if not len(id_array):
        raise KeyError("no pair of this slice is left")
    return id_array
