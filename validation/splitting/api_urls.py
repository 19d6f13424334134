"""Routes of runs that split criteria, and of their points, in the API."""

from django.urls import URLPattern, path

from validation.splitting import api

RUN = "benchmarks/<slug:slug>/splitting-runs/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/splitting-runs/", api.splitting_runs, name="api-splitting-runs"),
    path(f"{RUN}/", api.splitting_run, name="api-splitting-run"),
    path(f"{RUN}/cancel/", api.splitting_cancel, name="api-splitting-cancel"),
    path(f"{RUN}/resume/", api.splitting_resume, name="api-splitting-resume"),
    path(f"{RUN}/replay/", api.splitting_replay, name="api-splitting-replay"),
    path(f"{RUN}/freeze/", api.splitting_freeze, name="api-splitting-freeze"),
    path(f"{RUN}/points/", api.points, name="api-splitting-points"),
    path(f"{RUN}/points/<str:case>/", api.case_points, name="api-splitting-case"),
]
