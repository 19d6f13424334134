"""Reads the attributes of candidates, for those who run the benchmark: no blinded page may show any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from consilium.core.commands import label_of
from rubrics.models import Benchmark, Candidate
from rubrics.services.attribute_values import FIELDS, AttributeValues, values_of
from rubrics.tables.attribute_table import shown_value

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise


def candidates_with_attributes(benchmark: Benchmark) -> QuerySet[Candidate]:
    """All candidates by name, each with its attributes, in one query."""
    return Candidate.objects.filter(benchmark=benchmark).select_related("attributes").order_by("name")


def attributes_of(candidate: Candidate) -> AttributeValues:
    """The attributes of a candidate, all unknown where nobody has entered any."""
    try:
        return values_of(candidate.attributes)
    except ObjectDoesNotExist:
        return values_of(None)


def shown_attributes(candidate: Candidate) -> dict[str, str]:
    """Those that are known, by name, as pages show them."""
    return _shown(attributes_of(candidate))


def _shown(values: AttributeValues) -> dict[str, str]:
    known = [(name, getattr(values, name)) for name in FIELDS]
    words = {True: _("Yes"), False: _("No")}
    return {
        name: words[value] if isinstance(value, bool) else shown_value(value)
        for name, value in known
        if value not in (None, "")
    }


def changed_attributes(values: AttributeValues, stored: AttributeValues) -> list[tuple[_StrOrPromise, str]]:
    """The stored values that ``values`` would change, each with what pages call it; empty where it is unknown."""
    shown = _shown(stored)
    changed = [name for name in FIELDS if getattr(values, name) != getattr(stored, name)]
    return [(label_of(AttributeValues, name), shown.get(name, "")) for name in changed]


def labelled_attributes(candidate: Candidate) -> list[tuple[_StrOrPromise, str]]:
    """The same, each with what pages call it."""
    return [(label_of(AttributeValues, name), value) for name, value in shown_attributes(candidate).items()]
