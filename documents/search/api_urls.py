"""API routes of the search in passages."""

from django.urls import URLPattern, URLResolver, path

from documents.search import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("benchmarks/<slug:slug>/passages/", api.passages, name="api-passages"),
]
