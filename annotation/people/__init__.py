"""Adds many people to a benchmark from a list: pasted, or a CSV or XLSX file."""
