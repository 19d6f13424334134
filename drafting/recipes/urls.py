"""Routes of the pages of recipes and of the terms of drafting."""

from django.urls import URLPattern, path

from drafting.recipes import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/recipes/", views.recipes, name="recipes"),
    path("b/<slug:slug>/recipes/new/", views.recipe_new, name="recipe-new"),
    path("b/<slug:slug>/recipes/terms/", views.terms, name="terms"),
    path("b/<slug:slug>/recipes/<str:public_id>/", views.recipe, name="recipe"),
    path("b/<slug:slug>/recipes/<str:public_id>/edit/", views.recipe_edit, name="recipe-edit"),
    path("b/<slug:slug>/recipes/<str:public_id>/copy/", views.recipe_copy, name="recipe-copy"),
    path("b/<slug:slug>/recipes/<str:public_id>/preview/", views.recipe_preview, name="recipe-preview"),
    path("b/<slug:slug>/recipes/<str:public_id>/difference/", views.recipe_difference, name="recipe-difference"),
]
