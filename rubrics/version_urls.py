"""Addresses of reviews and versions of rubrics; part of `rubrics.urls`, before the pages of a single case."""

from django.urls import URLPattern, path

from rubrics.views import review_queue, reviews, revisions, versions

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
