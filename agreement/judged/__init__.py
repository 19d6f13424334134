"""Judges against physicians: fidelity, comparison of two judges, the alternative annotator test, provenance."""
