"""Codes that physicians give to responses: batches, what was coded, and rulings where it differs."""
