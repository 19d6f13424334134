"""Routes of agreement, scores and calibration: lists with forms, and reports with their files."""

from django.urls import URLPattern, path

from agreement import converters as converters  # registers the parts of an address that the paths name
from agreement import views
from agreement.exports import views as exports
from agreement.views import planning

app_name = "agreement"
urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/agreement/", views.section, {"section": "agreement"}, name="reports"),
    path("b/<slug:slug>/scores/", views.section, {"section": "scores"}, name="scores"),
    path("b/<slug:slug>/calibration/", views.section, {"section": "calibration"}, name="calibration"),
    path("b/<slug:slug>/planning/", planning.planning_page, name="planning"),
    path("b/<slug:slug>/planning/<slug:name>.csv", planning.planning_csv, name="planning-csv"),
    path("b/<slug:slug>/planning/curve.<slug:suffix>", planning.planning_figure, name="planning-figure"),
    path("b/<slug:slug>/calibration/sign/", views.sign_threshold, name="sign-threshold"),
    path("b/<slug:slug>/calibration/thresholds.csv", views.thresholds_csv, name="thresholds-csv"),
    path("b/<slug:slug>/scores/slices/", views.slices, name="slices"),
    path("b/<slug:slug>/scores/slices/preview", views.slices_preview, name="slices-preview"),
    path("b/<slug:slug>/scores/slices/<slug:name>.csv", views.slice_csv, name="slice-csv"),
    path("b/<slug:slug>/scores/slices/<slug:name>/retire", views.slice_retire, name="slice-retire"),
    path("b/<slug:slug>/agreement/decisions.csv", exports.decisions_csv, name="decisions-csv"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/", views.report, name="report"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/progress", views.progress, name="progress"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/recompute", views.recompute, name="recompute"),
    path("b/<slug:slug>/agreement/<str:public_id>/pair/<str:response_id>/", views.pair, name="pair"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/decisions/", views.decisions, name="decisions"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/freshness", views.freshness, name="freshness"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/report.zip", views.archive, name="archive"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/report.xlsx", views.workbook, name="workbook"),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/methods.<text_ending:ending>",
        views.methods,
        name="methods",
    ),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/tables/<slug:name>.<table_ending:ending>",
        views.table_file,
        name="table",
    ),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/figures/<slug:name>.<figure_ending:ending>",
        views.figure_file,
        name="figure",
    ),
    # What pages name by itself: of most tables the CSV.
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/tables/<slug:name>.csv",
        views.table_file,
        {"ending": "csv"},
        name="table-csv",
    ),
]
