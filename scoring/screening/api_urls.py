"""API routes of screenings."""

from django.urls import URLPattern, path

from scoring.screening import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/screenings/", api.screenings, name="api-screenings"),
    path("benchmarks/<slug:slug>/screenings/<str:public_id>/", api.screening, name="api-screening"),
    path("benchmarks/<slug:slug>/screenings/<str:public_id>/cases/", api.screened_cases, name="api-screened-cases"),
    path(
        "benchmarks/<slug:slug>/screenings/<str:public_id>/decisions/",
        api.screening_decide,
        name="api-screening-decisions",
    ),
    path("benchmarks/<slug:slug>/screenings/<str:public_id>/close/", api.screening_close, name="api-screening-close"),
]
