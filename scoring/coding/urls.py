"""Routes of runs that code."""

from django.urls import URLPattern, path

from scoring.coding import views

RUN = "b/<slug:slug>/coding/judges/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/coding/judges/", views.PAGES.runs, name="coding"),
    path("b/<slug:slug>/coding/judges/new/", views.coding_new, name="coding-new"),
    path("b/<slug:slug>/coding/judges/new/size", views.coding_size, name="coding-size"),
    path(f"{RUN}/", views.PAGES.run_page, name="coding-run"),
    path(f"{RUN}/progress", views.PAGES.progress, name="coding-progress"),
    path(f"{RUN}/cancel", views.PAGES.cancel, name="coding-cancel"),
    path(f"{RUN}/resume", views.PAGES.resume, name="coding-resume"),
    path(f"{RUN}/replay", views.PAGES.replay, name="coding-replay"),
    path(f"{RUN}/codes.csv", views.coding_csv, name="coding-csv"),
]
