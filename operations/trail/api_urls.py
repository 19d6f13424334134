"""API routes of the trail of changes."""

from django.urls import URLPattern, path

from operations.trail import api

urlpatterns: list[URLPattern] = [
    path("server/changes/", api.server_changes, name="api-server-changes"),
    path("benchmarks/<slug:slug>/changes/", api.changes, name="api-changes"),
]
