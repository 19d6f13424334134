"""API routes of the cohort."""

from django.urls import URLPattern, path

from annotation.cohort import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/applications/", api.applications, name="api-applications"),
    path("benchmarks/<slug:slug>/applications/<str:public_id>/reviews/", api.reviews, name="api-application-reviews"),
    path("benchmarks/<slug:slug>/applications/<str:public_id>/erase/", api.erase, name="api-application-erase"),
    path("benchmarks/<slug:slug>/cohort/flow/", api.cohort_flow, name="api-cohort-flow"),
]
