"""API routes of agreement: raters, thresholds, slices, and those of its packages."""

from django.urls import URLPattern, URLResolver, include, path

from agreement.api import raters, slices, thresholds

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("agreement.exports.api_urls")),
    path("", include("agreement.leaderboard.api_urls")),
    path("", include("agreement.planning.api_urls")),
    path("", include("agreement.replication.api_urls")),
    path("", include("agreement.reports.api_urls")),
    path("benchmarks/<slug:slug>/raters/", raters.Raters.as_view(), name="api-raters"),
    path("benchmarks/<slug:slug>/thresholds/", thresholds.Thresholds.as_view(), name="api-thresholds"),
    path("benchmarks/<slug:slug>/slices/", slices.Slices.as_view(), name="api-slices"),
    path("benchmarks/<slug:slug>/slices/preview/", slices.SlicePreview.as_view(), name="api-slices-preview"),
    path("benchmarks/<slug:slug>/slices/<slug:name>/", slices.SliceDetail.as_view(), name="api-slice"),
    path("benchmarks/<slug:slug>/slices/<slug:name>/cases.csv", slices.SliceCases.as_view(), name="api-slice-cases"),
    path(
        "benchmarks/<slug:slug>/slices/<slug:name>/retire/",
        slices.SliceRetirement.as_view(),
        name="api-slice-retire",
    ),
]
