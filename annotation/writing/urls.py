"""Routes of written responses."""

from django.urls import URLPattern, path

from annotation.writing import admin_views, views

urlpatterns: list[URLPattern] = [
    path("writing/<str:public_id>/", views.task, name="writing-task"),
    path("writing/<str:public_id>/save/", views.save, name="writing-save"),
    path("writing/<str:public_id>/check/", views.check, name="writing-check"),
    path("writing/<str:public_id>/submit/", views.submit, name="writing-submit"),
    path("writing/<str:public_id>/time/", views.time, name="writing-time"),
    path("b/<slug:slug>/batches/write/", admin_views.new, name="writing-new"),
    path("b/<slug:slug>/batches/write/preview/", admin_views.preview, name="writing-preview"),
    path("b/<slug:slug>/batches/<str:public_id>/writing.csv", admin_views.tasks_csv, name="writing-csv"),
]
