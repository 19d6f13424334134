"""Routes of the pages of rubric sets."""

from django.urls import URLPattern, path

from validation.sets import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/rubric-sets/", views.rubric_sets, name="rubric-sets"),
    path("b/<slug:slug>/rubric-sets/new/", views.new_set, name="rubric-set-new"),
    path("b/<slug:slug>/rubric-sets/frame/", views.frame, name="rubric-set-frame"),
    path("b/<slug:slug>/rubric-sets/compare/", views.compare, name="rubric-sets-compare"),
    path(
        "b/<slug:slug>/rubric-sets/compare/<str:first>/<str:second>/measures.csv",
        views.compare_csv,
        name="rubric-sets-compare-csv",
    ),
    path(
        "b/<slug:slug>/rubric-sets/compare/<str:first>/<str:second>/cases.csv",
        views.compare_cases_csv,
        name="rubric-sets-cases-csv",
    ),
    path("b/<slug:slug>/rubric-sets/<str:public_id>/", views.rubric_set, name="rubric-set"),
    path("b/<slug:slug>/rubric-sets/<str:public_id>/items.csv", views.items_csv, name="rubric-set-csv"),
    path("b/<slug:slug>/rubric-sets/<str:public_id>/items.jsonl", views.items_jsonl, name="rubric-set-jsonl"),
    path("b/<slug:slug>/rubric-sets/<str:public_id>/mends.csv", views.mends_csv, name="rubric-set-mends-csv"),
    path("b/<slug:slug>/rubric-sets/<str:public_id>/points.csv", views.points_csv, name="rubric-set-points-csv"),
]
