"""Pages of drafting."""

from django.urls import URLPattern, URLResolver

app_name = "drafting"

urlpatterns: list[URLPattern | URLResolver] = []
