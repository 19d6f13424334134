"""Which cases somebody cannot read, by the languages in their profile, as a condition of a query."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, Exists, Func, OuterRef, Q, Value

from accounts.models import PhysicianProfile


def unread_by(user: Any, case: str) -> Q:
    """A condition: the case at the path ``case`` is in a language that ``user``, a primary key, does not read.

    An empty path is the case itself.
    """
    path = f"{case}__language" if case else "language"
    language = Func(OuterRef(path), Value("-"), Value(1), function="split_part", output_field=CharField())
    array = Func(language, template="ARRAY[%(expressions)s]::varchar[]", output_field=ArrayField(CharField()))
    others = PhysicianProfile.objects.filter(user=user).exclude(languages=[]).exclude(languages__contains=array)
    return Q(Exists(others)) & ~Q(**{path: ""})
