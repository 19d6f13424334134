"""Candidates and cases that a request or a filter names: one rule for all endpoints."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from rubrics.models import Candidate, Case
from rubrics.models.cases import CaseQuerySet
from rubrics.models.responses import CandidateQuerySet

# Descriptions of fields: ``case`` is the key, in requests also the id; ``case_id`` is the id.
CASE, CASE_ID = "Key of the case.", "Id of the case."
CASE_TO_NAME, CASES_TO_NAME = "Key of the case, or its id.", "Keys of the cases, or their ids."


def named_candidate(candidates: CandidateQuerySet, name: str) -> Candidate:
    """The one called ``name``, or with this id; `ValidationError` of the parameter ``candidate`` where none is."""
    candidate = candidates.called([name]).first()
    if candidate is None:
        raise ValidationError({"candidate": [_("There is no candidate “%(name)s”.") % {"name": name[:80]}]})
    return candidate


def named_cases(cases: CaseQuerySet, names: Sequence[str], *, field: str = "cases") -> list[Case]:
    """Those with the keys or ids ``names``; `ValidationError` of ``field`` names one that is not there."""
    chosen = list(cases.called(names))
    unknown = set(names) - {name for case in chosen for name in (case.key, case.public_id)}
    if unknown:
        message = _("There is no case “%(key)s” in this benchmark.") % {"key": min(unknown)[:80]}
        raise ValidationError({field: [message]})
    return chosen


def named_case(cases: CaseQuerySet, key: str) -> Case:
    """The one with the key or the id ``key``; `ValidationError` of the parameter ``case`` where there is none."""
    case = cases.called([key]).first()
    if case is None:
        raise ValidationError({"case": [_("There is no case “%(key)s” in this benchmark.") % {"key": key[:80]}]})
    return case
