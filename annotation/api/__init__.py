"""API endpoints of groups, batches and physicians' work."""
