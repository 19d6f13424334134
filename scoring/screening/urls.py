"""Routes of screenings."""

from django.urls import URLPattern, path

from scoring.screening import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/screening/", views.screenings, name="screenings"),
    path("b/<slug:slug>/screening/new/", views.new_screening, name="screening-new"),
    path("b/<slug:slug>/screening/<str:public_id>/", views.screening, name="screening"),
    path("b/<slug:slug>/screening/<str:public_id>/decide/", views.screening_decide, name="screening-decide"),
    path("b/<slug:slug>/screening/<str:public_id>/close/", views.screening_close, name="screening-close"),
    path("b/<slug:slug>/screening/<str:public_id>/cases.csv", views.screening_csv, name="screening-csv"),
    path(
        "b/<slug:slug>/screening/<str:public_id>/distribution.csv",
        views.distribution_csv,
        name="screening-distribution-csv",
    ),
]
