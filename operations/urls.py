"""Routes of the pages of the server."""

from django.urls import URLPattern, URLResolver, include, path

from operations.views import accounts, backups, keys, status

app_name = "operations"
urlpatterns: list[URLPattern | URLResolver] = [
    path("server/", status.status, name="status"),
    path("server/state/<slug:table>.csv", status.table_csv, name="status-table"),
    path("server/accounts/", accounts.accounts, name="accounts"),
    path("server/accounts.csv", accounts.accounts_csv, name="accounts-csv"),
    path("server/accounts/<str:username>/", accounts.account, name="account"),
    path("server/accounts/<str:username>/rights/", accounts.rights, name="account-rights"),
    path("server/accounts/<str:username>/deactivate/", accounts.deactivate, name="account-deactivate"),
    path("server/accounts/<str:username>/activate/", accounts.activate, name="account-activate"),
    path("server/keys/", keys.keys, name="keys"),
    path("server/keys.csv", keys.keys_csv, name="keys-csv"),
    path("server/keys/grant/", keys.key_grant, name="key-grant"),
    path("server/keys/withdraw/", keys.key_withdraw, name="key-withdraw"),
    path("server/backups/", backups.backups, name="backups"),
    path("server/backups/backups.csv", backups.backups_csv, name="backups-csv"),
    path("", include("operations.security_log.urls")),
    path("", include("operations.trail.urls")),
]
