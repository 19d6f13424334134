"""API routes of reviews and versions of rubrics."""

from django.urls import URLPattern, path

from rubrics.versions import api

_CASE = "benchmarks/<slug:slug>/cases/<str:public_id>"
urlpatterns: list[URLPattern] = [
    path(f"{_CASE}/versions/", api.history, name="api-versions"),
    path(f"{_CASE}/versions/diff/", api.difference, name="api-versions-diff"),
    path(f"{_CASE}/review/", api.review, name="api-review"),
    path(f"{_CASE}/send-to-review/", api.send_to_review, name="api-send-to-review"),
    path(f"{_CASE}/take-back/", api.take_back, name="api-take-back"),
    path(f"{_CASE}/discard/", api.discard, name="api-discard-draft"),
    path("benchmarks/<slug:slug>/reviews/", api.reviews, name="api-reviews"),
    path("benchmarks/<slug:slug>/drafts/send/", api.send_many, name="api-drafts-send"),
]
