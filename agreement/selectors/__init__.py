"""What pages and forms read of raters; nothing here writes."""
