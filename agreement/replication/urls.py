"""Routes of replications."""

from django.urls import URLPattern, path

from agreement.replication import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/agreement/replication/", views.replication, name="replication"),
    path("b/<slug:slug>/agreement/replication/<slug:paper>.csv", views.artefacts_csv, name="replication-artefacts"),
    path("b/<slug:slug>/agreement/replication/<str:public_id>/progress", views.progress, name="replication-progress"),
    path(
        "b/<slug:slug>/agreement/replication/<str:public_id>/freshness", views.freshness, name="replication-freshness"
    ),
    path(
        "b/<slug:slug>/agreement/replication/<str:public_id>/replication.zip",
        views.archive,
        name="replication-archive",
    ),
    path(
        "b/<slug:slug>/agreement/replication/<str:public_id>/published.csv",
        views.published_csv,
        name="replication-published",
    ),
    path(
        "b/<slug:slug>/agreement/replication/<str:public_id>/tables/<slug:name>.<table_ending:ending>",
        views.artefact_table,
        name="replication-table",
    ),
]
