"""API route of a rater's decisions as a file."""

from django.urls import URLPattern, path

from agreement.exports import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/decisions.csv", api.Decisions.as_view(), name="api-decisions-csv"),
]
