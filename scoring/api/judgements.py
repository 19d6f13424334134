"""The API endpoint of ClinConsensus' judgement lists."""

from __future__ import annotations

from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from consilium.core.parameters import required, whole_number
from rubrics.api.named import named_candidate
from scoring import access
from scoring.api.serializers import Plain
from scoring.models import JudgeRun
from scoring.selectors import judges_and_runs
from scoring.selectors.judgements import as_json, run_judgements, samples_of


class CriterionResultSerializer(Plain):
    """What was said of one criterion."""

    criterion = serializers.CharField()
    criteria_met = serializers.BooleanField()
    explanation = serializers.CharField()


class JudgementSerializer(Plain):
    """What was said of the response to one case. Criteria without a valid verdict are not in it, nor those that an
    adjudicator found faulty on the response.
    """

    case_id = serializers.CharField()
    criteria_results = CriterionResultSerializer(many=True)


@extend_schema(
    responses=JudgementSerializer(many=True),
    parameters=[
        OpenApiParameter("candidate", str, required=True, description="name of a candidate"),
        OpenApiParameter("sample", int, description="which of its responses to a case (default 0)"),
    ],
    operation_id="judgements_list",
)
@api_view(["GET"])
def judgements(request: Request, slug: str, public_id: str) -> HttpResponseBase:
    """Give what a run says of one candidate, as ClinConsensus' list: an element for every case, in release order.

    All at once: a file of ClinConsensus, sent piece by piece. `case_id` is the key of the case, as there.
    """
    run = access.get_run(request.user, slug, public_id)
    if run.purpose != JudgeRun.Purpose.GRADE:
        raise Http404
    candidate = named_candidate(judges_and_runs.candidates_of(run), required(request, "candidate"))
    sample = whole_number(request, "sample", default=0)
    if sample not in samples_of(run, candidate):
        raise ValidationError({"sample": [_("This run has no such sample of this candidate.")]})
    export = run_judgements(run, candidate, sample)
    return StreamingHttpResponse(as_json(export.elements()), content_type="application/json")
