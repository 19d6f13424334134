"""API route of study plans."""

from django.urls import URLPattern, path

from agreement.planning import acuity_plan_api, api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/planning/", api.Planning.as_view(), name="api-planning"),
    path("benchmarks/<slug:slug>/acuity/plans/", acuity_plan_api.AcuityPlans.as_view(), name="api-acuity-plans"),
    path(
        "benchmarks/<slug:slug>/acuity/plans/<int:number>/",
        acuity_plan_api.AcuityPlanDetail.as_view(),
        name="api-acuity-plan",
    ),
    path(
        "benchmarks/<slug:slug>/acuity/plans/<int:number>/sign/",
        acuity_plan_api.AcuityPlanSignature.as_view(),
        name="api-acuity-plan-sign",
    ),
]
