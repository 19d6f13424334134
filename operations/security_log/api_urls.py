"""API routes of the security log."""

from django.urls import URLPattern, path

from operations.security_log import api

urlpatterns: list[URLPattern] = [
    path("server/security-log/", api.security_log, name="api-security-log"),
    path("benchmarks/<slug:slug>/security-log/", api.records, name="api-records"),
    path("account/activity/", api.activity, name="api-activity"),
]
