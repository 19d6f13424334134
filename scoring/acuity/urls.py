"""Routes of the pages about acuity."""

from django.urls import URLPattern, path

from scoring.acuity import framing_views, views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/case-acuity/", views.acuity, name="acuity"),
    path("b/<slug:slug>/case-acuity/flow.csv", views.flow_csv, name="acuity-flow-csv"),
    path("b/<slug:slug>/case-acuity/labels.csv", views.labels_csv, name="acuity-labels-csv"),
    path("b/<slug:slug>/case-acuity/source_labels.csv", views.source_labels_csv, name="acuity-source-labels-csv"),
    path("b/<slug:slug>/case-acuity/candidates.csv", views.series_csv, name="acuity-candidates-csv"),
    path("b/<slug:slug>/case-acuity/readings.csv", views.readings_csv, name="acuity-readings-csv"),
    path("b/<slug:slug>/case-acuity/unusable.csv", views.unusable_csv, name="acuity-unusable-csv"),
    path("b/<slug:slug>/case-acuity/imports.csv", views.imports_csv, name="acuity-imports-csv"),
    path("b/<slug:slug>/case-acuity/import/", views.new_import, name="acuity-import"),
    path("b/<slug:slug>/case-acuity/imports/<str:public_id>/confirm/", views.confirm, name="acuity-confirm"),
    path("b/<slug:slug>/case-acuity/map-again/", views.map_again, name="acuity-map-again"),
    path("b/<slug:slug>/case-acuity/scales/", views.scales, name="acuity-scales"),
    path("b/<slug:slug>/case-acuity/scales/scales.csv", views.levels_csv, name="acuity-scales-csv"),
    path("b/<slug:slug>/case-acuity/scales/rules.csv", views.rules_csv, name="acuity-rules-csv"),
    path("b/<slug:slug>/case-acuity/scales/new/", views.new_scale, name="acuity-scale-new"),
    path("b/<slug:slug>/case-acuity/schemes/new/", views.new_scheme, name="acuity-scheme-new"),
    path("b/<slug:slug>/case-acuity/framings/", framing_views.framings, name="acuity-framings"),
]
