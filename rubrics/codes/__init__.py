"""Code books: the kinds of failure that physicians mark in responses."""
