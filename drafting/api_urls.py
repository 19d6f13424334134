"""API routes of drafting."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("drafting.recipes.api_urls")),
    path("", include("drafting.suggestions.api_urls")),
    path("", include("drafting.runs.api_urls")),
]
