"""Route of a rater's decisions as a file."""

from django.urls import URLPattern, path

from agreement.exports import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/agreement/decisions.csv", views.decisions_csv, name="decisions-csv"),
]
