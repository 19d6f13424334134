"""Routes of the code book in the API."""

from django.urls import URLPattern, path

from rubrics.codes import api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/code-books/", api.code_books, name="api-code-books"),
    path("benchmarks/<slug:slug>/code-books/<int:version>/", api.code_book, name="api-code-book"),
]
