"""Which cases a run of validation may send to an endpoint."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Case
from scoring.models import PipelineRun


def sendable_cases(run: PipelineRun, cases: Collection[int], keys: Collection[str]) -> dict[int, dict[str, Any]]:
    """Key and conversation of those of ``cases`` whose key is one of ``keys``.

    A case is left out that was excluded meanwhile, or has an open privacy finding.
    """
    rows = Case.objects.filter(pk__in=cases)
    if not run.replay:  # what was answered once may be read again
        rows = rows.included().exclude(pk__in=cases_with_open_findings(cases))
    known = rows.filter(key__in=keys).values_list("pk", "key", "conversation")
    return {pk: {"case": key, "conversation": conversation} for pk, key, conversation in known}
