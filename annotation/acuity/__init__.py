"""Panels of physicians, their reference levels, and reference sets."""
