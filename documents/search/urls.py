"""Routes of the search in passages."""

from django.urls import URLPattern, URLResolver, path

from documents.search import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("b/<slug:slug>/documents/search/", views.search_page, name="search"),
    path("b/<slug:slug>/documents/find/", views.find, name="find"),
]
