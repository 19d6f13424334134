"""The route from a criterion to the suggestion that it began as."""

from django.urls import URLPattern, path

from drafting.provenance import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/suggestions/<str:public_id>/", views.origin, name="origin"),
]
