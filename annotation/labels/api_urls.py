"""API routes of case labels."""

from django.urls import URLPattern, path

from annotation.labels import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/labels/", api.questions, name="api-label-questions"),
    path("benchmarks/<slug:slug>/labels/<str:public_id>/", api.question, name="api-label-question"),
    path("work/labels/", api.tasks, name="api-label-tasks"),
    path("work/labels/<str:public_id>/", api.task, name="api-label-task"),
    path("work/labels/<str:public_id>/answers/", api.answers, name="api-label-answers"),
    path("work/labels/<str:public_id>/submit/", api.submit, name="api-label-submit"),
]
