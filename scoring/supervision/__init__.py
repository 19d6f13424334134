"""Physicians' decisions as data for a fine-tune."""
