"""API routes of releases."""

from django.urls import URLPattern, path

from releases import api

_ONE = "benchmarks/<slug:slug>/releases/<str:public_id>/"
urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/releases/", api.Releases.as_view(), name="api-releases"),
    path(_ONE, api.ReleaseDetail.as_view(), name="api-release"),
    path(f"{_ONE}release.zip", api.ReleaseArchive.as_view(), name="api-release-archive"),
]
