"""The API endpoints of judges, runs and verdicts."""

from django.urls import URLPattern, path

from scoring.api import judgements, judges
from scoring.generation import api as generation
from scoring.screening.urls import api_urlpatterns as screening_endpoints
from scoring.supervision import api as supervision

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/judges/", judges.judges, name="api-judges"),
    path("benchmarks/<slug:slug>/judges/<str:public_id>/", judges.judge, name="api-judge"),
    path("benchmarks/<slug:slug>/runs/", judges.runs, name="api-runs"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/", judges.run, name="api-run"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/cancel/", judges.run_cancel, name="api-run-cancel"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/resume/", judges.run_resume, name="api-run-resume"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/continue/", judges.run_continue, name="api-run-continue"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/verdicts/", judges.verdicts, name="api-verdicts"),
    path("benchmarks/<slug:slug>/runs/<str:public_id>/judgements/", judgements.judgements, name="api-judgements"),
    path("benchmarks/<slug:slug>/generation/", generation.generation, name="api-generation"),
    path("benchmarks/<slug:slug>/generation/<str:public_id>/", generation.generation_run, name="api-generation-run"),
    path(
        "benchmarks/<slug:slug>/generation/<str:public_id>/cancel/",
        generation.generation_cancel,
        name="api-generation-cancel",
    ),
    path(
        "benchmarks/<slug:slug>/generation/<str:public_id>/resume/",
        generation.generation_resume,
        name="api-generation-resume",
    ),
    path("benchmarks/<slug:slug>/supervision/", supervision.supervision, name="api-supervision"),
    *screening_endpoints,
]
