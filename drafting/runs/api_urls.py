"""Routes of runs of drafting in the API."""

from django.urls import URLPattern, path

from drafting.runs import api

RUN = "benchmarks/<slug:slug>/drafting-runs/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/drafting-runs/", api.drafting_runs, name="api-drafting-runs"),
    path(f"{RUN}/", api.drafting_run, name="api-drafting-run"),
    path(f"{RUN}/cancel/", api.drafting_cancel, name="api-drafting-run-cancel"),
    path(f"{RUN}/resume/", api.drafting_resume, name="api-drafting-run-resume"),
    path(f"{RUN}/cases/<str:case>/", api.drafting_case, name="api-drafting-run-case"),
]
