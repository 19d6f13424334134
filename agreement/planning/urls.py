"""Routes of study plans."""

from django.urls import URLPattern, path

from agreement.planning import acuity_plan_views, views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/planning/", views.planning_page, name="planning"),
    path("b/<slug:slug>/planning/acuity/", acuity_plan_views.acuity_plans, name="acuity-plans"),
    path(
        "b/<slug:slug>/planning/acuity/<int:number>.json", acuity_plan_views.acuity_plan_file, name="acuity-plan-file"
    ),
    path(
        "b/<slug:slug>/planning/acuity/<int:number>/sign", acuity_plan_views.acuity_plan_sign, name="acuity-plan-sign"
    ),
    path("b/<slug:slug>/planning/<slug:name>.csv", views.planning_csv, name="planning-csv"),
    path("b/<slug:slug>/planning/curve.<slug:suffix>", views.planning_figure, name="planning-figure"),
]
