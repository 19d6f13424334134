"""Routes of the security log."""

from django.urls import URLPattern, path

from operations.security_log import views

CSV, JSONL = {"form": "csv"}, {"form": "jsonl"}
urlpatterns: list[URLPattern] = [
    path("server/security-log/", views.security_log, name="security-log"),
    path("server/security-log.csv", views.security_log_file, CSV, name="security-log-csv"),
    path("server/security-log.jsonl", views.security_log_file, JSONL, name="security-log-jsonl"),
    path("b/<slug:slug>/records/", views.records, name="records"),
    path("b/<slug:slug>/records.csv", views.records_file, CSV, name="records-csv"),
    path("b/<slug:slug>/records.jsonl", views.records_file, JSONL, name="records-jsonl"),
    path("profile/activity/", views.activity, name="activity"),
    path("profile/activity.csv", views.activity_file, CSV, name="activity-csv"),
]
