"""Routes of validation in the API."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("validation.sets.api_urls")),
    path("", include("validation.splitting.api_urls")),
    path("", include("validation.coverage.api_urls")),
    path("", include("validation.pairs.api_urls")),
    path("", include("validation.making.api_urls")),
    path("", include("validation.trials.api_urls")),
    path("", include("validation.refinement.api_urls")),
]
