"""API endpoint of study plans: the number of decisions needed, and the detectable differences."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agreement.calibration.thresholds import LARGEST_K
from agreement.planning import study_plan
from agreement.planning.forms import PlanForm, in_full, usual
from agreement.powered.powered_scores import MEASURES
from consilium.core.filters import checked
from consilium.core.model_schemas import rows_field
from rubrics.access import get_benchmark


class LabelPlanSerializer(serializers.Serializer[Any]):
    """The rows of budget.csv, curve.csv and detectable.csv, with the raters by their full names."""

    judge = serializers.CharField()
    reference = serializers.CharField()
    budget = rows_field()
    curve = rows_field()
    detectable = rows_field()
    notes = serializers.ListField(child=serializers.CharField())
    input_digest = serializers.CharField()


class Planning(APIView):
    """How many responses physicians should grade for an interval of ± ``half_width``, with the judge and without."""

    @extend_schema(
        parameters=[
            OpenApiParameter("judge", str, required=True, description="The judge, as the list of raters names it."),
            OpenApiParameter(
                "reference",
                str,
                required=True,
                description="The physicians, as the list of raters names them; `group:A` is `group:A@checked`.",
            ),
            OpenApiParameter(
                "measure", str, enum=MEASURES, description="Which score is planned. Default `rubric_accuracy`."
            ),
            OpenApiParameter(
                "k",
                int,
                description=f"Threshold of CACS@k, from 1 to {LARGEST_K}. Default: that of the benchmark.",
            ),
            OpenApiParameter(
                "half_width",
                float,
                required=True,
                description="Desired half-width of the 95% interval: such as 0.05 for a rubric score, 5 for others.",
            ),
            OpenApiParameter(
                "n_planned",
                int,
                description="Number of cases planned, for the smallest detectable difference. Default: all.",
            ),
            OpenApiParameter(
                "other", str, description="Another judge, as the list of raters names it, to plan a comparison."
            ),
        ],
        responses=LabelPlanSerializer,
        operation_id="planning_retrieve",
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = get_benchmark(request.user, slug)
        form = PlanForm(benchmark, in_full(benchmark, {**usual(benchmark), **request.query_params.dict()}))
        checked(form)
        plan = study_plan.plan(benchmark, form.question)
        return Response(
            {
                "judge": plan.judge,
                "reference": plan.reference,
                "budget": plan.budget,
                "curve": plan.curve,
                "detectable": plan.detectable,
                "notes": plan.notes,
                "input_digest": plan.digest,
            }
        )
