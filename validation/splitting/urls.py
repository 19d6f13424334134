"""Routes of runs that split criteria, and of the pages on which authors correct points."""

from django.urls import URLPattern, path

from validation.splitting import points_views, views

RUN = "b/<slug:slug>/point-splitting/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/point-splitting/", views.PAGES.runs, name="splitting"),
    path("b/<slug:slug>/point-splitting/new/", views.splitting_new, name="splitting-new"),
    path("b/<slug:slug>/point-splitting/new/size", views.splitting_size, name="splitting-size"),
    path(f"{RUN}/", views.PAGES.run_page, name="splitting-run"),
    path(f"{RUN}/progress", views.PAGES.progress, name="splitting-progress"),
    path(f"{RUN}/cancel", views.PAGES.cancel, name="splitting-cancel"),
    path(f"{RUN}/resume", views.PAGES.resume, name="splitting-resume"),
    path(f"{RUN}/replay", views.PAGES.replay, name="splitting-replay"),
    path(f"{RUN}/freeze", views.splitting_freeze, name="splitting-freeze"),
    path(f"{RUN}/points.csv", views.splitting_csv, name="splitting-csv"),
    path(f"{RUN}/points/", points_views.points, name="splitting-points"),
    path(f"{RUN}/points/<str:case>/", points_views.case_points, name="splitting-case"),
    path(f"{RUN}/points/<str:case>/save/", points_views.save, name="splitting-save"),
]
