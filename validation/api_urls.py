"""Routes of validation in the API."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("validation.sets.api_urls")),
    path("", include("validation.coverage.api_urls")),
]
