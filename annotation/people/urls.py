"""Routes of the list of everybody, and of the page that adds many people."""

from django.urls import URLPattern, path

from annotation.people import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/groups/people/", views.people_list, name="people-list"),
    path("b/<slug:slug>/people/all/", views.everybody, name="people-all"),
    path("b/<slug:slug>/people/all.csv", views.everybody_csv, name="people-all-csv"),
    path("b/<slug:slug>/people/account/", views.set_active, name="person-account"),
]
