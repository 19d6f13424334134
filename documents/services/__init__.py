"""Every write to collections and documents."""

from documents.services.collections import change_collection, create_collection
from documents.services.editing import change_details, change_licence, restore, retire
from documents.services.importing import import_documents

__all__ = [
    "change_collection",
    "change_details",
    "change_licence",
    "create_collection",
    "import_documents",
    "restore",
    "retire",
]
