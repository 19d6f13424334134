"""API routes of audits."""

from django.urls import URLPattern, path

from rubrics.audits import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/audits/", api.audits, name="api-audits"),
    path("benchmarks/<slug:slug>/audits/<str:public_id>/", api.audit, name="api-audit"),
]
