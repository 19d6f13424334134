"""API routes of acuity."""

from django.urls import URLPattern, path

from scoring.acuity import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/acuity/scales/", api.scales, name="api-acuity-scales"),
    path("benchmarks/<slug:slug>/acuity/schemes/", api.schemes, name="api-acuity-schemes"),
    path("benchmarks/<slug:slug>/acuity/source-labels/", api.source_labels, name="api-acuity-source-labels"),
    path("benchmarks/<slug:slug>/acuity/readings/", api.readings, name="api-acuity-readings"),
    path("benchmarks/<slug:slug>/acuity/framings/", api.framings, name="api-acuity-framings"),
]
