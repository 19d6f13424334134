"""Routes of collections, documents and passages."""

from django.urls import URLPattern, URLResolver, include, path

from documents.views import beside, collections, documents

app_name = "documents"
urlpatterns: list[URLPattern | URLResolver] = [
    # Before the document, whose address takes any word in place of its id.
    path("", include("documents.search.urls")),
    path("b/<slug:slug>/documents/beside/", beside.panel, name="beside"),
    path("b/<slug:slug>/documents/beside/<str:public_id>/newer/", beside.newer, name="newer"),
    path("b/<slug:slug>/documents/", documents.documents, name="documents"),
    path("b/<slug:slug>/documents.csv", documents.documents_csv, name="documents-csv"),
    # Before the document, whose address takes any word in place of its id.
    path("b/<slug:slug>/documents/collections/", collections.collections, name="collections"),
    path("b/<slug:slug>/documents/collections/<str:public_id>/", collections.collection, name="collection"),
    path(
        "b/<slug:slug>/documents/collections/<str:public_id>/edit/", collections.collection_edit, name="collection-edit"
    ),
    path(
        "b/<slug:slug>/documents/collections/<str:public_id>/import/",
        collections.collection_import,
        name="collection-import",
    ),
    path(
        "b/<slug:slug>/documents/collections/<str:public_id>/rebuild/",
        collections.collection_rebuild,
        name="collection-rebuild",
    ),
    path("b/<slug:slug>/documents/passages/<str:public_id>/", documents.passage, name="passage"),
    path("", include("documents.editions.urls")),
    path("b/<slug:slug>/documents/<str:public_id>/", documents.document, name="document"),
    path("b/<slug:slug>/documents/<str:public_id>/passages.csv", documents.passages_csv, name="passages-csv"),
    path("b/<slug:slug>/documents/<str:public_id>/file/", documents.document_file, name="document-file"),
    path(
        "b/<slug:slug>/documents/<str:public_id>/pages/<int:number>.png", documents.document_page, name="document-page"
    ),
    path("b/<slug:slug>/documents/<str:public_id>/edit/", documents.document_edit, name="document-edit"),
    path("b/<slug:slug>/documents/<str:public_id>/retire/", documents.document_retire, name="document-retire"),
    path("b/<slug:slug>/documents/<str:public_id>/restore/", documents.document_restore, name="document-restore"),
]
