"""Routes of the pages of runs of drafting."""

from django.urls import URLPattern, path

from drafting.runs import views

RUN = "b/<slug:slug>/drafting/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/drafting/", views.PAGES.runs, name="drafting"),
    path("b/<slug:slug>/drafting/new/", views.drafting_new, name="drafting-new"),
    path("b/<slug:slug>/drafting/new/size", views.drafting_size, name="drafting-size"),
    path(f"{RUN}/", views.PAGES.run_page, name="drafting-run"),
    path(f"{RUN}/progress", views.PAGES.progress, name="drafting-progress"),
    path(f"{RUN}/cancel", views.PAGES.cancel, name="drafting-cancel"),
    path(f"{RUN}/resume", views.PAGES.resume, name="drafting-resume"),
    path(f"{RUN}/replay", views.PAGES.replay, name="drafting-replay"),
    path(f"{RUN}/suggestions.csv", views.drafting_csv, name="drafting-csv"),
    path(f"{RUN}/tables/<slug:table>.csv", views.drafting_table, name="drafting-table"),
    path(f"{RUN}/cases/", views.drafting_cases, name="drafting-cases"),
    path(f"{RUN}/cases/<str:case>/", views.drafting_case, name="drafting-case"),
]
