"""Routes of the leaderboard."""

from django.urls import URLPattern, path

from agreement.leaderboard import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/acuity/leaderboard/", views.leaderboard, name="leaderboard"),
    path("b/<slug:slug>/acuity/leaderboard.csv", views.leaderboard_csv, name="leaderboard-csv"),
]
