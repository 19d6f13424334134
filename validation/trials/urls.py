"""Routes of runs of trials."""

from django.urls import URLPattern, path

from validation.trials import views

RUN = "b/<slug:slug>/pair-runs/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/pair-runs/", views.pair_runs, name="pair-runs"),
    path("b/<slug:slug>/pair-runs/new/", views.pair_run_new, name="pair-run-new"),
    path("b/<slug:slug>/pair-runs/new/size", views.pair_run_size, name="pair-run-size"),
    path(f"{RUN}/", views.pair_run, name="pair-run"),
    path(f"{RUN}/progress", views.pair_run_progress, name="pair-run-progress"),
    path(f"{RUN}/cancel", views.pair_run_cancel, name="pair-run-cancel"),
    path(f"{RUN}/resume", views.pair_run_resume, name="pair-run-resume"),
    path(f"{RUN}/replay", views.pair_run_replay, name="pair-run-replay"),
    path(f"{RUN}/trials.csv", views.pair_run_csv, name="pair-run-csv"),
]
