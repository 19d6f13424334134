"""Routes of agreement, scores, acuity, the validity of rubrics, and calibration."""

from django.urls import URLPattern, URLResolver, include, path

from agreement.views import both_sides, side_by_side, subsets, thresholds

app_name = "agreement"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("agreement.exports.urls")),
    path("", include("agreement.failures.urls")),
    path("", include("agreement.planning.urls")),
    path("b/<slug:slug>/calibration/sign/", thresholds.sign_threshold, name="sign-threshold"),
    path("b/<slug:slug>/calibration/thresholds.csv", thresholds.thresholds_csv, name="thresholds-csv"),
    path("b/<slug:slug>/scores/slices/", subsets.slices, name="slices"),
    path("b/<slug:slug>/scores/slices/preview", subsets.slices_preview, name="slices-preview"),
    path("b/<slug:slug>/scores/slices/<slug:name>.csv", subsets.slice_csv, name="slice-csv"),
    path("b/<slug:slug>/scores/slices/<slug:name>/retire", subsets.slice_retire, name="slice-retire"),
    path("b/<slug:slug>/agreement/<str:public_id>/pair/<str:response_id>/", side_by_side.pair, name="pair"),
    path("b/<slug:slug>/scores/<str:public_id>/both-sides/", both_sides.cases, name="both-sides"),
    path("b/<slug:slug>/scores/<str:public_id>/both-sides/<str:response_id>/", both_sides.pair, name="both-sides-pair"),
    path(
        "b/<slug:slug>/scores/<str:public_id>/both-sides/<str:response_id>/pair.<table_ending:ending>",
        both_sides.pair_file,
        name="both-sides-file",
    ),
    path("", include("agreement.leaderboard.urls")),
    path("", include("agreement.replication.urls")),
    # This must come after the routes above: the route of a report accepts any word in the place of its id.
    path("", include("agreement.reports.urls")),
]
