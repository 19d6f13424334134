"""Judges against physicians: fidelity, two judges, the alternative annotator test, what stands behind a judge."""
