"""Backups: one file with the database and the uploaded files, its check, and its restore."""
