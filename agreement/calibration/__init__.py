"""The threshold k: hits, its calibration, what a judge's errors do to it, and who signed it."""
