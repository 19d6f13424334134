"""HTML doors of scoring: judges, runs and verdicts of a benchmark."""

from django.urls import URLPattern

app_name = "scoring"

urlpatterns: list[URLPattern] = []
