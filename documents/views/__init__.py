"""Views of collections, documents and passages."""
