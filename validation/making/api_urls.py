"""Routes of runs that make pairs in the API."""

from django.urls import URLPattern, path

from validation.making import api

RUN = "benchmarks/<slug:slug>/pair-making/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/pair-making/", api.making_runs, name="api-pair-making"),
    path(f"{RUN}/", api.making_run, name="api-pair-making-run"),
    path(f"{RUN}/cancel/", api.making_cancel, name="api-pair-making-cancel"),
    path(f"{RUN}/resume/", api.making_resume, name="api-pair-making-resume"),
]
