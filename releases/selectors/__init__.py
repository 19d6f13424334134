"""Queries about releases for pages."""
