"""Routes of runs that make pairs."""

from django.urls import URLPattern, path

from validation.making import views

RUN = "b/<slug:slug>/pair-making/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/pair-making/", views.PAGES.runs, name="making"),
    path("b/<slug:slug>/pair-making/new/", views.making_new, name="making-new"),
    path("b/<slug:slug>/pair-making/new/size", views.making_size, name="making-size"),
    path(f"{RUN}/", views.PAGES.run_page, name="making-run"),
    path(f"{RUN}/progress", views.PAGES.progress, name="making-progress"),
    path(f"{RUN}/cancel", views.PAGES.cancel, name="making-cancel"),
    path(f"{RUN}/resume", views.PAGES.resume, name="making-resume"),
    path(f"{RUN}/pairs.csv", views.making_csv, name="making-csv"),
]
