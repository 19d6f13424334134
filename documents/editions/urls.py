"""Routes of editions of a document."""

from django.urls import path

from documents.editions import views

urlpatterns = [
    path("b/<slug:slug>/documents/<str:public_id>/citations/", views.citations, name="edition-citations"),
    path("b/<slug:slug>/documents/<str:public_id>/citations/look/", views.look_for_citations, name="edition-look"),
    path("b/<slug:slug>/documents/<str:public_id>/citations.csv", views.citations_csv, name="edition-citations-csv"),
]
