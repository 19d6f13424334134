"""The route of trials."""

from django.urls import URLPattern, path

from scoring.endpoint_trials import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/endpoint-trials/<str:public_id>/", views.endpoint_trial, name="endpoint-trial"),
]
