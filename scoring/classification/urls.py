"""Routes of runs that classify."""

from django.urls import URLPattern, path

from scoring.classification import views

RUN = "b/<slug:slug>/case-acuity/runs/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/case-acuity/runs/", views.PAGES.runs, name="classification"),
    path("b/<slug:slug>/case-acuity/runs/new/", views.classification_new, name="classification-new"),
    path("b/<slug:slug>/case-acuity/runs/new/size", views.classification_size, name="classification-size"),
    path(f"{RUN}/", views.PAGES.run_page, name="classification-run"),
    path(f"{RUN}/progress", views.PAGES.progress, name="classification-progress"),
    path(f"{RUN}/cancel", views.PAGES.cancel, name="classification-cancel"),
    path(f"{RUN}/resume", views.PAGES.resume, name="classification-resume"),
    path(f"{RUN}/readings.csv", views.classification_csv, name="classification-csv"),
]
