"""Pages of agreement, scores and calibration: a list with a form each, and a report with what belongs to it."""

from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter

from agreement import views


class SectionConverter(StringConverter):
    """The part of a benchmark's pages in which reports of some kinds stand."""

    regex = "agreement|scores|calibration"


register_converter(SectionConverter, "report_section")

app_name = "agreement"
urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/agreement/", views.section, {"section": "agreement"}, name="reports"),
    path("b/<slug:slug>/scores/", views.section, {"section": "scores"}, name="scores"),
    path("b/<slug:slug>/calibration/", views.section, {"section": "calibration"}, name="calibration"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/", views.report, name="report"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/progress", views.progress, name="progress"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/recompute", views.recompute, name="recompute"),
    path("b/<slug:slug>/<report_section:section>/<str:public_id>/decisions/", views.decisions, name="decisions"),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/tables/<slug:name>.csv",
        views.table_csv,
        name="table-csv",
    ),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/figures/<slug:name>.svg",
        views.figure_svg,
        name="figure-svg",
    ),
    path(
        "b/<slug:slug>/<report_section:section>/<str:public_id>/figures/<slug:name>.png",
        views.figure_png,
        name="figure-png",
    ),
]
