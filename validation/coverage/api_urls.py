"""Routes of runs of coverage in the API."""

from django.urls import URLPattern, path

from validation.coverage import api

RUN = "benchmarks/<slug:slug>/coverage-runs/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/coverage-runs/", api.coverage_runs, name="api-coverage-runs"),
    path("benchmarks/<slug:slug>/coverage-questions/next/", api.next_question, name="api-coverage-next-question"),
    path("benchmarks/<slug:slug>/coverage-questions/<str:public_id>/", api.question, name="api-coverage-question"),
    path("benchmarks/<slug:slug>/coverage-questions/<str:public_id>/skip/", api.skip, name="api-coverage-skip"),
    path(f"{RUN}/", api.coverage_run, name="api-coverage-run"),
    path(f"{RUN}/cancel/", api.coverage_cancel, name="api-coverage-cancel"),
    path(f"{RUN}/resume/", api.coverage_resume, name="api-coverage-resume"),
    path(f"{RUN}/replay/", api.coverage_replay, name="api-coverage-replay"),
    path(f"{RUN}/ask/", api.coverage_ask, name="api-coverage-ask"),
]
