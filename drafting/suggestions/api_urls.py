"""Routes of suggestions in the API."""

from django.urls import URLPattern, path

from drafting.suggestions import api

_SUGGESTIONS = "benchmarks/<slug:slug>/suggestions"

urlpatterns: list[URLPattern] = [
    path(f"{_SUGGESTIONS}/", api.suggestions, name="api-suggestions"),
    path(f"{_SUGGESTIONS}/open/", api.open_case, name="api-suggestions-open"),
    path(f"{_SUGGESTIONS}/withdraw/", api.withdraw, name="api-suggestions-withdraw"),
    path(f"{_SUGGESTIONS}/<str:public_id>/", api.suggestion, name="api-suggestion"),
    path(f"{_SUGGESTIONS}/<str:public_id>/decision/", api.decision, name="api-suggestion-decision"),
]
