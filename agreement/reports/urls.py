"""Routes of reports: the lists, and one report with its files."""

from django.urls import URLPattern, path

from agreement.reports import decision_views, download_views, freshness_views, reading_views, views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/agreement/", views.section, {"section": "agreement"}, name="reports"),
    path("b/<slug:slug>/scores/", views.section, {"section": "scores"}, name="scores"),
    path("b/<slug:slug>/acuity/", views.section, {"section": "acuity"}, name="acuity"),
    path("b/<slug:slug>/validity/", views.section, {"section": "validity"}, name="validity"),
    path("b/<slug:slug>/composition/", views.section, {"section": "composition"}, name="composition"),
    path("b/<slug:slug>/calibration/", views.section, {"section": "calibration"}, name="calibration"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/", views.report, name="report"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/progress", views.progress, name="progress"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/recompute", views.recompute, name="recompute"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/naming", views.naming, name="naming"),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/decisions/", decision_views.decisions, name="decisions"
    ),
    path("b/<slug:slug>/acuity/<str:public_id>/readings/", reading_views.readings, name="readings"),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/freshness", freshness_views.freshness, name="freshness"
    ),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/report.zip", download_views.archive, name="archive"),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/report.xlsx", download_views.workbook, name="workbook"
    ),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/methods.<text_ending:ending>",
        download_views.methods,
        name="methods",
    ),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/tables/<slug:name>.<table_ending:ending>",
        download_views.table_file,
        name="table",
    ),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/figures/<slug:name>.<figure_ending:ending>",
        download_views.figure_file,
        name="figure",
    ),
    # A name for links to the CSV of a table. A request for this address reaches the route `table`, which comes first.
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/tables/<slug:name>.csv",
        download_views.table_file,
        {"ending": "csv"},
        name="table-csv",
    ),
]
