"""API route of the files of verdicts with reasons."""

from django.urls import URLPattern, path

from scoring.supervision import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/supervision/", api.supervision, name="api-supervision"),
]
