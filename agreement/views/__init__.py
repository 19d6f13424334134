"""Pages of named slices, thresholds, and two raters side by side."""
