"""Routes of reviews, histories and comparisons of rubrics, and of revising a frozen rubric."""

from django.urls import URLPattern, path

from rubrics.versions import review_queue_views, review_views, revision_views, views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/revisions/open/", revision_views.open_revision, name="revision-open"),
    path("b/<slug:slug>/write/reviews/", review_queue_views.reviews, name="reviews"),
    path("b/<slug:slug>/write/drafts/", review_queue_views.drafts, name="drafts"),
    path("b/<slug:slug>/write/<str:public_id>/review/", review_views.review, name="review"),
    path("b/<slug:slug>/write/<str:public_id>/send-to-review/", review_views.send_to_review, name="send-to-review"),
    path("b/<slug:slug>/write/<str:public_id>/take-back/", review_views.take_back, name="take-back"),
    path("b/<slug:slug>/write/<str:public_id>/discard/", review_views.discard_draft, name="discard-draft"),
    path("b/<slug:slug>/write/<str:public_id>/history/", views.history, name="history"),
    path("b/<slug:slug>/write/<str:public_id>/diff/", views.diff, name="diff"),
    path("b/<slug:slug>/write/<str:public_id>/diff.csv", views.diff_csv, name="diff-csv"),
    path("b/<slug:slug>/revisions/", revision_views.revisions, name="revisions"),
    path("b/<slug:slug>/revisions.csv", revision_views.revisions_csv, name="revisions-csv"),
    path("b/<slug:slug>/revisions/dismiss/", revision_views.dismiss, name="revision-dismiss"),
]
