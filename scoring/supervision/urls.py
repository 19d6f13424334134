"""Route of the files of verdicts with reasons, for training a model on them."""

from django.urls import URLPattern, path

from scoring.supervision import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/judges/supervision/", views.supervision, name="supervision"),
    path("b/<slug:slug>/judges/supervision/fine_tune.py", views.training_script, name="training-script"),
]
