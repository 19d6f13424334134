"""Queries of benchmarks for pages, the API and other apps; nothing here writes."""
