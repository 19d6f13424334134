"""API routes of runs that classify."""

from django.urls import URLPattern, path

from scoring.classification import api

RUN = "benchmarks/<slug:slug>/acuity/runs/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/acuity/runs/", api.runs_of_benchmark, name="api-acuity-runs"),
    path(f"{RUN}/", api.classification_run, name="api-acuity-run"),
    path(f"{RUN}/cancel/", api.classification_cancel, name="api-acuity-run-cancel"),
    path(f"{RUN}/resume/", api.classification_resume, name="api-acuity-run-resume"),
]
