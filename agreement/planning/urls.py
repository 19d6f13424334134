"""Routes of study plans."""

from django.urls import URLPattern, path

from agreement.planning import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/planning/", views.planning_page, name="planning"),
    path("b/<slug:slug>/planning/<slug:name>.csv", views.planning_csv, name="planning-csv"),
    path("b/<slug:slug>/planning/curve.<slug:suffix>", views.planning_figure, name="planning-figure"),
]
