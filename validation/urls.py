"""Routes of the pages of validation."""

from django.urls import URLPattern, URLResolver, include, path

app_name = "validation"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("validation.sets.urls")),
    path("", include("validation.splitting.urls")),
    path("", include("validation.coverage.urls")),
    path("", include("validation.pairs.urls")),
    path("", include("validation.making.urls")),
    path("", include("validation.trials.urls")),
    path("", include("validation.refinement.urls")),
]
