"""Routes of the quality pages: a physician's own figures, and the figures of all for those who run the benchmark."""

from django.urls import URLPattern, path

from annotation.quality import views

urlpatterns: list[URLPattern] = [
    path("work/quality/", views.own, name="own-quality"),
    path("work/quality.csv", views.own_csv, name="own-quality-csv"),
    path("b/<slug:slug>/quality/", views.quality, name="quality"),
    path("b/<slug:slug>/quality.csv", views.quality_csv, name="quality-csv"),
    path("b/<slug:slug>/quality/<int:membership>/", views.person, name="quality-person"),
    path("b/<slug:slug>/quality/<int:membership>/figures.csv", views.person_csv, name="quality-person-csv"),
    path("b/<slug:slug>/quality/<int:membership>/hold/", views.hold, name="quality-hold"),
    path("b/<slug:slug>/quality/<int:membership>/lift/", views.lift, name="quality-lift"),
]
