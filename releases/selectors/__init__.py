"""What pages read of releases."""
