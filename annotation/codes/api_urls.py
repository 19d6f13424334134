"""Routes of coding in the API."""

from django.urls import URLPattern, path

from annotation.codes import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/code-books/<int:version>/codings/", api.codings, name="api-codings"),
]
