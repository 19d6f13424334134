"""Routes of a trained judge's model card and calibration curve."""

from django.urls import URLPattern, path

from scoring.trained import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/judges/<str:public_id>/model-card.csv", views.model_card_csv, name="model-card-csv"),
    path("b/<slug:slug>/judges/<str:public_id>/calibration.svg", views.calibration_svg, name="calibration-svg"),
    path("b/<slug:slug>/judges/<str:public_id>/calibration.png", views.calibration_png, name="calibration-png"),
]
