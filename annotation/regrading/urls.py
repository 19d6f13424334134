"""Routes of regrading what was graded under an older version of a rubric."""

from django.urls import URLPattern, path

from annotation.regrading import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/regrading/", views.regrading, name="regrading"),
    path("b/<slug:slug>/regrading.csv", views.regrading_csv, name="regrading-csv"),
]
