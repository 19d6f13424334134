"""Routes of requesting responses from models."""

from django.urls import URLPattern, path

from scoring.generation import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/generation/", views.PAGES.runs, name="generation"),
    path("b/<slug:slug>/generation/new/", views.generation_new, name="generation-new"),
    path("b/<slug:slug>/generation/new/size", views.generation_size, name="generation-size"),
    path("b/<slug:slug>/generation/new/trial", views.generation_trial, name="generation-trial"),
    path("b/<slug:slug>/generation/<str:public_id>/", views.PAGES.run_page, name="generation-run"),
    path("b/<slug:slug>/generation/<str:public_id>/progress", views.PAGES.progress, name="generation-progress"),
    path("b/<slug:slug>/generation/<str:public_id>/cancel", views.PAGES.cancel, name="generation-cancel"),
    path("b/<slug:slug>/generation/<str:public_id>/resume", views.PAGES.resume, name="generation-resume"),
    path("b/<slug:slug>/generation/<str:public_id>/items.csv", views.generation_csv, name="generation-csv"),
]
