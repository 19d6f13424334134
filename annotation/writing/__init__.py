"""Responses that physicians write in the browser: giving cases out, writing, and submitting."""
