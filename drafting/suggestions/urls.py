"""Routes of the panel of suggestions beside the rubric editor."""

from django.urls import URLPattern, path

from drafting.suggestions import views

_CASE = "b/<slug:slug>/write/<str:public_id>/suggestions"

urlpatterns: list[URLPattern] = [
    path(f"{_CASE}/", views.panel, name="suggestions"),
    path(f"{_CASE}/open/", views.open_panel, name="suggestions-open"),
    path(f"{_CASE}/ask/", views.ask, name="suggestions-ask"),
    path(f"{_CASE}/decide/", views.decide, name="suggestions-decide"),
]
