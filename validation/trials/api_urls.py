"""Routes of runs of trials in the API."""

from django.urls import URLPattern, path

from validation.trials import api

RUN = "benchmarks/<slug:slug>/pair-runs/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/pair-runs/", api.pair_runs, name="api-pair-runs"),
    path(f"{RUN}/", api.pair_run, name="api-pair-run"),
    path(f"{RUN}/cancel/", api.pair_run_cancel, name="api-pair-run-cancel"),
    path(f"{RUN}/resume/", api.pair_run_resume, name="api-pair-run-resume"),
    path(f"{RUN}/replay/", api.pair_run_replay, name="api-pair-run-replay"),
]
