"""Routes of runs of refinement in the API."""

from django.urls import URLPattern, path

from validation.refinement import api

RUN = "benchmarks/<slug:slug>/refinements/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/refinements/", api.refinement_runs, name="api-refinements"),
    path("benchmarks/<slug:slug>/refinements/size/", api.refinement_size, name="api-refinement-size"),
    path(f"{RUN}/", api.refinement_run, name="api-refinement"),
    path(f"{RUN}/cancel/", api.refinement_cancel, name="api-refinement-cancel"),
    path(f"{RUN}/resume/", api.refinement_resume, name="api-refinement-resume"),
    path(f"{RUN}/replay/", api.refinement_replay, name="api-refinement-replay"),
    path(f"{RUN}/grade/", api.refinement_grade, name="api-refinement-grade"),
]
