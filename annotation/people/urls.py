"""Route of the page that adds many people."""

from django.urls import URLPattern, path

from annotation.people import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/groups/people/", views.people_list, name="people-list"),
]
