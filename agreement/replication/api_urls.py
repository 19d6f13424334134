"""API routes of replications."""

from django.urls import URLPattern, path

from agreement.replication import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/replications/", api.Replications.as_view(), name="api-replications"),
    path("benchmarks/<slug:slug>/replications/papers/", api.Papers.as_view(), name="api-replication-papers"),
    path(
        "benchmarks/<slug:slug>/replications/<str:public_id>/",
        api.ReplicationDetail.as_view(),
        name="api-replication",
    ),
    path(
        "benchmarks/<slug:slug>/replications/<str:public_id>/replication.zip",
        api.Archive.as_view(),
        name="api-replication-archive",
    ),
    path(
        "benchmarks/<slug:slug>/replications/<str:public_id>/published.csv",
        api.Published.as_view(),
        name="api-replication-published",
    ),
    path(
        "benchmarks/<slug:slug>/replications/<str:public_id>/tables/<slug:name>.csv",
        api.ArtefactTable.as_view(),
        name="api-replication-table",
    ),
]
