"""Responses that physicians write in the browser: giving the cases out, the writing itself, and handing in."""
