"""Routes of the trail of changes."""

from django.urls import URLPattern, path

from operations.trail import views

urlpatterns: list[URLPattern] = [
    path("server/changes/", views.server_changes, name="server-changes"),
    path("server/changes.csv", views.server_changes_csv, name="server-changes-csv"),
    path("b/<slug:slug>/records/changes/", views.changes, name="changes"),
    path("b/<slug:slug>/records/changes.csv", views.changes_csv, name="changes-csv"),
]
