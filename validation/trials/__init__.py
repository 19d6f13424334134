"""Trials: rubric sets on near-miss pairs, both texts of a pair side by side."""
