"""Routes of failures."""

from django.urls import URLPattern, path

from agreement.failures import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/coding/<int:version>/failures/<slug:code>/", views.responses, name="failure-responses"),
]
