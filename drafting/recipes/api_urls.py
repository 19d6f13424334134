"""Routes of recipes in the API."""

from django.urls import URLPattern, path

from drafting.recipes import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/recipes/", api.recipes, name="api-recipes"),
    path("benchmarks/<slug:slug>/recipes/terms/", api.terms, name="api-drafting-terms"),
    path("benchmarks/<slug:slug>/recipes/<str:public_id>/", api.recipe, name="api-recipe"),
    path("benchmarks/<slug:slug>/recipes/<str:public_id>/versions/", api.versions, name="api-recipe-versions"),
]
