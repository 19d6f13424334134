"""Groups that the body of a request names, by id."""

from __future__ import annotations

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from annotation.models import ExpertGroup
from rubrics.models import Benchmark


def group_of_field(benchmark: Benchmark, public_id: str, *, field: str) -> ExpertGroup:
    """The group of ``benchmark`` with this id; else `ValidationError` about ``field``. Ask for access before."""
    group = ExpertGroup.objects.select_related("benchmark").filter(benchmark=benchmark, public_id=public_id).first()
    if group is None:
        message = _("The benchmark has no group with the id “%(id)s”.") % {"id": public_id}
        raise ValidationError({field: [message]})
    return group
