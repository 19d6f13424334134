"""API route of what must be graded again."""

from django.urls import URLPattern, path

from annotation.regrading import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/regrading/", api.regrading, name="api-regrading"),
]
