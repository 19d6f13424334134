"""Routes of near-miss pairs in the API."""

from django.urls import URLPattern, path

from validation.pairs import api

PAIRS = "benchmarks/<slug:slug>/pairs"

urlpatterns: list[URLPattern] = [
    path(f"{PAIRS}/", api.pairs, name="api-pairs"),
    path(f"{PAIRS}/uploads/", api.upload, name="api-pair-uploads"),
    path("benchmarks/<slug:slug>/pairs-to-judge/next/", api.next_pair, name="api-next-pair"),
    path("benchmarks/<slug:slug>/pairs-to-judge/<str:public_id>/", api.judgement, name="api-pair-judgement"),
    path("benchmarks/<slug:slug>/pairs-to-judge/<str:public_id>/skip/", api.skip, name="api-pair-skip"),
    path(f"{PAIRS}/<str:public_id>/", api.pair, name="api-pair"),
]
