"""Routes of reference sets."""

from django.urls import URLPattern, path

from annotation.acuity import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/reference-sets/", views.reference_sets, name="reference-sets"),
    path("b/<slug:slug>/reference-sets.csv", views.reference_sets_csv, name="reference-sets-csv"),
    path("b/<slug:slug>/reference-sets/new/", views.new, name="reference-set-new"),
    path("b/<slug:slug>/reference-sets/preview", views.preview, name="reference-set-preview"),
    path("b/<slug:slug>/reference-sets/<int:number>/", views.reference_set, name="reference-set"),
    path("b/<slug:slug>/reference-sets/<int:number>/reference.csv", views.items_csv, name="reference-set-csv"),
    path(
        "b/<slug:slug>/reference-sets/<int:number>/since/<int:earlier>.csv",
        views.difference_csv,
        name="reference-set-difference",
    ),
]
