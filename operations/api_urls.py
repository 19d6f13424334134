"""API routes of the server."""

from django.urls import URLPattern, path

from operations import api

urlpatterns: list[URLPattern] = [
    path("accounts/", api.accounts, name="api-accounts"),
    path("accounts/deactivate/", api.deactivate, name="api-account-deactivate"),
    path("accounts/activate/", api.activate, name="api-account-activate"),
]
