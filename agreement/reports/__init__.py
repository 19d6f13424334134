"""A finished report: tables, figures, files, methods, freshness."""
