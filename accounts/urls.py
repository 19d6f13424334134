"""Routes of home, profile, notifications, links in mails, and the state of the session."""

from django.urls import URLPattern, path

from accounts.views import api_token, first_run, notices, own, welcome

app_name = "accounts"
urlpatterns: list[URLPattern] = [
    path("", own.home, name="home"),
    path("profile/", own.profile, name="profile"),
    path("profile/api-token/", api_token.api_token, name="api-token"),
    path("profile/notifications/", notices.deliveries, name="deliveries"),
    path("session", own.session, name="session"),
    path("notifications/", notices.notifications, name="notifications"),
    path("notifications/read/", notices.read_all, name="notifications-read"),
    path("notifications/<str:public_id>/", notices.notification, name="notification"),
    path("notifications/<str:public_id>/read/", notices.read, name="notification-read"),
    path("unsubscribe/<str:token>/", notices.unsubscribe, name="unsubscribe"),
    path("first-run/", first_run.make_first_account, name="first-run"),
    path("welcome/<str:token>/", welcome.welcome, name="welcome"),
]
