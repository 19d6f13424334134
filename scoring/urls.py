"""Routes of judges, their runs and verdicts, requested responses and screenings."""

from django.urls import URLPattern, URLResolver, include, path

from scoring.views import verdicts

app_name = "scoring"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("scoring.acuity.urls")),
    path("", include("scoring.classification.urls")),
    path("", include("scoring.coding.urls")),
    path("", include("scoring.endpoint_trials.urls")),
    path("", include("scoring.generation.urls")),
    path("", include("scoring.runs.urls")),
    path("", include("scoring.screening.urls")),
    path("", include("scoring.supervision.urls")),
    path("", include("scoring.susceptibility.urls")),
    path("", include("scoring.trained.urls")),
    path("b/<slug:slug>/judges/runs/<str:public_id>/verdicts/", verdicts.verdicts, name="verdicts"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/verdicts.csv", verdicts.verdicts_csv, name="verdicts-csv"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/judgements.json", verdicts.judgements, name="judgements"),
    # After the addresses above: the address of a judge takes any word in the place of its id.
    path("", include("scoring.judges.urls")),
]
