"""API routes of reports and their files."""

from django.urls import URLPattern, path

from agreement.reports import api

_REPORT = "benchmarks/<slug:slug>/reports/<str:public_id>/"
urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/reports/", api.Reports.as_view(), name="api-reports"),
    path("benchmarks/<slug:slug>/reports/<str:public_id>/", api.ReportDetail.as_view(), name="api-report"),
    path(f"{_REPORT}freshness/", api.Freshness.as_view(), name="api-report-freshness"),
    path(f"{_REPORT}methods/", api.Methods.as_view(), name="api-report-methods"),
    path(f"{_REPORT}recompute/", api.Recompute.as_view(), name="api-report-recompute"),
    path(f"{_REPORT}report.zip", api.Archive.as_view(), name="api-report-archive"),
    path(f"{_REPORT}report.xlsx", api.Workbook.as_view(), name="api-report-workbook"),
    path(f"{_REPORT}tables/<slug:name>/", api.TableRows.as_view(), name="api-report-rows"),
    path(f"{_REPORT}tables/<slug:name>.<table_ending:ending>", api.TableFile.as_view(), name="api-report-table"),
    path(f"{_REPORT}figures/<slug:name>.<figure_ending:ending>", api.FigureFile.as_view(), name="api-report-figure"),
]
