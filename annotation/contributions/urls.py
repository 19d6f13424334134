"""Routes of contributions."""

from django.urls import URLPattern, path

from annotation.contributions import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/contributions/", views.contributions, name="contributions"),
    path("b/<slug:slug>/contributions.csv", views.contributions_csv, name="contributions-csv"),
    path("b/<slug:slug>/contributions/acknowledgement", views.acknowledgement, name="acknowledgement"),
    path("b/<slug:slug>/contributions/payment.csv", views.payment_csv, name="payment-csv"),
    path("b/<slug:slug>/contributions/credentials.csv", views.credentials_csv, name="credentials-csv"),
]
