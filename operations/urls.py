"""Routes of the pages of the server."""

from django.urls import URLPattern, URLResolver, include, path

from operations.views import keys, status

app_name = "operations"
urlpatterns: list[URLPattern | URLResolver] = [
    path("server/", status.status, name="status"),
    path("server/keys/", keys.keys, name="keys"),
    path("server/keys.csv", keys.keys_csv, name="keys-csv"),
    path("server/keys/grant/", keys.key_grant, name="key-grant"),
    path("server/keys/withdraw/", keys.key_withdraw, name="key-withdraw"),
    path("", include("operations.security_log.urls")),
    path("", include("operations.trail.urls")),
]
