"""Runs in which a model refines responses, guided by criteria or by itself."""
