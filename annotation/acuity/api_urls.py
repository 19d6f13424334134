"""API routes of reference sets."""

from django.urls import URLPattern, path

from annotation.acuity import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/acuity/reference-sets/", api.reference_sets, name="api-reference-sets"),
    path(
        "benchmarks/<slug:slug>/acuity/reference-sets/<int:number>/items/",
        api.reference_items,
        name="api-reference-items",
    ),
]
