"""Routes of runs of refinement."""

from django.urls import URLPattern, path

from validation.refinement import views

RUN = "b/<slug:slug>/refinement/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/refinement/", views.PAGES.runs, name="refinement"),
    path("b/<slug:slug>/refinement/new/", views.refinement_new, name="refinement-new"),
    path("b/<slug:slug>/refinement/new/size", views.refinement_size, name="refinement-size"),
    path(f"{RUN}/", views.PAGES.run_page, name="refinement-run"),
    path(f"{RUN}/progress", views.PAGES.progress, name="refinement-progress"),
    path(f"{RUN}/cancel", views.PAGES.cancel, name="refinement-cancel"),
    path(f"{RUN}/resume", views.PAGES.resume, name="refinement-resume"),
    path(f"{RUN}/replay", views.PAGES.replay, name="refinement-replay"),
    path(f"{RUN}/texts.csv", views.refinement_csv, name="refinement-csv"),
    path(f"{RUN}/cases/<str:case>/", views.refinement_case, name="refinement-case"),
]
