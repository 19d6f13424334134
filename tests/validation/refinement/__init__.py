"""Runs of refinement, their figures and pages."""
