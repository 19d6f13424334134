"""Editions of a document: which citations a later edition carries over, and which criteria it leaves behind."""
