"""API routes of second rounds, rulings and reference sets."""

from django.urls import URLPattern, path

from annotation.acuity import api, rounds_api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/labels/<str:public_id>/moves/", rounds_api.moves, name="api-label-moves"),
    path(
        "benchmarks/<slug:slug>/labels/<str:public_id>/second-round/",
        rounds_api.second_round,
        name="api-second-round",
    ),
    path(
        "benchmarks/<slug:slug>/labels/<str:public_id>/rulings/", rounds_api.acuity_rulings, name="api-acuity-rulings"
    ),
    path(
        "benchmarks/<slug:slug>/labels/<str:public_id>/rulings/ask/",
        rounds_api.ask_for_rulings,
        name="api-ask-for-rulings",
    ),
    path("work/rulings/", rounds_api.ruling_requests, name="api-ruling-requests"),
    path("work/rulings/<str:public_id>/", rounds_api.ruling_request, name="api-ruling-request"),
    path("benchmarks/<slug:slug>/acuity/reference-sets/", api.reference_sets, name="api-reference-sets"),
    path(
        "benchmarks/<slug:slug>/acuity/reference-sets/<int:number>/items/",
        api.reference_items,
        name="api-reference-items",
    ),
]
