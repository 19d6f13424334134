"""API routes of judges, runs and verdicts."""

from django.urls import URLPattern, URLResolver, include, path

from scoring.api import judgements, judges

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("scoring.acuity.api_urls")),
    path("", include("scoring.classification.api_urls")),
    path("", include("scoring.coding.api_urls")),
    path("", include("scoring.generation.api_urls")),
    path("", include("scoring.screening.api_urls")),
    path("", include("scoring.supervision.api_urls")),
    path("benchmarks/<slug:slug>/judges/", judges.judges, name="api-judges"),
    path("benchmarks/<slug:slug>/judges/<str:public_id>/", judges.judge, name="api-judge"),
    path("benchmarks/<slug:slug>/runs/", judges.runs, name="api-runs"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/", judges.run, name="api-run"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/cancel/", judges.run_cancel, name="api-run-cancel"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/resume/", judges.run_resume, name="api-run-resume"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/continue/", judges.run_continue, name="api-run-continue"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/verdicts/", judges.verdicts, name="api-verdicts"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/judgements/", judgements.judgements, name="api-judgements"),
]
