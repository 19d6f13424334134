"""API route of the leaderboard."""

from django.urls import URLPattern, path

from agreement.leaderboard import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/acuity/leaderboard/", api.Leaderboard.as_view(), name="api-leaderboard"),
]
