"""Routes of rubric sets in the API."""

from django.urls import URLPattern, path

from validation.sets import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/rubric-sets/", api.rubric_sets, name="api-rubric-sets"),
    path("benchmarks/<slug:slug>/rubric-sets/frame/", api.frame, name="api-rubric-set-frame"),
    path("benchmarks/<slug:slug>/rubric-sets/uploads/", api.upload, name="api-rubric-set-uploads"),
    path(
        "benchmarks/<slug:slug>/rubric-sets/compare/<str:first>/<str:second>/",
        api.compare,
        name="api-rubric-sets-compare",
    ),
    path("benchmarks/<slug:slug>/rubric-sets/<str:public_id>/", api.rubric_set, name="api-rubric-set"),
    path("benchmarks/<slug:slug>/rubric-sets/<str:public_id>/items/", api.items, name="api-rubric-set-items"),
    path("benchmarks/<slug:slug>/rubric-sets/<str:public_id>/mends/", api.mends, name="api-rubric-set-mends"),
]
