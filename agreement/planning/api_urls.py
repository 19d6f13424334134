"""API route of study plans."""

from django.urls import URLPattern, path

from agreement.planning import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/planning/", api.Planning.as_view(), name="api-planning"),
]
