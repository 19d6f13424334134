"""The API endpoint of ClinConsensus' judgement lists."""

from __future__ import annotations

from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from scoring import access
from scoring.api.serializers import Plain
from scoring.models import JudgeRun
from scoring.selectors import judges_and_runs
from scoring.selectors.judgements import as_json, run_judgements, samples_of

PARAMETERS = ("candidate", "sample", "format")


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
    """Give what a run says of one candidate, as ClinConsensus' list: an element for every case, in release order."""
    run = access.get_run(request.user, slug, public_id)
    unknown = sorted(set(request.query_params) - set(PARAMETERS))
    if unknown:
        raise ValidationError({name: [_("This parameter is not supported here.")] for name in unknown})
    name, sample = request.query_params.get("candidate", ""), request.query_params.get("sample", "0")
    if not name:
        raise ValidationError({"candidate": [_("This parameter is required.")]})
    candidate = judges_and_runs.candidates_of(run).called([name]).first()
    if run.purpose != JudgeRun.Purpose.GRADE or candidate is None or sample not in map(str, samples_of(run, candidate)):
        raise Http404
    export = run_judgements(run, candidate, int(sample))
    return StreamingHttpResponse(as_json(export.elements()), content_type="application/json")
