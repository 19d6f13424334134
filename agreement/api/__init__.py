"""API endpoints of raters, thresholds and named slices."""
