"""The coverage threshold k: hits, calibration, effects of judge errors, and signatures."""
