"""Pages of drafting."""

from django.urls import URLPattern, URLResolver, include, path

app_name = "drafting"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("drafting.recipes.urls")),
    path("", include("drafting.suggestions.urls")),
    path("", include("drafting.runs.urls")),
    path("", include("drafting.provenance.urls")),
]
