"""Routes of home, profile, notifications, links in mails, and the state of the session."""

from django.urls import URLPattern, path

from accounts.views import api_tokens, confirmed, first_run, notices, own, second_step, sessions, welcome

app_name = "accounts"
urlpatterns: list[URLPattern] = [
    path("", own.home, name="home"),
    path("profile/", own.profile, name="profile"),
    path("profile/api-tokens/", api_tokens.api_tokens, name="api-tokens"),
    path("profile/api-tokens/revoke-all/", api_tokens.revoke_all, name="api-tokens-revoke-all"),
    path("profile/api-tokens/<str:public_id>/revoke/", api_tokens.revoke, name="api-token-revoke"),
    path("profile/confirmed/", confirmed.confirmed, name="confirmed"),
    path("profile/second-step/", second_step.second_step, name="second-step"),
    path("profile/sessions/", sessions.sessions, name="sessions"),
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
