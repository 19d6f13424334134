"""Routes of reviews and versions of rubrics; part of `rubrics.urls`, before the pages of a case, and of the API."""

from django.urls import URLPattern, path

from rubrics.versions import api
from rubrics.versions import review_queue_views as review_queue
from rubrics.versions import review_views as reviews
from rubrics.versions import revision_views as revisions
from rubrics.versions import views as versions

_CASE = "benchmarks/<slug:slug>/cases/<str:public_id>"
api_urlpatterns: list[URLPattern] = [
    path(f"{_CASE}/versions/", api.history, name="api-versions"),
    path(f"{_CASE}/versions/diff/", api.difference, name="api-versions-diff"),
    path(f"{_CASE}/review/", api.review, name="api-review"),
    path(f"{_CASE}/send-to-review/", api.send_to_review, name="api-send-to-review"),
    path(f"{_CASE}/take-back/", api.take_back, name="api-take-back"),
    path(f"{_CASE}/discard/", api.discard, name="api-discard-draft"),
    path("benchmarks/<slug:slug>/reviews/", api.reviews, name="api-reviews"),
    path("benchmarks/<slug:slug>/drafts/send/", api.send_many, name="api-drafts-send"),
]
urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/revisions/open/", revisions.open_revision, name="revision-open"),
    path("b/<slug:slug>/write/reviews/", review_queue.reviews, name="reviews"),
    path("b/<slug:slug>/write/drafts/", review_queue.drafts, name="drafts"),
    path("b/<slug:slug>/write/<str:public_id>/review/", reviews.review, name="review"),
    path("b/<slug:slug>/write/<str:public_id>/send-to-review/", reviews.send_to_review, name="send-to-review"),
    path("b/<slug:slug>/write/<str:public_id>/take-back/", reviews.take_back, name="take-back"),
    path("b/<slug:slug>/write/<str:public_id>/discard/", reviews.discard_draft, name="discard-draft"),
    path("b/<slug:slug>/write/<str:public_id>/history/", versions.history, name="history"),
    path("b/<slug:slug>/write/<str:public_id>/diff/", versions.diff, name="diff"),
    path("b/<slug:slug>/write/<str:public_id>/diff.csv", versions.diff_csv, name="diff-csv"),
]
