"""API routes of written responses."""

from django.urls import URLPattern, path

from annotation.writing import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/writing/", api.create, name="api-writing-new"),
    path("work/writing/", api.tasks, name="api-writing-tasks"),
    path("work/writing/<str:public_id>/", api.task, name="api-writing-task"),
    path("work/writing/<str:public_id>/save/", api.save, name="api-writing-save"),
    path("work/writing/<str:public_id>/submit/", api.submit, name="api-writing-submit"),
]
