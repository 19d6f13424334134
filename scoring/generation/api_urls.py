"""API routes of requesting responses from models."""

from django.urls import URLPattern, path

from scoring.generation import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/generation/", api.generation, name="api-generation"),
    path("benchmarks/<slug:slug>/generation/<str:public_id>/", api.generation_run, name="api-generation-run"),
    path(
        "benchmarks/<slug:slug>/generation/<str:public_id>/cancel/",
        api.generation_cancel,
        name="api-generation-cancel",
    ),
    path(
        "benchmarks/<slug:slug>/generation/<str:public_id>/resume/",
        api.generation_resume,
        name="api-generation-resume",
    ),
]
