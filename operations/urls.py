"""Routes of the pages of the server."""

from django.urls import URLPattern, path

from operations.views import status

app_name = "operations"
urlpatterns: list[URLPattern] = [
    path("server/", status.status, name="status"),
]
