"""Candidates and cases that a request or a filter names: one rule for all endpoints."""

from __future__ import annotations

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from rubrics.models import Candidate, Case
from rubrics.models.cases import CaseQuerySet
from rubrics.models.responses import CandidateQuerySet


def named_candidate(candidates: CandidateQuerySet, name: str) -> Candidate:
    """The one called ``name``, or with this id; `ValidationError` of the parameter ``candidate`` where none is."""
    candidate = candidates.called([name]).first()
    if candidate is None:
        raise ValidationError({"candidate": [_("There is no candidate “%(name)s”.") % {"name": name[:80]}]})
    return candidate


def named_case(cases: CaseQuerySet, key: str) -> Case:
    """The one with the key or the id ``key``; `ValidationError` of the parameter ``case`` where there is none."""
    case = cases.called([key]).first()
    if case is None:
        raise ValidationError({"case": [_("There is no case “%(key)s” in this benchmark.") % {"key": key[:80]}]})
    return case
