"""API routes of collections, documents and passages."""

from django.urls import URLPattern, URLResolver, include, path

from documents import api
from documents.editions import api as editions_api

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("documents.search.api_urls")),
    path("benchmarks/<slug:slug>/collections/", api.collections, name="api-collections"),
    path("benchmarks/<slug:slug>/collections/<str:public_id>/", api.collection, name="api-collection"),
    path(
        "benchmarks/<slug:slug>/collections/<str:public_id>/documents/",
        api.collection_documents,
        name="api-collection-documents",
    ),
    path("benchmarks/<slug:slug>/documents/", api.documents, name="api-documents"),
    path("benchmarks/<slug:slug>/documents/<str:public_id>/", api.document, name="api-document"),
    path(
        "benchmarks/<slug:slug>/documents/<str:public_id>/citations/",
        editions_api.citations,
        name="api-edition-citations",
    ),
    path(
        "benchmarks/<slug:slug>/documents/<str:public_id>/passages/",
        api.document_passages,
        name="api-document-passages",
    ),
    path("benchmarks/<slug:slug>/passages/<str:public_id>/", api.passage, name="api-passage"),
]
