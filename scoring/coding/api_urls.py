"""API routes of runs that code."""

from django.urls import URLPattern, path

from scoring.coding import api

RUN = "benchmarks/<slug:slug>/coding/runs/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/coding/runs/", api.coding_runs, name="api-coding-runs"),
    path(f"{RUN}/", api.coding_run, name="api-coding-run"),
    path(f"{RUN}/codes/", api.coding_run_codes, name="api-coding-run-codes"),
    path(f"{RUN}/cancel/", api.coding_run_cancel, name="api-coding-run-cancel"),
    path(f"{RUN}/resume/", api.coding_run_resume, name="api-coding-run-resume"),
    path(f"{RUN}/replay/", api.coding_run_replay, name="api-coding-run-replay"),
]
