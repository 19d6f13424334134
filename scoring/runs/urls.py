"""Routes of judge runs."""

from django.urls import URLPattern, path

from scoring.acuity import judge_views, read_views
from scoring.runs import comparing_views, views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/judges/runs/new/", views.new_run, name="run-new"),
    path("b/<slug:slug>/judges/runs/size", views.run_size, name="run-size"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/", views.run, name="run"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/readings/", judge_views.run_readings, name="run-readings"),
    path(
        "b/<slug:slug>/judges/runs/<str:public_id>/readings.csv",
        judge_views.run_readings_csv,
        name="run-readings-csv",
    ),
    path("b/<slug:slug>/judges/runs/<str:public_id>/read-advice/", read_views.read_batch_new, name="read-batch-new"),
    path(
        "b/<slug:slug>/judges/runs/<str:public_id>/read-advice/preview/",
        read_views.read_batch_preview,
        name="read-batch-preview",
    ),
    path(
        "b/<slug:slug>/judges/runs/<str:public_id>/physicians.csv",
        read_views.read_answers_csv,
        name="read-answers-csv",
    ),
    path("b/<slug:slug>/judges/runs/<str:public_id>/progress", views.run_progress, name="run-progress"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/cancel", views.run_cancel, name="run-cancel"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/resume", views.run_resume, name="run-resume"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/continue", views.run_continue, name="run-continue"),
    path(
        "b/<slug:slug>/judges/runs/<str:public_id>/comparison.csv",
        comparing_views.run_comparison_csv,
        name="run-comparison-csv",
    ),
]
