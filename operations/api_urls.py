"""API routes of the server."""

from django.urls import URLPattern, URLResolver, include, path

from operations import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("accounts/", api.accounts, name="api-accounts"),
    path("accounts/deactivate/", api.deactivate, name="api-account-deactivate"),
    path("accounts/activate/", api.activate, name="api-account-activate"),
    path("", include("operations.security_log.api_urls")),
    path("", include("operations.trail.api_urls")),
]
