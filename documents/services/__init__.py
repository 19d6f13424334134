"""Every write to collections and documents."""

from documents.services.collections import change_collection, create_collection
from documents.services.editing import (
    change_details,
    change_document,
    change_licence,
    describe_document,
    restore,
    retire,
)
from documents.services.importing import import_documents
from documents.services.uploads import upload_documents

__all__ = [
    "change_collection",
    "change_details",
    "change_document",
    "change_licence",
    "create_collection",
    "describe_document",
    "import_documents",
    "restore",
    "retire",
    "upload_documents",
]
