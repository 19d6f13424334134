"""Celery's broker over PostgreSQL, for machines without Redis."""
