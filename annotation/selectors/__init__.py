"""Queries of the work for pages, the API and reports; nothing here writes."""
