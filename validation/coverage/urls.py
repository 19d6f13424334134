"""Routes of runs of coverage and of physicians' decisions on them."""

from django.urls import URLPattern, path

from validation.coverage import views

RUN = "b/<slug:slug>/rubric-coverage/<str:public_id>"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/rubric-coverage/", views.PAGES.runs, name="coverage"),
    path("b/<slug:slug>/rubric-coverage/new/", views.coverage_new, name="coverage-new"),
    path("b/<slug:slug>/rubric-coverage/new/size", views.coverage_size, name="coverage-size"),
    path("b/<slug:slug>/rubric-coverage/decide/", views.queue, name="coverage-queue"),
    path("b/<slug:slug>/rubric-coverage/decide/<str:decision>/", views.decision, name="coverage-decision"),
    path("b/<slug:slug>/rubric-coverage/decide/<str:decision>/skip", views.skip, name="coverage-skip"),
    path(f"{RUN}/", views.PAGES.run_page, name="coverage-run"),
    path(f"{RUN}/progress", views.PAGES.progress, name="coverage-progress"),
    path(f"{RUN}/cancel", views.PAGES.cancel, name="coverage-cancel"),
    path(f"{RUN}/resume", views.PAGES.resume, name="coverage-resume"),
    path(f"{RUN}/replay", views.PAGES.replay, name="coverage-replay"),
    path(f"{RUN}/ask", views.coverage_ask, name="coverage-ask"),
    path(f"{RUN}/answers.csv", views.coverage_csv, name="coverage-csv"),
    path(f"{RUN}/cases/<str:case>/", views.coverage_case, name="coverage-case"),
]
