"""Routes of the progress of a benchmark."""

from django.urls import URLPattern, path

from annotation.dashboard import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/progress/", views.progress, name="progress"),
    path("b/<slug:slug>/progress/<slug:table>.csv", views.progress_table, name="progress-table"),
]
