"""Rubric sets that a request names: one rule for all endpoints."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from validation.access import AnyUser
from validation.models import RubricSet
from validation.sets.selectors import rubric_sets

SET_TO_NAME, SETS_TO_NAME = "Id of a rubric set, or its name.", "Ids of rubric sets, or their names."


def named_sets(user: AnyUser, benchmark: Benchmark, names: Sequence[str], *, field: str) -> list[RubricSet]:
    """The finished sets with these names or ids, in their order; `DomainError` of ``field`` names one that is missing.

    A name is that of one set in a benchmark. It counts before the id of another set. A set that is hidden from ``user``
    is missing.
    """
    rows = rubric_sets(user, benchmark).filter(Q(name__in=names) | Q(public_id__in=names))
    called = {row.public_id: row for row in rows} | {row.name: row for row in rows}
    if missing := [name for name in names if name not in called]:
        raise DomainError(_("There is no rubric set “%(name)s” in this benchmark.") % {"name": missing[0]}, field=field)
    return [called[name] for name in names]


def named_set(user: AnyUser, benchmark: Benchmark, name: str, *, field: str) -> RubricSet:
    """The finished set with this name or id, as `named_sets`."""
    return named_sets(user, benchmark, [name], field=field)[0]
