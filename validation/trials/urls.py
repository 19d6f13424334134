"""Routes of runs of trials."""

from django.urls import URLPattern, path

from validation.trials import views

RUN = "b/<slug:slug>/pair-runs/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/pair-runs/", views.PAGES.runs, name="pair-runs"),
    path("b/<slug:slug>/pair-runs/new/", views.pair_run_new, name="trial-new"),
    path("b/<slug:slug>/pair-runs/new/size", views.pair_run_size, name="trial-size"),
    path(f"{RUN}/", views.PAGES.run_page, name="trial-run"),
    path(f"{RUN}/progress", views.PAGES.progress, name="trial-progress"),
    path(f"{RUN}/cancel", views.PAGES.cancel, name="trial-cancel"),
    path(f"{RUN}/resume", views.PAGES.resume, name="trial-resume"),
    path(f"{RUN}/replay", views.PAGES.replay, name="trial-replay"),
    path(f"{RUN}/trials.csv", views.pair_run_csv, name="trial-csv"),
]
