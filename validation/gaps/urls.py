"""The route of the page that says what a rubric lacks."""

from django.urls import URLPattern, path

from validation.gaps import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/write/<str:public_id>/lacks/", views.rubric_gaps, name="rubric-gaps"),
]
