"""Database backend: Django's PostgreSQL backend that starts the embedded server when that is the one in use."""
