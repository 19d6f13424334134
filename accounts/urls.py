"""Home, profile, and the state of the session."""

from django.urls import URLPattern, path

from accounts import views

app_name = "accounts"
urlpatterns: list[URLPattern] = [
    path("", views.home, name="home"),
    path("profile/", views.profile, name="profile"),
    path("session", views.session, name="session"),
]
